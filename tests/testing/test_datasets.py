"""Every check of data sets finds the data set that breaks its promise."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pubench.api.dataset import DataFile, Dataset, DatasetInfo, DatasetLoader
from pubench.errors import PluginError
from pubench.seeds import Seed
from pubench.testing.datasets import DATASET_CHECKS, DatasetSubject, check_dataset
from pubench.truth import Truth
from pubench.types import Feature, Table


class Clouds(DatasetLoader):
    """A data set that keeps its promises."""

    name = "clouds"
    info = DatasetInfo("Points; positive: those of one cloud", 5000, 2, 500, "simulated", "CC0 1.0")

    def load(self, paths: Sequence[Path], rows: int | None, seed: Seed) -> Dataset:  # noqa: ARG002
        generator = seed.generator()
        positive = np.arange(rows or self.info.rows) % 10 == 0
        values = generator.standard_normal((len(positive), 2)) + positive[:, None]
        return Dataset(Table.from_array(values), truth=Truth(positive))


def changed(**attributes: Any) -> DatasetLoader:
    other: type[Clouds] = type("Other", (Clouds,), {"__doc__": "Another one.", **attributes})
    return other()


def broken(check: str, dataset: DatasetLoader, sentence: str) -> None:
    with pytest.raises(PluginError, match=sentence):
        DATASET_CHECKS[check](DatasetSubject(dataset))


def test_a_data_set_that_keeps_its_promises_passes() -> None:
    check_dataset(Clouds())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"title": " "}, "title"),
        ({"licence": ""}, "licence"),
        ({"features": 0}, "features"),
        ({"positives": 0}, "positives"),
    ],
)
def test_incomplete_info_is_found(change: dict[str, Any], sentence: str) -> None:
    broken("info", changed(info=replace(Clouds.info, **change)), sentence)


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        (DataFile(("a.csv",), "ftp://somewhere/a.csv"), "address"),
        (DataFile(("a.csv",), "https://somewhere/a.csv", "123"), "64 hex digits"),
        (DataFile((), "https://somewhere/a.csv"), "name"),
    ],
)
def test_files_that_can_not_be_had_are_found(file: DataFile, sentence: str) -> None:
    broken("file list", changed(files=(file,)), sentence)


def test_files_that_are_not_here_are_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUBENCH_DATA", str(tmp_path))
    subject = DatasetSubject(changed(files=(DataFile(("a.csv",), "https://somewhere.invalid/a.csv"),)))
    for check in ("loads", "values", "rows", "seed", "environment", "speed"):
        remark = DATASET_CHECKS[check](subject)
        assert remark is not None
        assert remark.declined
        assert "pubench datasets fetch clouds" in remark.text


def test_another_number_of_features_is_found() -> None:
    broken("loads", changed(info=replace(Clouds.info, features=3)), "2, not 3")


def test_values_that_do_not_fit_their_kind_are_found() -> None:
    class Coded(Clouds):
        """Has codes without a category."""

        def load(self, paths: Sequence[Path], rows: int | None, seed: Seed) -> Dataset:
            loaded = super().load(paths, rows, seed)
            features = (Feature("city", "categorical", ("rome", "oslo")), Feature("x1"))
            return Dataset(Table(np.abs(loaded.X.values).round(), features), truth=loaded.truth)

    broken("values", Coded(), "'city' is categorical: it holds 0 to 1")


def test_too_few_rows_or_another_share_of_positives_are_found() -> None:
    class Half(Clouds):
        """Loads half of the requested rows."""

        def load(self, paths: Sequence[Path], rows: int | None, seed: Seed) -> Dataset:
            return super().load(paths, (rows or self.info.rows) // 2, seed)

    broken("rows", Half(), "were requested")
    broken("rows", changed(info=replace(Clouds.info, positives=50)), "should be positive")


def test_data_that_changes_is_found() -> None:
    numbers = count()

    class Drifting(Clouds):
        """Brings something else each time."""

        def load(self, paths: Sequence[Path], rows: int | None, seed: Seed) -> Dataset:  # noqa: ARG002
            return super().load(paths, rows, Seed(next(numbers)))

    broken("seed", Drifting(), "all chance comes from `seed`")

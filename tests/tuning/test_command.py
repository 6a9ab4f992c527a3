"""A whole `pubench tune`; its data set has a truth that raises when it is read."""

import csv
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pubench.api.dataset import Dataset
from pubench.api.plugin import Kind
from pubench.api.registry import Registry, load_registry
from pubench.data.sources import DatasetRequest, DatasetResult
from pubench.system.cache import ignore_notice, machine_cache
from pubench.truth import Truth
from pubench.tuning import command
from pubench.tuning.request import SearchRequest, TuneRequest
from pubench.tuning.result import TuneResult
from pubench.tuning.standings import COLUMNS
from pubench.tuning.trial import TuneCallbacks
from pubench.types import PUData, Resources


class TouchedError(Exception):
    """The truth was read."""


class Untouchable(Truth):
    """Raises when any attribute is read."""

    def __init__(self) -> None:
        """Create it without labels."""

    def __getattribute__(self, name: str) -> object:
        if name.startswith("__"):
            return super().__getattribute__(name)
        raise TouchedError(name)


@pytest.fixture
def sealed(data: PUData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TuneRequest:
    """A request for a data set whose truth raises when it is read."""
    dataset = Dataset(data.X, observed=np.array(data.s))
    object.__setattr__(dataset, "truth", Untouchable())
    with pytest.raises(TouchedError):
        _ = dataset.truth.y  # type: ignore[union-attr]

    def opened(request: DatasetRequest, registry: Registry) -> DatasetResult:  # noqa: ARG001 - the signature of `open_dataset`
        return DatasetResult("sealed", dataset, None, "planted")

    monkeypatch.setattr(command, "open_dataset", opened)
    names = {
        Kind.METHOD: ["probtagging", "elkan-weighted"],
        Kind.LEARNER: ["logistic", "lightgbm"],
        Kind.SIMILARITY: ["knn"],
    }
    search = SearchRequest(trials=4)
    return TuneRequest(DatasetRequest("sealed"), search, out=tmp_path / "run", names=names)


def tune(request: TuneRequest) -> TuneResult:
    resources = Resources(keep=machine_cache(ignore_notice))
    return command.tune(request, load_registry(), resources, TuneCallbacks(), threading.Event())


@pytest.mark.parametrize("baselines", ["none", "naive"])
def test_the_truth_is_not_read_before_the_choice_has_been_written(
    sealed: TuneRequest, tmp_path: Path, baselines: str
) -> None:
    with pytest.raises(TouchedError):
        tune(replace(sealed, baselines=(baselines,)))
    assert (tmp_path / "run" / "model" / "manifest.json").exists()
    assert (tmp_path / "run" / "best.toml").exists()
    assert not (tmp_path / "run" / "record.json").exists()


def test_every_method_stands_on_the_leaderboard_and_the_oracle_where_truth_is_known(
    sealed: TuneRequest, data: PUData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = Dataset(data.X, truth=Truth(data.X.values[:, 0] > 1))
    opened = DatasetResult("known", dataset, None, "planted")
    monkeypatch.setattr(command, "open_dataset", lambda request, registry: opened)  # noqa: ARG005
    result = tune(replace(sealed, baselines=("naive", "elkan")))
    rows = list(csv.DictReader((tmp_path / "run" / "leaderboard.csv").read_text().splitlines()))
    assert tuple(rows[0]) == COLUMNS
    roles = {(row["role"], row["method"]) for row in rows}
    assert {("baseline", "naive"), ("baseline", "elkan"), ("oracle", "oracle")} <= roles
    assert sum(standing.is_model for standing in result.standings) == 1
    assert all(row["status"] == "ok" for row in rows)
    assert [row["rank"] for row in rows if row["role"] == "oracle"] == [""]

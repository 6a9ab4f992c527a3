"""Generated data sets are made once, and a damaged entry is made again."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from pubench.api.dataset import Dataset
from pubench.data.dataset_cache import cached_dataset
from pubench.data.summary import fingerprint
from pubench.truth import Truth
from pubench.types import Feature, Table


class Maker:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> Dataset:
        self.calls += 1
        X = Table(
            np.arange(12, dtype=np.float32).reshape(6, 2),
            (Feature("a"), Feature("c", "categorical", ("x", "y"))),
        )
        y = np.arange(6) < 3
        return Dataset(X, y & (np.arange(6) < 1), Truth(y))


def entry(folder: Path) -> Path:
    (found,) = (folder / "datasets").iterdir()
    return found


def test_the_second_time_the_data_set_is_read(tmp_path: Path) -> None:
    make = Maker()
    first, second = (cached_dataset(tmp_path, "k", make) for _ in range(2))
    assert make.calls == 1
    assert fingerprint(first.dataset) == fingerprint(second.dataset)
    assert second.dataset.X.features == first.dataset.X.features
    assert second.notice == ""


@pytest.mark.parametrize(
    "file", ["values.npy", "observed.npy", "truth.npy", "features.npy", "description.json"]
)
@pytest.mark.parametrize("damage", ["cut", "gone", "changed"])
def test_a_damaged_entry_is_made_again_with_a_notice(file: str, damage: str, tmp_path: Path) -> None:
    make = Maker()
    cached_dataset(tmp_path, "k", make)
    path = entry(tmp_path) / file
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(
            content[:-3] if damage == "cut" else content.replace(content[-4:], b"\x01\x02\x03\x04")
        )
    again = cached_dataset(tmp_path, "k", make)
    assert make.calls == 2
    assert "damaged" in again.notice
    assert cached_dataset(tmp_path, "k", make).notice == ""


def test_no_incomplete_entry_is_left(tmp_path: Path) -> None:
    cached_dataset(tmp_path, "k", Maker())
    assert [path.name for path in (tmp_path / "datasets").iterdir()] == ["k"]


def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "datasets").write_text("a file where the folder should be")
    kept = cached_dataset(tmp_path, "k", Maker())
    assert kept.dataset.X.n_rows == 6
    assert "could not be cached" in kept.notice


def test_an_entry_that_another_process_wrote_meanwhile_stays(tmp_path: Path) -> None:
    make = Maker()
    cached_dataset(tmp_path, "other", make)

    def slow() -> Dataset:
        shutil.copytree(tmp_path / "datasets" / "other", tmp_path / "datasets" / "k")
        return make()

    assert cached_dataset(tmp_path, "k", slow).notice == ""


def test_a_data_set_beyond_the_limit_is_not_cached(tmp_path: Path) -> None:
    make = Maker()
    notices = [cached_dataset(tmp_path, "k", make, limit_bytes=10).notice for _ in range(2)]
    assert make.calls == 2
    assert all("not cached" in notice for notice in notices)

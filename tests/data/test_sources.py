"""Which data set `--dataset` opens: aliases, then registered names, then files; generated data is made once."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pubench.api.dataset import Dataset
from pubench.api.registry import Registry, load_registry
from pubench.data.aliases import add_alias
from pubench.data.catalogue import catalogue, fingerprint, summarise
from pubench.data.sources import DatasetRequest, DatasetResult, aliases_folder, cached_dataset, open_dataset
from pubench.data.user_file import FileSpec
from pubench.errors import DuplicateNameError, InputError
from pubench.truth import Truth
from pubench.types import Feature, Table

PLUGIN = '''
import numpy as np
from pubench import *
pubench_api = 1

class Toy(DatasetLoader):
    """Toy."""
    name = "toy"
    info = DatasetInfo("rows and rows", 1000, 2, 100, "here", "none", stand_in=True)
    def load(self, paths, rows, seed):
        y = np.arange(rows and 2 * rows or 1000) % 10 == 0
        X = Table.from_array(seed.generator().standard_normal((len(y), 2)))
        return Dataset(X, truth=Truth(y))

@hookimpl
def pubench_register_datasets(register):
    register(Toy)
'''


@pytest.fixture
def toys(tmp_path: Path) -> Registry:
    path = tmp_path / "toy_plugin.py"
    path.write_text(PLUGIN)
    return load_registry([path])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "mine.csv"
    frame = pd.DataFrame(
        {"no": np.arange(200) * 7 % 1000, "bought": np.arange(200) < 20, "a": np.arange(200) / 3}
    )
    frame.to_csv(path, index=False)
    return path


def open_(registry: Registry, name: str | Path, **options: object) -> DatasetResult:
    return open_dataset(DatasetRequest(str(name), **options), registry)  # type: ignore[arg-type]


def test_a_registered_name(toys: Registry) -> None:
    opened = open_(toys, "toy")
    assert opened.info is not None
    assert opened.info.stand_in
    assert opened.location == "generated"
    assert opened.dataset.X.n_rows == 1000


def test_a_file(toys: Registry, table: Path) -> None:
    opened = open_(toys, table, label="bought", id="no")
    assert (opened.name, opened.location, opened.info) == ("mine.csv", str(table), None)
    assert opened.ids is not None
    assert opened.ids[1] == 7
    assert [feature.name for feature in opened.dataset.X.features] == ["a"]


def test_an_alias_comes_before_a_registered_name(toys: Registry, table: Path) -> None:
    add_alias(aliases_folder(), "toy", FileSpec(table, "bought"))
    opened = open_(toys, "toy")
    assert opened.location == str(table)
    assert opened.info is None
    assert open_(toys, "toy", drop=("no",)).dataset.X.n_features == 1
    (listed,) = [entry for entry in catalogue(toys) if entry.name == "toy"]
    assert listed.package == "yours"


def test_fewer_rows_keep_the_rates(toys: Registry, table: Path) -> None:
    for opened in (open_(toys, "toy", rows=200), open_(toys, table, label="bought", id="no", rows=100)):
        summary = summarise(opened.dataset)
        positives = summary.positives or summary.labelled
        assert positives == pytest.approx(summary.rows / 10, abs=1)
        assert opened.ids is None or len(opened.ids) == summary.rows
    assert open_(toys, table, label="bought", rows=10_000).dataset.X.n_rows == 200


def test_equal_requests_give_equal_data(toys: Registry) -> None:
    def print_of(**options: object) -> str:
        return fingerprint(open_(toys, "toy", **options).dataset)

    assert print_of(rows=100) == print_of(rows=100)
    assert len({print_of(), print_of(rows=100), print_of(seed=1)}) == 3


def test_an_unknown_name_suggests_one(toys: Registry) -> None:
    with pytest.raises(InputError, match=r"no file 'toyy'.* Did you mean 'toy'"):
        open_(toys, "toyy")


def test_a_registered_set_knows_its_columns(toys: Registry) -> None:
    with pytest.raises(InputError, match="--label is for files"):
        open_(toys, "toy", label="bought")


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(InputError, match="--rows"):
        DatasetRequest("toy", rows=1)


def test_a_name_of_two_packages_is_refused(tmp_path: Path) -> None:
    files = [tmp_path / "one.py", tmp_path / "two.py"]
    for file in files:
        file.write_text(PLUGIN)
    with pytest.raises(DuplicateNameError):
        open_(load_registry(files), "toy")


def test_a_summary_counts(toys: Registry) -> None:
    summary = summarise(open_(toys, "toy").dataset)
    assert (summary.rows, summary.features, summary.labelled, summary.positives) == (1000, 2, None, 100)
    assert summary.kinds == {"numeric": 2}
    assert summary.missing == 0
    assert summary.columns[0].distinct == 1000


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

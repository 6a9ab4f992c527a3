"""Which data set `--dataset` opens: aliases first, then registered names, then files."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pubench.api.registry import Registry, load_registry
from pubench.data.aliases import add_alias
from pubench.data.catalogue import catalogue
from pubench.data.sources import DatasetRequest, DatasetResult, aliases_folder, open_dataset
from pubench.data.summary import fingerprint, summarise
from pubench.data.user_file import FileSpec
from pubench.errors import DuplicateNameError, InputError

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

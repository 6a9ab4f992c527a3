"""Records are added to a folder: all of them, or none."""

import json
import resource
from dataclasses import replace
from pathlib import Path

import pytest

from pubench.errors import DataError
from pubench.leaderboard.submission import add_records
from pubench.record.record_file import read_records, to_document, write_record
from pubench.types import Status
from tests.leaderboard.simulation import Simulate


@pytest.fixture
def files(simulate: Simulate, tmp_path: Path) -> list[Path]:
    return [write_record(tmp_path / "new", one) for one in simulate({"a": 1.0, "b": 0.5}, ["alpha"], folds=2)]


def other(path: Path, folder: Path, **changes: object) -> Path:
    """Return a file with the record of another seed, with changes."""
    (record,) = [one for one in read_records(path.parent)[0] if one.spec.key == path.stem]
    return write_record(folder, replace(record, **{"spec": replace(record.spec, seed=9), **changes}))  # type: ignore[arg-type]


def test_records_are_added_under_their_keys(files: list[Path], tmp_path: Path) -> None:
    added = add_records(files[:2], tmp_path / "to")
    assert sorted(path.name for path in added) == sorted(path.name for path in files[:2])
    add_records(files[2:], tmp_path / "to")
    assert len(read_records(tmp_path / "to")[0]) == 4


def test_an_existing_run_is_refused_and_nothing_is_added(files: list[Path], tmp_path: Path) -> None:
    add_records(files[:1], tmp_path / "to")
    with pytest.raises(DataError, match="repeats the run"):
        add_records([*files[1:], files[0]], tmp_path / "to")
    with pytest.raises(DataError, match="repeats the run"):
        add_records([files[1], files[1]], tmp_path / "to")
    assert len(read_records(tmp_path / "to")[0]) == 1


def test_a_disk_that_gets_full_in_between_leaves_no_record(files: list[Path], tmp_path: Path) -> None:
    """A limit of the size of files stands for the disk: all records but the last are smaller."""
    (record, *_) = read_records(files[0].parent)[0]
    large = other(files[0], tmp_path / "large", reason="", chosen={"k": ["x" * 1000] * 20})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (large.stat().st_size - 1, hard))
    try:
        with pytest.raises(DataError, match="cannot be written: File too large"):
            add_records([*files, large], tmp_path / "to")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list((tmp_path / "to").iterdir()) == []
    assert record in read_records(files[0].parent)[0]


def test_other_rows_of_a_known_data_set_are_refused(files: list[Path], tmp_path: Path) -> None:
    add_records(files, tmp_path / "to")
    (record, *_) = read_records(tmp_path / "to")[0]
    assert record.data is not None
    strange = other(files[0], tmp_path / "strange", data=replace(record.data, hash="f" * 32))
    with pytest.raises(DataError, match="ran on other rows of 'alpha'"):
        add_records([strange], tmp_path / "to")
    fewer = replace(record.spec, view={"theta_o": 0.5, "rows": 100}, seed=9)
    drawn = other(files[0], tmp_path / "drawn", spec=fewer, data=replace(record.data, hash="f" * 32))
    assert add_records([drawn], tmp_path / "to")  # another number of rows has another hash


def test_missing_data_facts_are_refused_unless_the_run_failed(files: list[Path], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not state the data"):
        add_records([other(files[0], tmp_path / "none", data=None)], tmp_path / "to")
    failed = other(
        files[0],
        tmp_path / "failed",
        data=None,
        status=Status.FAILED,
        reason="It broke.",
        metrics={},
        placements=(),
    )
    assert add_records([failed], tmp_path / "to")


@pytest.mark.parametrize(
    ("changes", "says"),
    [({"schema": 99}, "update pubench"), ({"key": "0" * 32}, "does not belong"), ({"x": 1}, "'x'")],
)
def test_records_that_break_the_schema_are_refused(
    simulate: Simulate, changes: dict[str, object], says: str, tmp_path: Path
) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps({**to_document(simulate({"a": 1.0}, ["alpha"])[0]), **changes}))
    with pytest.raises(DataError, match=says):
        add_records([path], tmp_path / "to")
    assert not (tmp_path / "to").exists()

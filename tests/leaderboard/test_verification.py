"""Runs done again: what agrees, what differs, and what no longer counts."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pubench.errors import DataError, ParameterError
from pubench.leaderboard.verification import (
    choose,
    read_verifications,
    verification_schema,
    verify_record,
    write_verification,
)
from pubench.leaderboard.verifying import Wish, verify_folder
from pubench.records.files import write_record
from pubench.records.record import Record, RunSpec
from pubench.types import Status

Simulate = Callable[..., list[Record]]
WISH = Wish((), 3, 0, 0.005)


@pytest.fixture
def record(simulate: Simulate) -> Record:
    return simulate({"a": 1.0}, ["alpha"])[0]


def moved(record: Record, by: float) -> Record:
    return replace(record, metrics={**record.metrics, "auc": record.metrics["auc"] + by})


def test_what_is_within_the_tolerance_agrees(record: Record) -> None:
    assert verify_record(record, lambda _: moved(record, -0.004)).agrees
    found = verify_record(record, lambda _: moved(record, -0.006))
    assert [one.what for one in found.differences] == ["auc"]
    assert verify_record(record, lambda _: moved(record, -0.006), tolerance=0.01).agrees
    with pytest.raises(ParameterError, match="between 0 and 1"):
        verify_record(record, lambda _: record, tolerance=2)


def test_status_data_and_missing_metrics_differ(record: Record) -> None:
    failed = Record(record.spec, Status.TIMEOUT, "It took longer than 1 s.", record.data)
    assert [one.what for one in verify_record(record, lambda _: failed).differences] == ["status"]
    assert verify_record(failed, lambda _: failed).agrees
    assert record.data is not None
    rows = replace(record, data=replace(record.data, hash="f" * 32))
    assert [one.what for one in verify_record(record, lambda _: rows).differences] == ["data"]
    bare = replace(record, metrics={"aul_pu": record.metrics["aul_pu"]})
    assert [one.what for one in verify_record(record, lambda _: bare).differences] == ["auc"]


def test_what_is_written_comes_back_and_keeps_to_the_schema(record: Record, tmp_path: Path) -> None:
    Draft202012Validator.check_schema(verification_schema())
    written = verify_record(record, lambda _: moved(record, 0.1 if record.metrics["auc"] < 0.9 else -0.1))
    path = write_verification(tmp_path, written)
    Draft202012Validator(verification_schema()).validate(json.loads(path.read_text()))
    found, problems = read_verifications(tmp_path, [record])
    assert problems == []
    assert found == {record.spec.key: written}
    assert not found[record.spec.key].agrees


def test_a_record_that_was_changed_later_is_not_verified(record: Record, tmp_path: Path) -> None:
    write_verification(tmp_path, verify_record(record, lambda spec: record))  # noqa: ARG005
    better = moved(record, 0.001)
    assert better.spec.key == record.spec.key
    found, problems = read_verifications(tmp_path, [better])
    assert found == {}
    assert "another record" in problems[0]


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2},
        {"agrees": False},
        {"differences": [{"what": "x", "recorded": "1", "found": "2"}]},
        {"differences": "x"},
        {"key": "0" * 32},
        {"more": 1},
    ],
)
def test_a_verification_that_was_tampered_with_does_not_count(
    record: Record, change: dict[str, Any], tmp_path: Path
) -> None:
    path = write_verification(tmp_path, verify_record(record, lambda _: record))
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    found, problems = read_verifications(tmp_path, [record])
    assert found == {}
    assert len(problems) == 1


def test_a_sample_is_drawn_from_what_is_not_verified_and_is_the_same_each_time(simulate: Simulate) -> None:
    records = simulate({"a": 1.0, "b": 1.0}, ["alpha", "beta"])
    done = [one.spec.key for one in records[:6]]
    first = choose(records, done, 3, seed=1)
    assert first == choose(records[::-1], done, 3, seed=1)
    assert first != choose(records, done, 3, seed=2)
    assert not {one.spec.key for one in first} & set(done)
    assert len(choose(records, done, 99, seed=1)) == 6


def test_a_folder_is_verified_piece_by_piece(simulate: Simulate, tmp_path: Path) -> None:
    records = {one.spec.key: one for one in simulate({"a": 1.0, "b": 1.0}, ["alpha"], folds=2)}
    folder = tmp_path / "records"
    for one in records.values():
        write_record(folder, one)
    told: list[str] = []
    outcome = verify_folder(folder, WISH, lambda spec: records[spec.key], lambda one: told.append(one.key))
    assert (len(outcome.verifications), outcome.left) == (3, 1)
    assert sorted(told) == sorted(path.stem for path in (tmp_path / "verified").iterdir())
    outcome = verify_folder(folder, WISH, lambda spec: moved(records[spec.key], -0.2), lambda _: None)
    assert [one.agrees for one in outcome.verifications] == [False]
    assert outcome.left == 0
    again = verify_folder(
        folder, replace(WISH, keys=(told[0],)), lambda spec: records[spec.key], lambda _: None
    )
    assert [one.key for one in again.verifications] == [told[0]]
    with pytest.raises(ParameterError, match="no record 'x'"):
        verify_folder(folder, replace(WISH, keys=("x",)), lambda spec: records[spec.key], lambda _: None)


def test_what_can_not_be_run_here_is_no_disagreement(simulate: Simulate, tmp_path: Path) -> None:
    records = {one.spec.key: one for one in simulate({"a": 1.0}, ["alpha"], folds=2)}
    for one in records.values():
        write_record(tmp_path / "records", one)
    absent = min(records)

    def rerun(spec: RunSpec) -> Record:
        if spec.key == absent:
            raise DataError("The data set is not here.")
        return records[spec.key]

    outcome = verify_folder(tmp_path / "records", WISH, rerun, lambda _: None)
    assert outcome.impossible == ("The data set is not here.",)
    assert outcome.left == 1
    with pytest.raises(DataError, match="not here"):
        verify_folder(tmp_path / "records", WISH, rerun, lambda _: None)
    with pytest.raises(DataError, match="no folder of records"):
        verify_folder(tmp_path / "nothing", WISH, rerun, lambda _: None)

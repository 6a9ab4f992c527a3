"""Verifications: which results agree, which differ, and which files count."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pubench.leaderboard.verification import TOLERANCE
from pubench.leaderboard.verification_files import (
    compare_records,
    read_verifications,
    verification_schema,
    write_verification,
)
from pubench.record.record import Record
from pubench.types import Status
from tests.leaderboard.simulation import Simulate


@pytest.fixture
def record(simulate: Simulate) -> Record:
    return simulate({"a": 1.0}, ["alpha"])[0]


def moved(record: Record, by: float) -> Record:
    return replace(record, metrics={**record.metrics, "auc": record.metrics["auc"] + by})


def test_metrics_within_the_tolerance_agree(record: Record) -> None:
    assert compare_records(record, moved(record, -0.004), TOLERANCE).agrees
    different = compare_records(record, moved(record, -0.006), TOLERANCE)
    assert [difference.what for difference in different.differences] == ["auc"]
    assert compare_records(record, moved(record, -0.006), 0.01).agrees


def test_status_data_and_missing_metrics_differ(record: Record) -> None:
    failed = Record(record.spec, Status.TIMEOUT, "It took longer than 1 s.", record.data)
    assert [one.what for one in compare_records(record, failed, TOLERANCE).differences] == ["status"]
    assert compare_records(failed, failed, TOLERANCE).agrees
    assert record.data is not None
    rows = replace(record, data=replace(record.data, hash="f" * 32))
    assert [one.what for one in compare_records(record, rows, TOLERANCE).differences] == ["data"]
    bare = replace(record, metrics={"aul_pu": record.metrics["aul_pu"]})
    assert [one.what for one in compare_records(record, bare, TOLERANCE).differences] == ["auc"]


def test_a_verification_is_read_back_and_matches_the_schema(record: Record, tmp_path: Path) -> None:
    Draft202012Validator.check_schema(verification_schema())
    written = compare_records(record, moved(record, 0.1 if record.metrics["auc"] < 0.9 else -0.1), TOLERANCE)
    path = write_verification(tmp_path, written)
    Draft202012Validator(verification_schema()).validate(json.loads(path.read_text()))
    found, problems = read_verifications(tmp_path, [record])
    assert problems == []
    assert found == {record.spec.key: written}
    assert not found[record.spec.key].agrees


def test_a_record_that_was_changed_later_is_not_verified(record: Record, tmp_path: Path) -> None:
    write_verification(tmp_path, compare_records(record, record, TOLERANCE))
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
    path = write_verification(tmp_path, compare_records(record, record, TOLERANCE))
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    found, problems = read_verifications(tmp_path, [record])
    assert found == {}
    assert len(problems) == 1

"""Records of a folder are run again and compared."""

from dataclasses import replace
from pathlib import Path

import pytest

from pubench.errors import DataError, ParameterError
from pubench.leaderboard.verification import VerifyRequest, draw_sample, verify_folder
from pubench.record.record import Record, RunSpec
from pubench.record.record_file import write_record
from tests.leaderboard.simulation import Simulate

REQUEST = VerifyRequest(sample=3, seed=0, tolerance=0.005)


def moved(record: Record, by: float) -> Record:
    return replace(record, metrics={**record.metrics, "auc": record.metrics["auc"] + by})


def test_a_sample_is_drawn_from_unverified_records_and_reproducible(simulate: Simulate) -> None:
    records = simulate({"a": 1.0, "b": 1.0}, ["alpha", "beta"])
    done = [one.spec.key for one in records[:6]]
    first = draw_sample(records, done, VerifyRequest(sample=3, seed=1))
    assert first == draw_sample(records[::-1], done, VerifyRequest(sample=3, seed=1))
    assert first != draw_sample(records, done, VerifyRequest(sample=3, seed=2))
    assert not {one.spec.key for one in first} & set(done)
    assert len(draw_sample(records, done, VerifyRequest(sample=99, seed=1))) == 6


def test_a_folder_is_verified_in_several_runs(simulate: Simulate, tmp_path: Path) -> None:
    records = {one.spec.key: one for one in simulate({"a": 1.0, "b": 1.0}, ["alpha"], folds=2)}
    folder = tmp_path / "records"
    for one in records.values():
        write_record(folder, one)
    keys: list[str] = []
    result = verify_folder(folder, REQUEST, lambda spec: records[spec.key], lambda one: keys.append(one.key))
    assert (len(result.verifications), result.left) == (3, 1)
    assert sorted(keys) == sorted(path.stem for path in (tmp_path / "verified").iterdir())
    result = verify_folder(folder, REQUEST, lambda spec: moved(records[spec.key], -0.2), lambda _: None)
    assert [one.agrees for one in result.verifications] == [False]
    assert result.left == 0
    again = verify_folder(
        folder, replace(REQUEST, keys=(keys[0],)), lambda spec: records[spec.key], lambda _: None
    )
    assert [one.key for one in again.verifications] == [keys[0]]
    with pytest.raises(ParameterError, match="no record 'x'"):
        verify_folder(folder, replace(REQUEST, keys=("x",)), lambda spec: records[spec.key], lambda _: None)


def test_a_run_that_is_impossible_here_is_no_disagreement(simulate: Simulate, tmp_path: Path) -> None:
    records = {one.spec.key: one for one in simulate({"a": 1.0}, ["alpha"], folds=2)}
    for one in records.values():
        write_record(tmp_path / "records", one)
    absent = min(records)

    def rerun(spec: RunSpec) -> Record:
        if spec.key == absent:
            raise DataError("The data set is not here.")
        return records[spec.key]

    result = verify_folder(tmp_path / "records", REQUEST, rerun, lambda _: None)
    assert result.impossible == ("The data set is not here.",)
    assert result.left == 1
    with pytest.raises(DataError, match="not here"):
        verify_folder(tmp_path / "records", REQUEST, rerun, lambda _: None)
    with pytest.raises(DataError, match="no folder of records"):
        verify_folder(tmp_path / "nothing", REQUEST, rerun, lambda _: None)


def test_a_request_out_of_range_is_refused() -> None:
    with pytest.raises(ParameterError, match="between 0 and 1"):
        VerifyRequest(tolerance=2)
    with pytest.raises(ParameterError, match="at least one record"):
        VerifyRequest(sample=0)

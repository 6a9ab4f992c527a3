"""How long jobs will take, roughly and from records."""

from dataclasses import replace
from pathlib import Path

import pytest

from pubench.api.registry import Registry
from pubench.bench.time_estimates import Estimator, longest_first, total_seconds
from pubench.record.record import DataFacts, Record
from pubench.record.record_file import read_record, write_record
from pubench.types import Status
from tests.bench.suites import planned


def test_estimates_grow_with_the_data_and_follow_records(tmp_path: Path, registry: Registry) -> None:
    (job, *_) = planned(tmp_path, "methods = ['good']", registry).jobs
    assert (job.rows, job.features) == (300, 3)
    rough = Estimator([]).estimate(job)
    assert not rough.from_records
    facts = DataFacts("0" * 32, 600, 3, 400, 10, 200, 5)
    record = Record(job.spec, Status.OK, data=facts, metrics={"aul_pu": 0.5}, seconds={"total": 40.0})
    known = Estimator([record]).estimate(job)
    assert known.from_records
    assert known.seconds == pytest.approx(20.0)  # half the rows
    far = DataFacts("0" * 32, 600_000, 3, 400, 10, 200, 5)
    unlike = Record(job.spec, Status.OK, data=far, metrics={"aul_pu": 0.5}, seconds={"total": 40.0})
    assert not Estimator([unlike]).estimate(job).from_records
    assert total_seconds([known, known], 2) == pytest.approx(20.0)


def test_estimates_follow_records_that_were_read_from_files(tmp_path: Path, registry: Registry) -> None:
    (job, *_) = planned(tmp_path, "methods = ['probtagging']", registry).jobs
    facts = DataFacts("0" * 32, 300, 3, 200, 10, 100, 5)
    record = Record(job.spec, Status.OK, data=facts, metrics={"aul_pu": 0.5}, seconds={"total": 40.0})
    read = read_record(write_record(tmp_path, record))
    assert Estimator([read]).estimate(job).seconds == pytest.approx(40.0)


def test_the_longest_jobs_come_first_and_equal_ones_as_they_stand(tmp_path: Path, registry: Registry) -> None:
    first, second, third = planned(tmp_path, "methods = ['good', 'naive']\nfolds = 3", registry).jobs[:3]
    slow = replace(second, rows=1_000_000)
    assert longest_first([first, slow, third], Estimator([])) == [slow, first, third]

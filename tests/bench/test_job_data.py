"""The rows of a job are the same, whether it opened them itself or found them opened."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pubench.api.registry import Registry
from pubench.bench.job_data import JobData, JobDataCache, open_job_data
from pubench.bench.plan import make_plan
from pubench.bench.suite_file import read_suite
from pubench.record.record import RunSpec

WriteSuite = Callable[..., Path]


@pytest.fixture
def specs(write_suite: WriteSuite, registry: Registry) -> list[RunSpec]:
    suite = read_suite(write_suite("good", more="seeds = [0, 1]"))
    return [job.spec for job in make_plan(suite, registry).jobs]


def assert_same(cached: JobData | None, job_data: JobData) -> None:
    assert cached is not None
    assert cached.facts == job_data.facts
    for name in ("train", "test"):
        held, opened = (getattr(data.fold, name) for data in (cached, job_data))
        np.testing.assert_array_equal(held.X.values, opened.X.values)
        np.testing.assert_array_equal(held.s, opened.s)
        truths = (getattr(data.fold, f"{name}_truth") for data in (cached, job_data))
        np.testing.assert_array_equal(*(truth.y for truth in truths))


def test_held_rows_are_those_that_a_job_opens(registry: Registry, specs: list[RunSpec]) -> None:
    held = JobDataCache(registry)
    assert held.find(specs[0]) is None  # no job has kept them yet
    opened = [open_job_data(spec, registry) for spec in specs]
    assert len({data.facts.hash for data in opened}) == 1
    for spec, data in [*zip(specs, opened, strict=True), *zip(specs, opened, strict=True)]:
        assert_same(held.find(spec), data)


def test_a_large_data_set_is_not_held(registry: Registry, specs: list[RunSpec]) -> None:
    open_job_data(specs[0], registry)
    assert JobDataCache(registry, max_bytes=1000).find(specs[0]) is None


def test_a_file_that_changed_is_read_anew(
    registry: Registry, write_suite: WriteSuite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUBENCH_DATA", str(tmp_path))
    rows = np.arange(40.0).reshape(20, 2)
    np.savetxt(tmp_path / "written.txt", rows)
    suite = read_suite(write_suite("good", datasets='["written"]'))
    spec = make_plan(suite, registry).jobs[0].spec
    held, first = JobDataCache(registry), open_job_data(spec, registry)
    assert_same(held.find(spec), first)
    np.savetxt(tmp_path / "written.txt", 1000 + rows)
    assert held.find(spec) is None
    second = open_job_data(spec, registry)
    assert second.facts.hash != first.facts.hash
    assert_same(held.find(spec), second)

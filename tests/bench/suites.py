"""Suites, jobs and records for tests of tables and figures, without running anything."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pubench.api.registry import Registry
from pubench.bench.paper_tables import PaperTable, fill_tables
from pubench.bench.plan import BenchJob, BenchPlan, make_plan
from pubench.bench.suite import Suite, SuiteBlock
from pubench.bench.suite_file import read_suite
from pubench.record.record import DataFacts, Record, RunSpec
from pubench.types import Status

FACTS = DataFacts("0" * 32, 100, 5, 66, 4, 34, 2, stand_in=True)


def suite(**changes: Any) -> Suite:
    jobs = (SuiteBlock(("d",), ("m",)),)
    return Suite(**{"name": "s", "title": "A suite", "jobs": jobs, "metrics": ("auc", "aul_pu"), **changes})


def job(fold: int = 0, method: str = "m", theta_o: float = 0.5, **params: Any) -> BenchJob:
    configuration: dict[str, Any] = {"method": {"name": method, **params}, "learner": {"name": "l"}}
    return BenchJob(RunSpec("d", {"theta_o": theta_o, "rows": None}, method, configuration, fold, 3, 0))


def done(job_: BenchJob, auc: float = 0.9, fit: float = 1.0) -> Record:
    metrics = {"aul_pu": 0.8, "aul_pu_stderr": 0.1, "auc": auc}
    return Record(job_.spec, Status.OK, data=FACTS, metrics=metrics, seconds={"fit": fit})


def filled(records: Iterable[Record], jobs: list[BenchJob], **changes: Any) -> list[PaperTable]:
    return fill_tables(suite(**changes), jobs, {record.spec.key: record for record in records})


def planned(folder: Path, text: str, registry: Registry, *only: str) -> BenchPlan:
    """Return the plan of a suite with one block on the small data set."""
    path = folder / "mine.toml"
    path.write_text(f"[[jobs]]\ndatasets = ['tiny']\n{text}")
    return make_plan(read_suite(path), registry, only)

"""Means over folds beside the paper's figures, and what is drawn from them."""

import csv
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubench.experiment.figures import draw_figures
from pubench.experiment.planning import Job
from pubench.experiment.results import write_results
from pubench.experiment.suite import Figure, Jobs, Suite
from pubench.experiment.tables import ResultTable, fill_tables, to_markdown
from pubench.records.record import DataFacts, Record, RunSpec
from pubench.registry import Registry
from pubench.types import Status

FACTS = DataFacts("0" * 32, 100, 5, 66, 4, 34, 2, stand_in=True)


def suite(**changes: Any) -> Suite:
    jobs = (Jobs(("d",), ("m",)),)
    return Suite(**{"name": "s", "title": "A suite", "jobs": jobs, "metrics": ("auc", "aul_pu"), **changes})


def job(fold: int = 0, method: str = "m", theta_o: float = 0.5, **params: Any) -> Job:
    configuration: dict[str, Any] = {"method": {"name": method, **params}, "learner": {"name": "l"}}
    return Job(RunSpec("d", {"theta_o": theta_o, "rows": None}, method, configuration, fold, 3, 0))


def done(one: Job, auc: float = 0.9, fit: float = 1.0) -> Record:
    metrics = {"aul_pu": 0.8, "aul_pu_stderr": 0.1, "auc": auc}
    return Record(one.spec, Status.OK, data=FACTS, metrics=metrics, seconds={"fit": fit})


def filled(records: Iterable[Record], jobs: list[Job], **changes: Any) -> list[ResultTable]:
    return fill_tables(suite(**changes), jobs, {record.spec.key: record for record in records})


@given(st.lists(st.floats(0, 1), min_size=2, max_size=3))
def test_a_cell_is_the_mean_and_its_standard_error(aucs: list[float]) -> None:
    jobs = [job(fold) for fold in range(len(aucs))]
    (table,) = filled([done(one, auc) for one, auc in zip(jobs, aucs, strict=True)], jobs)
    mean = table.lines[0].means["auc"]
    assert mean.value == pytest.approx(fmean(aucs))
    assert mean.stderr == pytest.approx(stdev(aucs) / len(aucs) ** 0.5)


def test_the_paper_stands_beside_ours_where_it_has_a_figure() -> None:
    jobs = [job(method="m"), job(method="other")]
    (table,) = filled([done(one) for one in jobs], jobs, paper={"d": {"m": {"auc": 0.95}}})
    assert table.heads == ["method", "AUC", "paper", "AUL_PU", "fit, s", "failed"]
    assert table.cells(table.lines[0]) == ["m", "0.9000", "0.9500", "0.8000", "1.0", ""]
    assert table.cells(table.lines[1]) == ["other", "0.9000", "", "0.8000", "1.0", ""]
    assert table.title == "d, 100 x 5, synthetic stand-in, theta_O 0.5, 3 folds, l"


def test_failures_are_shown_with_their_status_and_do_not_count() -> None:
    jobs = [job(0), job(1), job(2)]
    records = [done(jobs[0]), Record(jobs[1].spec, Status.TIMEOUT, "It took longer than 1 s.")]
    (table,) = filled(records, jobs)
    line = table.lines[0]
    assert (line.done, line.planned) == (1, 3)
    assert line.state == "2 of 3 timeout: It took longer than 1 s."
    assert str(line.means["auc"]) == "0.9000"  # one run has no standard error
    assert "timeout" in to_markdown(suite(), [table])


def test_lines_of_one_method_are_told_apart_by_what_differs() -> None:
    jobs = [job(members=5, depth=2), job(members=9, depth=2), job(method="other")]
    (table,) = filled([done(one) for one in jobs], jobs)
    assert [line.label for line in table.lines] == ["m (method.members=5)", "m (method.members=9)", "other"]


def test_results_hold_a_row_per_record_in_both_formats(tmp_path: Path) -> None:
    records = [done(job(0)), Record(job(1).spec, Status.FAILED, "It broke, badly.")]
    paths = write_results(records, tmp_path)
    for table in (pyarrow.csv.read_csv(paths[0]), pyarrow.parquet.read_table(paths[1])):
        rows = table.to_pylist()
        assert [row["key"] for row in rows] == [record.spec.key for record in records]
        assert (rows[0]["auc"], rows[0]["train_rows"], rows[0]["learner"]) == (0.9, 66, "l")
        assert (rows[1]["status"], rows[1]["reason"], rows[1]["auc"]) == ("failed", "It broke, badly.", None)


def test_a_sweep_is_drawn_with_the_figures_behind_it(tmp_path: Path) -> None:
    jobs = [job(fold, method, theta) for fold in (0, 1) for method in "ab" for theta in (0.5, 0.1)]
    tables = filled([done(one, 0.5 + one.spec.fold / 10) for one in jobs], jobs)
    drawn = suite(figures=(Figure("figure-1", "sweep", "d"), Figure("none", "sweep", "elsewhere")))
    files = draw_figures(drawn, jobs, tables, Registry(()), tmp_path)
    assert [path.name for path in files] == ["figure-1.svg", "figure-1.png", "figure-1.csv"]
    assert files[0].read_text().lstrip().startswith("<?xml")
    assert files[1].read_bytes().startswith(b"\x89PNG")
    with files[2].open() as file:
        rows = list(csv.DictReader(file))
    assert {(row["method"], row["one_minus_theta_o"]) for row in rows} == {
        (method, share) for method in "ab" for share in ("0.5", "0.9")
    }
    assert [float(row["mean"]) for row in rows] == pytest.approx([0.55] * 4)

"""Means over folds beside the values in the paper."""

from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubench.bench.paper_tables import to_markdown
from pubench.record.record import Record
from pubench.types import Status
from tests.bench.suites import done, filled, job, suite


@given(st.lists(st.floats(0, 1), min_size=2, max_size=3))
def test_a_cell_is_the_mean_and_its_standard_error(aucs: list[float]) -> None:
    jobs = [job(fold) for fold in range(len(aucs))]
    (table,) = filled([done(one, auc) for one, auc in zip(jobs, aucs, strict=True)], jobs)
    mean = table.lines[0].means["auc"]
    assert mean.value == pytest.approx(fmean(aucs))
    assert mean.stderr == pytest.approx(stdev(aucs) / len(aucs) ** 0.5)


def test_values_of_the_paper_have_a_column_where_there_are_any() -> None:
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


def test_lines_of_one_method_are_distinguished_by_what_differs() -> None:
    jobs = [job(members=5, depth=2), job(members=9, depth=2), job(method="other")]
    (table,) = filled([done(one) for one in jobs], jobs)
    assert [line.label for line in table.lines] == ["m (method.members=5)", "m (method.members=9)", "other"]

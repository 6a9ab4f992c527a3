"""What is drawn from the tables."""

import csv
from pathlib import Path

import pytest

from pubench.api.registry import Registry
from pubench.bench.figures import draw_figures
from pubench.bench.suite import SuiteFigure
from tests.bench.suites import done, filled, job, suite


def test_a_sweep_is_drawn_and_its_numbers_are_written(tmp_path: Path) -> None:
    jobs = [job(fold, method, theta) for fold in (0, 1) for method in "ab" for theta in (0.5, 0.1)]
    tables = filled([done(each, 0.5 + each.spec.fold / 10) for each in jobs], jobs)
    drawn = suite(figures=(SuiteFigure("figure-1", "sweep", "d"), SuiteFigure("none", "sweep", "elsewhere")))
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

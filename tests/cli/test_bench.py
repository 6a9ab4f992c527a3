"""`pubench bench` from the command line: output, files, and invalid input."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pubench.cli.main import main
from pubench.record.record_file import read_records
from pubench.types import Status

SUITE = """
title = "Two methods on customers"
metrics = ["aul_pu"]
[[jobs]]
datasets = ["customers"]
methods = ["probtagging", "naive", "oracle"]
learners = ["logistic"]
folds = 2
[jobs.parameters.method.probtagging]
members = 2
[[jobs]]
datasets = ["customers"]
methods = ["naive"]
learners = ["logistic"]
folds = 2
trials = 2
[[figures]]
name = "e-k"
kind = "expected-positives"
dataset = "customers"
"""


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_a_suite_with_a_data_set_of_the_user(table: Path, tmp_path: Path) -> None:
    assert run("datasets", "add", "customers", table, "--label", "bought", "--id", "customer").exit_code == 0
    (tmp_path / "mine.toml").write_text(SUITE)
    out = tmp_path / "out"
    result = run("bench", tmp_path / "mine.toml", "--out", out, "--only", "fold=1", "--threads", "3")
    assert result.exit_code == 0, result.output
    assert "4/4" in result.stderr
    assert "each tuned with 2 trials" in result.stdout
    assert "'oracle' needs every true label" in " ".join(result.stdout.split())
    records, unreadable = read_records(out / "records")
    assert unreadable == []
    by_method = {(record.spec.method, bool(record.spec.tuning)): record for record in records}
    first, tuned = by_method["probtagging", False], by_method["naive", True]
    assert first.status is Status.OK
    assert first.chosen["members"] == 2
    assert first.data is not None
    assert first.chosen["learner"] == {"c": 0.5 / first.data.features}
    assert first.spec.configuration["learner"] == {"name": "logistic"}
    assert len(first.placements) == first.data.test_labelled
    assert set(first.metrics) == {"aul_pu", "aul_pu_stderr"}  # true labels are unknown here
    assert set(first.origins) == {"method", "similarity", "learner"}
    assert {"versions", "hardware"} <= set(first.environment)
    assert first.environment["threads"] == 3
    assert (first.peak_memory_bytes or 0) > 2**20
    assert isinstance(tuned.chosen["configuration"], dict)
    assert by_method["oracle", False].status is Status.NOT_APPLICABLE
    for name in (
        "results.csv",
        "results.parquet",
        "tables.md",
        "suite.toml",
        "figures/e-k.svg",
        "figures/e-k.csv",
    ):
        assert (out / name).stat().st_size > 0
    assert (out / "figures" / "e-k.png").read_bytes().startswith(b"\x89PNG")


def test_list_shows_the_suites() -> None:
    assert "paper-table3" in run("bench", "list").stdout
    assert {suite["name"] for suite in json.loads(run("bench", "list", "--json").stdout)["suites"]} >= {
        "smoke",
        "real",
    }


def test_a_dry_run_shows_the_plan_and_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUBENCH_DATA", str(tmp_path))
    result = run("bench", "paper-table2", "--dry-run", "--out", tmp_path / "out", "--only", "method=naive")
    assert result.exit_code == 0
    assert "9 jobs, about" in result.stdout
    assert "rough estimates" in " ".join(result.stdout.split())
    assert not (tmp_path / "out").exists()
    plan = json.loads(run("bench", "smoke", "--dry-run", "--json", "--seed", "7").stdout)
    assert {job["spec"]["seed"] for job in plan["jobs"]} == {7}
    assert all("is left out" in notice for notice in plan["notices"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing-of-this-name",), "There is no suite"),
        (("smoke", "--only", "x"), "--only x is not understood"),
        (("smoke", "--memory-limit", "much"), "is not an amount of memory"),
        (("smoke", "--time-limit", "long"), "is not a duration"),
        (("smoke", "--retry", "some"), "Invalid value"),
        (("smoke", "--workers", "0"), "Invalid value"),
    ],
)
def test_bad_input_gives_one_sentence_and_exit_code_2(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    result = run("bench", *arguments, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert message in result.output
    assert not (tmp_path / "out").exists()

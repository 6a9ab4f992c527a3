"""`pubench bench` from the command line: what it shows, leaves and refuses."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pubench.cli.main import main
from pubench.records.files import read_records
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


def test_a_table_of_one_s_own_goes_through_a_suite(table: Path, tmp_path: Path) -> None:
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
    assert len(first.placements) == (first.data.test_labelled if first.data else 0)
    assert set(first.metrics) == {"aul_pu", "aul_pu_stderr"}  # nobody knows the truth here
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
    assert "by a rough guess" in " ".join(result.stdout.split())
    assert not (tmp_path / "out").exists()
    told = json.loads(run("bench", "smoke", "--dry-run", "--json", "--seed", "7").stdout)
    assert {job["spec"]["seed"] for job in told["jobs"]} == {7}
    assert all("is left out" in notice for notice in told["notices"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nothing-of-this-name",), "There is no suite"),
        (("smoke", "--only", "x"), "--only x is not understood"),
        (("smoke", "--memory-limit", "much"), "is no amount of memory"),
        (("smoke", "--time-limit", "long"), "is no duration"),
        (("smoke", "--retry", "some"), "Invalid value"),
        (("smoke", "--workers", "0"), "Invalid value"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    arguments: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    result = run("bench", *arguments, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert says in result.output
    assert not (tmp_path / "out").exists()

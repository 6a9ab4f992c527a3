"""`pubench leaderboard` as people type it, on records of real runs."""

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from pubench.cli.main import main

SUITE = """
title = "Small"
[limits]
minutes = 1
memory_gib = 2
[[jobs]]
datasets = ["mine"]
methods = ["naive", "bagging"]
learners = ["logistic"]
folds = 2
[jobs.parameters.method.bagging]
members = 3
"""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("leaderboard")


@pytest.fixture
def records(folder: Path, customers: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Records of a small suite, run once; the data set goes by the name of mine."""
    monkeypatch.setenv("PUBENCH_CONFIG", str(folder / "config"))
    monkeypatch.setenv("PUBENCH_CACHE", str(folder / "cache"))
    if not (folder / "run").exists():
        customers.to_csv(folder / "customers.csv", index=False)
        (folder / "small.toml").write_text(SUITE)
        added = run(
            "datasets", "add", "mine", folder / "customers.csv", "--label", "bought", "--id", "customer"
        )
        assert added.exit_code == 0, added.output
        done = run("bench", folder / "small.toml", "--out", folder / "run", "--quiet")
        assert done.exit_code == 0, done.output
    return folder / "run" / "records"


def test_show_prints_the_ranking(records: Path) -> None:
    result = run("leaderboard", "show", records)
    assert result.exit_code == 0, result.output
    assert "bagging + logistic" in result.output
    assert "4 runs on 1 data set" in result.output
    document = json.loads(run("leaderboard", "show", records, "--json").stdout)
    assert document["kind"] == "pubench-leaderboard"
    assert len(document["standings"]) == 2


def test_show_as_markdown_goes_to_stdout_or_into_a_document(records: Path, tmp_path: Path) -> None:
    table = run("leaderboard", "show", records, "--markdown").stdout
    assert table.startswith("| # | method |")
    document = tmp_path / "README.md"
    document.write_text("<!-- ranking: begin -->\n<!-- ranking: end -->\n")
    assert run("leaderboard", "show", records, "--markdown", "--into", document).exit_code == 0
    assert table in document.read_text()
    (tmp_path / "empty").mkdir()
    assert "no records yet" in run("leaderboard", "show", tmp_path / "empty", "--markdown").stdout
    assert run("leaderboard", "show", records, "--into", document).exit_code == 2


def test_build_add_and_publish(records: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    built = json.loads(run("leaderboard", "build", records, "--out", site, "--json").stdout)
    assert built["pages"] == 4
    assert (site / "index.html").is_file()
    assert "index.html: 4 pages" in run("leaderboard", "build", records, "--out", site).stdout

    planned = run("leaderboard", "publish", site, "--to", tmp_path / "www", "--dry-run")
    assert "added: index.html" in planned.stdout
    assert not (tmp_path / "www").exists()
    done = json.loads(run("leaderboard", "publish", site, "--to", tmp_path / "www", "--json").stdout)
    assert "index.html" in done["added"]
    assert "already" in run("leaderboard", "publish", site, "--to", tmp_path / "www").stdout

    files = sorted(records.iterdir())
    assert "4 records added" in run("leaderboard", "add", *files, "--to", tmp_path / "records").stdout
    again = run("leaderboard", "add", files[0], "--to", tmp_path / "records")
    assert again.exit_code == 2
    assert "repeats the run" in again.stderr


def test_verify_runs_records_again_and_finds_the_same(records: Path) -> None:
    result = run("leaderboard", "verify", records, "--sample", 1, "--threads", 1)
    assert result.exit_code == 0, result.output
    assert "1 of 1 record agree; 3 are not verified yet" in result.output
    (verified,) = (records.parent / "verified").iterdir()
    assert json.loads(verified.read_text())["agrees"]
    document = json.loads(run("leaderboard", "show", records, "--json").stdout)
    assert sum(one["verified_runs"] for one in document["standings"]) == 1


def test_verify_finds_a_record_that_claims_too_much(records: Path, tmp_path: Path) -> None:
    path = min(records.iterdir())
    claimed = json.loads(path.read_text())
    claimed["metrics"]["aul_pu"] = 0.999
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / path.name).write_text(json.dumps(claimed))
    result = run("leaderboard", "verify", tmp_path / "records", "--record", path.stem, "--threads", 1)
    assert result.exit_code == 1
    assert "differs: aul_pu 0.999000 became" in result.output
    assert not json.loads((tmp_path / "verified" / path.name).read_text())["agrees"]
    site = tmp_path / "site"
    assert run("leaderboard", "build", tmp_path / "records", "--out", site).exit_code == 0
    assert "✗ 1 of 1 differ" in (site / "index.html").read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "nowhere"),
        ("build", "nowhere", "--out", "site"),
        ("build", "nowhere"),
        ("publish", "nowhere", "--to", "www"),
        ("add", "nowhere.json"),
        ("add",),
        ("verify", "nowhere"),
        ("verify", "nowhere", "--sample", "0"),
    ],
)
def test_bad_input_is_exit_code_2_and_one_sentence(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("leaderboard", *arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []

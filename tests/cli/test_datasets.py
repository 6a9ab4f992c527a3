"""`pubench datasets`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pubench.cli.main import main


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["datasets", *map(str, arguments)])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "customers.csv"
    rows = [f"{1000 + 3 * i},{int(i < 5)},{i / 7:.3f},{'ab'[i % 2]},{'' if i % 4 else i}" for i in range(60)]
    path.write_text("\n".join(["no,bought,spend,region,calls", *rows]))
    return path


def test_list_shows_stand_ins_and_locations() -> None:
    result = run("list")
    assert result.exit_code == 0, result.output
    for text in ("bank1", "1,365,550", "synthetic stand-in", "creditcard", "mammography"):
        assert text in result.stdout


def test_list_as_json() -> None:
    rows = {row["name"]: row for row in json.loads(run("list", "--json").stdout)["datasets"]}
    assert {"bank1", "bank2", "bank3", "aps", "creditcard", "bank-marketing", "cover", "http"} <= set(rows)
    assert rows["bank1"]["info"]["stand_in"] is True
    assert rows["creditcard"]["info"]["licence"]


def test_info_of_a_file(table: Path) -> None:
    result = run("info", table, "--label", "bought", "--id", "no")
    assert result.exit_code == 0, result.output
    for text in ("60", "5 (8.333%)", "spend", "region", "categorical", "fingerprint"):
        assert text in result.stdout


def test_info_of_a_stand_in_says_so() -> None:
    result = run("info", "bank1", "--rows", "2000")
    assert result.exit_code == 0, result.output
    assert "synthetic stand-in" in result.stdout
    answer = json.loads(run("info", "bank1", "--rows", "2000", "--json").stdout)
    assert answer["info"]["stand_in"] is True
    assert answer["summary"]["features"] == 30


def test_a_name_is_added_and_removed(table: Path) -> None:
    added = run("add", "bank1", table, "--label", "bought", "--drop", "no")
    assert added.exit_code == 0, added.output
    assert "60 rows, 3 features" in added.stdout
    assert "customers.csv" in run("info", "bank1").stdout
    table.rename(table.with_name("moved.csv"))
    assert "missing" in run("list").stdout
    assert "--replace" in run("info", "bank1").stderr
    table.with_name("moved.csv").rename(table)
    assert "your file" in run("list").stdout
    assert run("add", "bank1", table, "--label", "bought").exit_code == 2
    assert run("add", "bank1", table, "--label", "bought", "--replace", "--json").exit_code == 0
    assert run("remove", "bank1").exit_code == 0
    assert table.exists()
    assert "synthetic stand-in" in run("info", "bank1", "--rows", "2000").stdout


def test_a_file_that_cannot_be_read_is_not_added(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    assert run("add", "bad", tmp_path / "bad.csv", "--label", "bought").exit_code == 2
    assert run("remove", "bad").exit_code == 2


def test_fetching_generated_and_unknown_data_sets() -> None:
    assert "nothing to fetch" in run("fetch", "bank1").stdout
    assert json.loads(run("fetch", "bank1", "--json").stdout) == {"bank1": []}
    result = run("fetch", "creditcrad")
    assert result.exit_code == 2
    assert "Did you mean 'creditcard'" in result.stderr


def test_a_directory_is_not_a_data_set(tmp_path: Path) -> None:
    result = run("info", tmp_path, "--label", "bought")
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_info_downloads_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PUBENCH_DATA", str(tmp_path))
    result = run("info", "creditcard")
    assert result.exit_code == 0
    assert "pubench datasets fetch creditcard" in result.stdout
    assert json.loads(run("info", "creditcard", "--json").stdout)["summary"] is None


def test_list_has_one_line_per_data_set_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("list").stdout.splitlines()
    assert len(lines) == 2 + len(json.loads(run("list", "--json").stdout)["datasets"])
    assert any("1,365,550" in line and "synthetic" in line for line in lines)

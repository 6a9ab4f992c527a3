"""`pubench doctor`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pubench.cli.main import main


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["doctor", *arguments])


def test_json_has_all_checks() -> None:
    result = run("--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["healthy"] is True
    assert found["cores"] >= 1
    assert found["memory_bytes"] > 2**28
    assert {"python", "pubench", "numpy", "xgboost", "optuna"} <= set(found["versions"])
    assert {cuda["learner"] for cuda in found["cuda"]} == {"xgboost", "lightgbm", "catboost"}
    assert {folder["role"] for folder in found["folders"]} == {"data sets", "cache", "runs"}


def test_output_is_readable_and_stderr_empty() -> None:
    result = run()
    assert result.exit_code == 0
    assert result.stderr == ""
    for word in ("cores", "memory", "cuda: xgboost", "data sets", "storage", "versions"):
        assert word in result.stdout


def test_the_use_of_the_cache_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUBENCH_CACHE", str(tmp_path))
    monkeypatch.setenv("PUBENCH_CACHE_LIMIT", "3GiB")
    (tmp_path / "arrays/entry").mkdir(parents=True)
    (tmp_path / "arrays/entry/a.npy").write_bytes(b"x" * 1000)
    (cache,) = (folder for folder in json.loads(run("--json").stdout)["folders"] if folder["role"] == "cache")
    assert (cache["used_bytes"], cache["limit_bytes"]) == (1000, 3 * 2**30)
    assert "0.0 GiB of at most 3.0 GiB used" in " ".join(run().stdout.split())


def test_an_invalid_cache_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUBENCH_CACHE_LIMIT", "plenty")
    result = run()
    assert result.exit_code == 2
    assert "PUBENCH_CACHE_LIMIT is 'plenty'" in result.stderr


def test_doctor_creates_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PUBENCH_DATA", str(tmp_path / "data"))
    run("--storage", "sqlite:///study.db")
    assert list(tmp_path.iterdir()) == []


def test_an_unreachable_storage_is_a_problem_and_its_password_stays_hidden() -> None:
    result = run("--storage", "postgresql+psycopg://me:hunter2@127.0.0.1:9/x?password=hunter2", "--json")
    assert result.exit_code == 1
    assert "hunter2" not in result.output
    assert json.loads(result.stdout)["storage"]["problem"]


@pytest.mark.parametrize("url", ["hunter2", "postgresql://me:hunter2@host:port/x"])
def test_an_invalid_address_is_refused_without_repeating_it(url: str) -> None:
    result = run("--storage", url)
    assert result.exit_code == 2
    assert "hunter2" not in result.output


def test_an_sqlite_address_is_checked_without_creating_the_file(tmp_path: Path) -> None:
    (tmp_path / "junk.db").write_text("not a database at all")
    for name, problem in [
        ("", "folder"),
        ("no/x.db", "cannot be written"),
        ("junk.db", "not an SQLite database"),
    ]:
        result = run("--storage", f"sqlite:///{tmp_path}/{name}", "--json")
        assert problem in json.loads(result.stdout)["storage"]["problem"]
        assert result.exit_code == 1


def test_an_unknown_driver_is_named() -> None:
    result = run("--storage", "nosuchdb://me@host/x", "--json")
    assert result.exit_code == 1
    assert "driver is not installed" in json.loads(result.stdout)["storage"]["problem"]


def test_a_broken_plugin_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("1 / 0")
    result = run("--plugin", str(tmp_path / "broken.py"), "--json")
    assert result.exit_code == 1
    assert "ZeroDivisionError" in json.loads(result.stdout)["plugin_problems"][0]

"""Measuring peers: processes, failures, and what an interrupted run does not repeat."""

import sys
import time
import types
import venv
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

import peers
from peer_protocol import FAILED, OK, TIMEOUT, Cell, Result, read_results
from peer_systems import SYSTEMS, Task, autogluon


@pytest.fixture
def table(tmp_path: Path) -> Path:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 3))
    path = tmp_path / "small.npz"
    np.savez(path, X=X, y=(X[:, 0] > 1.2).astype(int))
    return path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> None:
    monkeypatch.setattr(sys, "argv", ["peers.py", *map(str, arguments)])
    peers.main()


def test_a_system_is_measured_once(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    what = ("--out", out, "--table", table, "--system", "lightgbm", "--labelled", "8", "--seconds", "30")
    run(monkeypatch, *what, "--fold", "0", "--threads", "1")
    (result,) = read_results(out)
    assert (result.status, result.reason) == (OK, "")
    assert result.metrics["auc"] > 0.7
    assert result.counts["labelled"] == 8
    assert result.seconds >= (result.seconds_of_system or 0) > 0
    assert "small seed 0 fold 0 labelled 8 lightgbm: auc" in capsys.readouterr().out
    monkeypatch.setattr(peers, "measure", lambda *_: pytest.fail("it was measured again"))
    run(monkeypatch, *what, "--fold", "0", "--threads", "1")
    run(monkeypatch, "--out", out, "--report")
    assert "1 results: 1 tasks" in capsys.readouterr().out


def test_a_failure_is_a_result_that_can_be_repeated(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, nothing = tmp_path / "out", tmp_path / "no-python"
    what = ("--out", out, "--table", table, "--system", "flaml", "--env", f"flaml={nothing}", "--fold", "1")
    run(monkeypatch, *what)
    (result,) = read_results(out)
    assert result.status == FAILED
    assert "no-python" in result.reason
    repeated: list[str] = []

    def measure(cell: Cell, *_: object) -> Result:
        repeated.append(cell.system)
        return result

    monkeypatch.setattr(peers, "measure", measure)
    run(monkeypatch, *what)
    run(monkeypatch, *what, "--retry", TIMEOUT)
    assert repeated == []
    run(monkeypatch, *what, "--retry", FAILED)
    assert repeated == ["flaml"]


def test_an_environment_that_cannot_be_made_fails_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts: list[Path] = []

    def refuse(folder: Path, **_: bool) -> None:
        attempts.append(folder)
        raise OSError("no room")

    monkeypatch.setattr(venv, "create", refuse)
    environments = peers.Environments({}, tmp_path)
    for _ in range(2):
        with pytest.raises(peers.EnvironmentFailedError, match="no room"):
            environments.python("flaml")
    assert attempts == [tmp_path / "flaml"]
    assert environments.python("tune") == sys.executable


def test_another_python_does_not_see_these_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    environments = peers.Environments({"lightgbm": "python"}, tmp_path)
    seen = {
        system: environments.variables(system, 2).get("PYTHONPATH")
        for system in ("tune", "flaml", "lightgbm")
    }
    assert seen == {"tune": "somewhere", "flaml": None, "lightgbm": None}
    assert environments.variables("tune", 2)["OMP_NUM_THREADS"] == "2"


HANGING = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
print(child.pid, flush=True)
time.sleep(60)
"""


def test_what_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    began = time.perf_counter()
    outcome = peers.run([sys.executable, "-c", HANGING], {}, tmp_path, 5.0)
    assert outcome.code is None
    assert time.perf_counter() - began < 30
    child = int(outcome.end)
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE


def test_the_last_line_of_a_program_that_fails_is_the_reason(tmp_path: Path) -> None:
    outcome = peers.run([sys.executable, "-c", "raise ValueError('too few rows')"], {}, tmp_path, 20)
    assert (outcome.code, outcome.end) == (1, "ValueError: too few rows")


def test_two_tables_of_one_name_are_refused(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit, match="Two tables are called small"):
        run(monkeypatch, "--out", tmp_path / "out", "--table", table, "--table", tmp_path / "other/small.npz")
    with pytest.raises(SystemExit, match="names no system"):
        run(monkeypatch, "--out", tmp_path / "out", "--table", table, "--env", "flamingo=x")


def test_the_development_suite_names_the_tables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "argv", ["peers.py", "--out", str(tmp_path)])
    names, folds, seeds = peers.chosen_tables(peers.parse())
    assert {"digits", "skin", "creditcard"} <= set(names)
    assert (folds, seeds) == (3, (0,))


def test_every_system_has_an_environment() -> None:
    assert set(SYSTEMS) == {*peers.HERE, *peers.PACKAGES}


def test_rows_as_a_system_gets_them(tmp_path: Path) -> None:
    X = np.array([[1.0, 0.0], [np.nan, 1.0], [3.0, np.nan]])
    task = Task(tmp_path, "lightgbm", 5.0, 1, 0, {1: ["a", "b"]}, X, np.array([1, 0, 0]), X[:2])
    known, asked = task.matrices()
    assert known.tolist() == [[1, 1, 0], [2, 0, 1], [3, 0, 0]]
    assert asked.tolist() == known[:2].tolist()
    frame, _ = task.frames()
    assert frame["f1"].astype(object).where(frame["f1"].notna(), None).tolist() == ["a", "b", None]
    assert frame["f0"].isna().tolist() == [False, True, False]


def test_autogluon_goes_on_without_its_trial_of_stacking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    class Predictor:
        def __init__(self, **_: object) -> None:
            pass

        def fit(self, _rows: object, **options: Any) -> "Predictor":
            asked.append(options)
            if len(asked) == 1:
                raise AssertionError("Learner is already fit.")
            return self

        def predict_proba(self, rows: Any) -> dict[int, list[float]]:
            return {1: [0.5] * len(rows)}

    tabular = types.ModuleType("autogluon.tabular")
    vars(tabular)["TabularPredictor"] = Predictor
    monkeypatch.setitem(sys.modules, "autogluon", types.ModuleType("autogluon"))
    monkeypatch.setitem(sys.modules, "autogluon.tabular", tabular)
    X = np.zeros((4, 2))
    task = Task(tmp_path, "autogluon", 5.0, 1, 0, {}, X, np.array([1, 0, 0, 0]), X)
    assert autogluon(task).tolist() == [0.5] * 4
    assert ["dynamic_stacking" in options for options in asked] == [False, True]
    assert asked[1]["time_limit"] <= asked[0]["time_limit"] <= 5

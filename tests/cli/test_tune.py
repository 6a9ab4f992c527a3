"""`pubench tune`, from a file to a model."""

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from pubench.cli.main import main
from pubench.metrics.aul import aul_pu_score
from pubench.record.record_file import read_record
from pubench.seeds import Seed


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def customers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    generator = Seed(0).generator()
    path = tmp_path_factory.mktemp("data") / "customers.csv"
    lines = ["no,bought,spend,region,age"]
    for number in range(900):
        spend, age, region = generator.exponential(), generator.normal(40, 10), generator.choice(list("abc"))
        likely = 1 / (1 + np.exp(-(2 * spend + (region == "a") - 4)))
        bought = generator.random() < likely and number % 2
        lines.append(
            f"c{number},{int(bought)},{spend:.4f},{region},{'' if number % 9 == 0 else round(age, 1)}"
        )
    path.write_text("\n".join(lines))
    return path


def quick(customers: Path, out: Path, *more: str) -> Result:
    few = (
        "--trials",
        "3",
        "--method",
        "probtagging",
        "--learner",
        "logistic",
        "--similarity",
        "knn",
        "--seed",
        "1",
        "--baselines",
        "naive",
        "--baselines",
        "bagging",
    )
    where = ("--dataset", customers, "--label", "bought", "--id", "no", "--out", out)
    return run("tune", *where, *few, *more)


@pytest.fixture(scope="module")
def done(customers: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "first"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PUBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        result = quick(customers, out)
    assert result.exit_code == 0, result.output
    assert ": The model (AUL_PU 0." in result.stdout.partition("\n")[0]
    assert "that it never saw" in result.stdout
    assert "Whom to call: what the best of" in result.stdout
    assert "Hidden positives: " in result.stdout
    assert "in the search" in result.stdout
    assert "trial   0  begins" in result.stderr
    return out


def test_the_files_of_a_run(done: Path) -> None:
    assert {
        "best.toml",
        "model",
        "trials.csv",
        "record.json",
        "report.html",
        "leaderboard.csv",
        "holdout.csv",
    } <= {path.name for path in done.iterdir()}
    rows = list(csv.DictReader((done / "trials.csv").read_text().splitlines()))
    assert [row["number"] for row in rows[:3]] == ["0", "1", "2"]  # another test adds one
    record = read_record(done / "record.json")
    assert record.metrics["aul_pu"] == pytest.approx(np.mean(record.placements), abs=1e-6)
    assert 0.5 < record.metrics["aul_pu"] < 1
    scored = list(csv.DictReader((done / "holdout.csv").read_text().splitlines()))
    assert list(scored[0]) == ["no", "label", "score"]
    s, scores = [[float(row[name]) for row in scored] for name in ("label", "score")]
    assert aul_pu_score(s, scores) == pytest.approx(record.metrics["aul_pu"], abs=1e-12)
    assert {"default_aul_pu", "naive_aul_pu", "bagging_aul_pu"} <= set(record.metrics)


def test_its_model_predicts_and_its_config_can_be_fitted_again(
    done: Path, customers: Path, tmp_path: Path
) -> None:
    scored = run("predict", done / "model", customers, "--out", tmp_path / "scores.csv")
    assert scored.exit_code == 0, scored.output
    assert len((tmp_path / "scores.csv").read_text().splitlines()) == 901
    again = run(
        "fit", "--dataset", customers, "--label", "bought", "--id", "no", "--config", done / "best.toml",
        "--out", tmp_path / "again",
    )  # fmt: skip
    assert again.exit_code == 0, again.output


def test_the_same_command_resumes_and_another_one_is_refused(done: Path, customers: Path) -> None:
    asked = ("--prior", "0.5", "--top", "7", "--gain", "40", "--cost", "2")
    more = quick(customers, done, "--trials", "4", "--json", *asked)
    assert more.exit_code == 0, more.output
    assert "continues after 3 trials of an earlier run; the best so far: 0." in more.stderr
    answer = json.loads(more.stdout)
    assert answer["trials"] == 4
    assert set(answer["models"]) == {"tuned", "default"}
    assert {row["role"] for row in answer["leaderboard"]} >= {"baseline"}
    assert {"naive", "bagging"} <= {row["method"] for row in answer["leaderboard"]}
    hidden, calls = answer["hidden_positives"], answer["whom_to_call"]
    assert hidden["estimate"] == hidden["low"] == hidden["high"] == 450 - (900 - calls["unlabeled"])
    assert hidden["source"] == "a prior of 0.5, as given"
    best = calls["rows"][0]
    assert best["rows"] == 7
    for name in ("lift", "found", "positives", "precision"):
        assert best[name]["low"] <= best[name]["estimate"] <= best[name]["high"]
    profit = answer["profit"]
    assert profit["first"] <= profit["best"] <= profit["last"] <= calls["unlabeled"]
    other = quick(customers, done, "--folds", "4")
    assert other.exit_code == 2
    assert "contains something else" in other.stderr


def test_bad_input_gives_one_sentence(customers: Path, tmp_path: Path) -> None:
    out = tmp_path / "none"
    for arguments, message in (
        (["--resume"], "no run that could be resumed"),
        (["--learner", "lightgmb"], "Did you mean 'lightgbm'"),
        (["--timeout", "soon"], "is not a duration"),
        (["--device", "cuda"], "cuda"),
        (["--baselines", "oracle"], "needs every true label"),
        (["--baselines", "bagginh"], "Did you mean 'bagging'"),
        (["--theta-o", "0.5"], "observed labels"),
        (["--prior", "0.001"], "labelled positive already"),
        (["--prior", "nan"], "between 0 and 1"),
        (["--top", "901"], "unlabeled rows"),
        (["--gain", "40"], "belong together"),
        (["--gain", "40", "--cost", "0"], "above 0"),
    ):
        result = quick(customers, out, *arguments)
        assert result.exit_code == 2, result.output
        assert message.lower() in result.stderr.lower()
        assert not out.exists()
    missing = run("tune", "--dataset", customers, "--label", "bougth", "--out", out)
    assert missing.exit_code == 2
    assert "Did you mean 'bought'" in missing.stderr


def test_an_interrupt_ends_the_search_and_trains_the_final_models(customers: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    process = subprocess.Popen(
        [
            Path(sys.executable).with_name("pubench"), "tune", "--dataset", customers, "--label", "bought", "--id", "no",
            "--trials", "100000", "--method", "naive", "--learner", "logistic", "--out", out, "--baselines", "none",
        ],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if "trial   2" in line:
            process.send_signal(signal.SIGINT)
            break
    started = time.monotonic()
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    assert "the search ends: " in stderr
    assert "trials are kept" in stderr
    assert "The model" in stdout
    assert time.monotonic() - started < 100
    assert (out / "record.json").exists()


HALVES = '''
import numpy as np
from pubench import FittedMethod, Method, Scores, hookimpl

pubench_api = 1


class Fitted(FittedMethod):
    def __init__(self, column):
        self.column = column

    def score(self, X, resources):
        return Scores(X.values[:, self.column].astype(float))

    def save(self, folder):
        (folder / "column").write_text(str(self.column))

    def importances(self):
        return np.eye(2)[self.column]


class First(Method):
    """Finds the positives that the first feature shows."""

    name = "first-half"
    uses = frozenset()
    column = 0

    def fit(self, data, parts, seed, resources):
        return Fitted(self.column)

    def load(self, folder, parts):
        return Fitted(int((folder / "column").read_text()))


class Second(First):
    """Finds the positives that the second feature shows."""

    name = "second-half"
    column = 1


@hookimpl
def pubench_register_methods(register):
    register(First)
    register(Second)
'''


@pytest.fixture(scope="module")
def halves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two methods that each find one half of the positives, and rows for them."""
    folder = tmp_path_factory.mktemp("halves")
    (folder / "halves.py").write_text(HALVES)
    generator = Seed(0).generator()
    positive, half = generator.random(1_500) < 0.15, generator.random(1_500) < 0.5
    values = generator.normal(size=(1_500, 2)) + 3 * (positive[:, None] & np.column_stack([half, ~half]))
    rows = zip(positive & (generator.random(1_500) < 0.7), values, strict=True)
    lines = ["bought,a,b", *(f"{int(s)},{a:.4f},{b:.4f}" for s, (a, b) in rows)]
    (folder / "rows.csv").write_text("\n".join(lines))
    return folder


def tune_halves(halves: Path, *more: str) -> Result:
    where = ("--dataset", halves / "rows.csv", "--label", "bought", "--out", halves / "run", "--trials", "8")
    names = (
        "--method",
        "first-half",
        "--method",
        "second-half",
        "--learner",
        "logistic",
        "--baselines",
        "first-half",
    )
    return run("tune", *where, *names, "--plugin", halves / "halves.py", *more)


def test_a_blend_predicts_and_can_be_fitted_again(halves: Path, tmp_path: Path) -> None:
    result = tune_halves(halves)
    assert result.exit_code == 0, result.output
    assert "The model is a blend of 2 trials" in result.stdout
    assert "of folds that did not choose" in result.stdout
    assert "refit" in result.stderr
    record = read_record(halves / "run" / "record.json")
    among = ["first-half", "second-half"]
    assert record.spec.configuration["method"] == {"name": "blend", "among": among}
    assert record.metrics["aul_pu"] > record.metrics["default_aul_pu"] + 0.03
    chosen: Any = record.chosen["configuration"]
    assert {part["method"]["name"] for part in chosen["blend"]} == {"first-half", "second-half"}
    assert "The blend of 2 trials" in (halves / "run" / "report.html").read_text()

    plugin = ("--plugin", halves / "halves.py")
    model, rows = halves / "run", halves / "rows.csv"
    scored = run("predict", model, rows, "--out", tmp_path / "top.csv", "--top", "9", "--evidence", *plugin)
    assert scored.exit_code == 0, scored.output
    assert len((tmp_path / "top.csv").read_text().splitlines()) == 10
    explained = json.loads(run("explain", model, "--json", *plugin).stdout)
    assert sum(explained["importances"].values()) == pytest.approx(1)
    fit = ("fit", "--dataset", rows, "--label", "bought", "--config", model / "best.toml", *plugin)
    again = run(*fit, "--out", tmp_path / "again")
    assert again.exit_code == 0, again.output
    assert "blend of" in again.stdout
    assert (tmp_path / "again" / "config.toml").read_text() == (model / "best.toml").read_text()
    for name in (model, tmp_path / "again"):
        scored = run("predict", name, rows, "--out", tmp_path / f"{name.name}.csv", *plugin)
        assert scored.exit_code == 0, scored.output
    assert (tmp_path / "again.csv").read_text() == (tmp_path / "run.csv").read_text()
    refused = run(*fit, "--out", tmp_path / "other", "--set", "method.members=3")
    assert refused.exit_code == 2
    assert "is a blend" in refused.stderr

    alone = tune_halves(halves, "--no-ensemble", "--json", "--quiet")
    assert alone.exit_code == 0, alone.output
    answer = json.loads(alone.stdout)
    assert answer["blend"]["taken"] is False
    assert "switched off" in answer["blend"]["why"]
    assert set(answer["models"]["tuned"]["setting"]) == {"method"}

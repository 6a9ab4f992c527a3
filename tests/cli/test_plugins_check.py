"""`pubench plugins check`: its output for plugins that follow their contract, and for those that do not."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pubench.cli.main import main

SIMILARITY = '''
import numpy as np
from pubench import Affinity, FittedSimilarity, Float, Similarity, hookimpl

pubench_api = 1


class Fitted(FittedSimilarity):
    def __init__(self, X, s, width):
        self.s, self.width = s, width
        self.X, self.mean = X, X.values[s].mean(axis=0)

    def near(self, X):
        return {near}

    @property
    def affinity(self):
        return Affinity(np.where(self.s, 0.0, self.near(self.X)))

    def score_new(self, X, resources):
        return Affinity(self.near(X))


class Mine(Similarity):
    """A Gaussian around the mean of the labelled positives."""

    name = "mine"
    space = {{"width": Float(0.1, 10.0, default=1.0, log=True, help="of the Gaussian")}}

    def fit(self, data, seed, resources):
        print("fitting")
        {before}
        return Fitted(data.X, data.s, self.params["width"])


@hookimpl
def pubench_register_similarities(register):
    register(Mine)
'''
GAUSSIAN = "np.exp(-((X.values - self.mean) ** 2).sum(axis=1) / (2 * self.width**2))"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["plugins", "check", *map(str, arguments)])


def mine(tmp_path: Path, near: str = GAUSSIAN, before: str = "pass") -> Path:
    path = tmp_path / "mine.py"
    path.write_text(SIMILARITY.format(near=near, before=before))
    return path


def found(result: Result) -> dict[str, dict[str, Any]]:
    return {verdict["check"]: verdict for verdict in json.loads(result.stdout)["checks"]}


def test_a_plugin_that_follows_its_contract(tmp_path: Path) -> None:
    result = run("mine", "--plugin", mine(tmp_path))
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"mine, similarity of {tmp_path}")
    assert "10,000 rows with one thread" in result.stdout
    assert "It reports no progress of fitting" in result.stdout
    assert result.stdout.rstrip().endswith("20 checks: 20 ok.")


def test_json_is_one_object_even_if_the_plugin_prints(tmp_path: Path) -> None:
    result = run("mine", "--plugin", mine(tmp_path), "--json")
    answer = json.loads(result.stdout)
    assert (answer["kind"], answer["name"], answer["holds"]) == ("similarity", "mine", True)
    assert set(answer["checks"][0]) == {"check", "promise", "outcome", "sentence", "seconds"}
    assert "fitting" in result.stderr


@pytest.mark.parametrize(
    ("near", "before", "check", "sentence"),
    [
        (
            f"np.minimum(1, {GAUSSIAN} * (0.5 + np.random.default_rng().random(X.n_rows)))",
            "pass",
            "seed",
            "Equal data, parameters and seed give equal values; all chance comes from `seed`.",
        ),
        (
            f"1.5 * {GAUSSIAN} + 0.1",
            "pass",
            "values",
            "It raises DataError: An affinity lies in [0, 1]; found a value outside, or NaN.",
        ),
        (
            GAUSSIAN,
            "data.X.values.flags.writeable = True; data.X.values[0] = 0",
            "inputs",
            "Tables and labels stay as they were; work on a copy.",
        ),
    ],
    ids=["unseeded", "out of range", "writes into X"],
)
def test_the_violated_rule_is_named(
    near: str, before: str, check: str, sentence: str, tmp_path: Path
) -> None:
    path = mine(tmp_path, near, before)
    result = run("mine", "--plugin", path, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["holds"] is False
    assert found(result)[check]["outcome"] == "broken"
    assert found(result)[check]["sentence"] == sentence


def test_only_the_violated_rule_is_named(tmp_path: Path) -> None:
    path = mine(tmp_path, before="data.X.values.flags.writeable = True; data.X.values[0] = 0")
    result = run("mine", "--plugin", path)
    assert result.exit_code == 1
    assert result.stdout.count("broken") == 2  # its line, and the sum below
    assert "20 checks: 19 ok, 1 broken." in result.stdout


@pytest.mark.parametrize(
    ("name", "kind", "checks"),
    [
        ("naive", "method", "damaged files"),
        ("logistic", "learner", "rare positives"),
        ("bank2", "dataset", "rows"),
    ],
)
def test_built_ins_of_the_other_kinds_hold(name: str, kind: str, checks: str) -> None:
    result = run(name, "--kind", kind, "--json")
    assert result.exit_code == 0, result.output
    assert found(result)[checks]["outcome"] == "ok"


def test_an_unknown_name_is_bad_input() -> None:
    result = run("knm")
    assert result.exit_code == 2
    assert "Did you mean 'knn'?" in result.stderr
    assert result.stdout == ""


def test_a_plugin_that_cannot_be_created(tmp_path: Path) -> None:
    path = mine(tmp_path)
    path.write_text(path.read_text().replace('    name = "mine"', '    name = "mine"\n    __init__ = None'))
    result = run("mine", "--plugin", path)
    assert result.exit_code == 2
    assert "cannot be created with its defaults: TypeError" in result.stderr

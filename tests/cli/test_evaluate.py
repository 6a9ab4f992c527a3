"""`pubench evaluate`: tables, JSON and pictures, and one sentence for bad input."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from pubench.cli.main import main


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["evaluate", *map(str, arguments)])


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """One row in a hundred is positive and half of them are labelled; `bad` is `good` with noise, `twin` equals it."""
    generator = np.random.default_rng(0)
    wants = generator.random(20_000) < 0.01
    good = generator.normal(2.0 * wants)
    frame = pd.DataFrame(
        {
            "bought": (wants & (generator.random(20_000) < 0.5)).astype(int),
            "good": good,
            "bad": good + generator.normal(scale=2.0, size=20_000),
            "twin": good + generator.normal(scale=0.01, size=20_000),
        }
    )
    path = tmp_path / "scores.csv"
    frame.to_csv(path, index=False)
    return path


def test_one_model(scores: Path) -> None:
    result = run(scores, "--label", "bought", "--score", "good")
    assert result.exit_code == 0, result.output
    assert "20,000 rows" in result.stdout
    assert "AUL_PU" in result.stdout
    assert "95% interval" in result.stdout
    assert "SCAR" in result.stdout


def test_the_better_of_two_is_named(scores: Path) -> None:
    for pair in (["--score", "good", "--against", "bad"], ["--score", "bad", "--against", "good"]):
        output = run(scores, "--label", "bought", *pair).stdout
        assert "good ranks positives higher than bad by 0." in output


def test_no_significant_difference(scores: Path) -> None:
    output = run(scores, "--label", "bought", "--score", "good", "--against", "twin").stdout
    assert "It cannot be told whether good or twin is better" in output


def test_json_has_the_content_of_the_tables(scores: Path) -> None:
    result = run(scores, "--label", "bought", "--score", "good", "--against", "bad", "--json")
    answer = json.loads(result.stdout)
    interval = answer["models"]["good"]["interval"]
    assert interval["low"] < interval["estimate"] < interval["high"]
    (pair,) = answer["comparisons"]
    assert (pair["a"], pair["b"]) == ("good", "bad")
    assert pair["comparison"]["difference"] == pytest.approx(
        interval["estimate"] - answer["models"]["bad"]["interval"]["estimate"]
    )
    assert pair["comparison"]["p_value"] < 0.001
    assert answer["n_labelled"] == interval["n_labelled"]


def test_several_models_are_compared_with_a_correction(scores: Path) -> None:
    arguments = ["--label", "bought", "--score", "good", "--against", "bad", "--against", "twin"]
    assert "p-value (Holm)" in run(scores, *arguments).stdout
    pairs = json.loads(run(scores, *arguments, "--json").stdout)["comparisons"]
    assert len(pairs) == 3
    assert all(pair["p_holm"] >= pair["comparison"]["p_value"] for pair in pairs)
    assert "after Holm's correction for 3 pairs" in run(scores, *arguments).stdout.replace("\n", " ")


def test_a_prior_adds_ranges_for_both_ways_of_sampling(scores: Path) -> None:
    output = run(scores, "--label", "bought", "--score", "good", "--prior", "0.01", "--share", "0.05").stdout
    assert "AUC if 0.01 are positive   single-training-set" in output
    assert "case-control" in output
    assert "in the top 5% of the rows" in output
    one = run(
        scores, "--label", "bought", "--score", "good", "--prior", "0.01", "--sampling", "case-control"
    ).stdout
    assert "single-training-set" not in one


def test_a_small_number_of_labelled_rows_gives_a_note(tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    pd.DataFrame({"s": [1] * 5 + [0] * 95, "a": np.arange(100)[::-1]}).to_csv(path, index=False)
    assert "only 5 labelled" in run(path, "--label", "s", "--score", "a").stdout.replace("\n", " ").lower()


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_lift_curves_are_written(suffix: str, scores: Path, tmp_path: Path) -> None:
    plot = tmp_path / f"lift{suffix}"
    result = run(scores, "--label", "bought", "--score", "good", "--against", "bad", "--plot", plot)
    assert result.exit_code == 0, result.output
    assert plot.stat().st_size > 5000
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([plot.name, "scores.csv"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--label", "bougth", "--score", "good"],
            "no column 'bougth' (it has: bought, good, bad, twin). Did you mean",
        ),
        (["--label", "bought", "--score", "goood"], "Did you mean 'good'"),
        (["--label", "bought", "--score", "good", "--against", "good"], "named twice"),
        (["--label", "bought", "--score", "bought"], "both the label and a score"),
        (["--label", "bought", "--score", "good", "--confidence", "95"], "--confidence lies between 0 and 1"),
        (["--label", "bought", "--score", "good", "--share", "0"], "--share"),
        (["--label", "bought", "--score", "good", "--share", "0.00001"], "less than one of the 20,000 rows"),
        (["--label", "bought", "--score", "good", "--prior", "1.5"], "--prior"),
        (["--label", "bought", "--score", "good", "--prior", "0.0001"], "labelled"),
        (["--label", "bought", "--score", "good", "--sampling", "case-control"], "give --prior too"),
        (["--label", "bought", "--score", "good", "--plot", "lift.doc"], "must end in .png"),
        (["--label", "bought", "--score", "good", "--plot", "nowhere/lift.png"], "does not exist"),
    ],
)
def test_bad_input_is_exit_code_2_and_no_traceback(arguments: list[str], message: str, scores: Path) -> None:
    result = run(scores, *arguments)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""


def test_names_are_not_markup_and_confidence_is_not_rounded(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    pd.DataFrame({"s": [1] * 30 + [0] * 70, "[red]a[/x]:bug:": np.arange(100)}).to_csv(path, index=False)
    result = run(path, "--label", "s", "--score", "[red]a[/x]:bug:", "--confidence", "0.999")
    assert "[red]a[/x]:bug:" in result.stdout
    assert "99.9% interval" in result.stdout


def test_a_missing_file_and_a_directory(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.csv", tmp_path):
        result = run(path, "--label", "s", "--score", "a")
        assert result.exit_code == 2
        assert str(path) in result.stderr

"""`pubench explain`: the importances that a model reports, and measured ones."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pubench.cli.main import main


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["explain", *map(str, arguments)])


def test_the_importances_of_the_model(saved: Path) -> None:
    result = run(saved)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[3].startswith("income")


def test_drops_are_measured_on_labelled_rows(saved: Path, table: Path) -> None:
    result = run(saved, table, "--label", "bought")
    assert result.exit_code == 0, result.output
    assert "AUL_PU is 0." in result.stdout
    answer = json.loads(run(saved, table, "--label", "bought", "--json").stdout)
    drops = {item["feature"]: item["drop"] for item in answer["permutation"]["features"]}
    assert drops["income"]["low"] > 0.1
    assert drops["income"]["difference"] > drops["visits"]["difference"]
    assert sum(answer["importances"].values()) == pytest.approx(1)


def test_bad_input_gives_one_sentence(saved: Path, table: Path) -> None:
    for arguments in (
        [saved, table],
        [saved, "--label", "bought"],
        [saved, table, "--label", "bougt"],
        [table],
    ):
        result = run(*arguments)
        assert result.exit_code == 2, result.output

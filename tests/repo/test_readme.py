"""The two commands of the README."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCREEN = 40


def setup_lines() -> list[str]:
    first_screen = "\n".join((ROOT / "README.md").read_text().splitlines()[:SCREEN])
    return re.findall(r"^```sh setup\n(.+)\n```$", first_screen, re.MULTILINE)


def test_both_commands_stand_on_the_first_screen_each_on_one_line() -> None:
    tune, test = setup_lines()
    assert tune.endswith("pubench tune --dataset bank1")
    assert test.endswith("pytest")
    for line in (tune, test):
        assert line.startswith("python3 -m venv .venv && ")


def test_ci_runs_the_very_same_lines() -> None:
    commands = re.findall(r'^\w+_command="(.+)"$', (ROOT / ".ci/run").read_text(), re.MULTILINE)
    assert commands == setup_lines()

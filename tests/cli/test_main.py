"""The command line as a whole: help, exit codes, completion."""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from pubench.cli.main import main


def commands(
    group: click.Group = main, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


@pytest.mark.parametrize(
    ("path", "command"),
    list(commands()),
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_every_help_has_a_text_and_an_example(path: tuple[str, ...], command: click.Command) -> None:
    result = CliRunner().invoke(main, [*path, "--help"])
    assert result.exit_code == 0
    assert command.help
    examples = result.output.partition("Examples:")[2]
    assert f"pubench {' '.join(path)}" in examples


def test_short_helps_are_not_truncated() -> None:
    for path in ([], ["plugins"], ["datasets"]):
        result = CliRunner().invoke(main, [*path, "--help"], terminal_width=80)
        assert "..." not in result.output.partition("Commands:")[2]


@pytest.mark.parametrize(
    "option",
    [
        ["--memory", "nan"],
        ["--memory", "1e300"],
        ["--holdout", "nan"],
        ["--repeats", "1000000000000"],
        ["--threads", "999999999"],
        ["--workers", "999999999"],
        ["--dataset", "m" * 300],
        ["--dataset", "x/" * 5000],
    ],
)
def test_numbers_and_names_beyond_measure_are_refused(option: list[str]) -> None:
    result = CliRunner().invoke(main, ["tune", "--dataset", "bank1", *option])
    assert result.exit_code == 2
    assert result.output.startswith("Error: ")
    assert len(result.output.splitlines()) == 1


def test_a_full_disk_gives_one_sentence(tmp_path: Path) -> None:
    """A limit of the size of files stands for the disk, as it is when a search begins to write its data."""
    (tmp_path / "t.csv").write_text("y,a\n" + "".join(f"{row % 5 == 0:d},{row}\n" for row in range(3000)))
    start = f"ulimit -f 8; exec {sys.executable} -c 'from pubench.cli.main import main; main()'"
    command = f"{start} tune --dataset t.csv --label y --out run"
    result = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode in (1, 2)
    assert "Traceback" not in result.stderr
    assert "cannot be written: " in result.stderr


def test_version() -> None:
    assert version("pubench") in CliRunner().invoke(main, ["--version"]).output


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["tune"], ["plugins", "list", "--kind", "x"], ["completion", "tcsh"]]
)
def test_wrong_usage_is_one_line_and_exit_code_2(arguments: list[str]) -> None:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert result.output.startswith("Error: ")
    assert result.output.endswith("--help' shows how it is used.\n")
    assert result.output.count("\n") == 1


def test_a_group_without_a_command_shows_its_help() -> None:
    assert "Commands:" in CliRunner().invoke(main, ["plugins"]).output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_command(shell: str) -> None:
    result = CliRunner().invoke(main, ["completion", shell])
    assert result.exit_code == 0
    assert "_PUBENCH_COMPLETE" in result.output


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("pubench pl", "plugins"),
        ("pubench plugins info xg", "xgboost"),
        ("pubench plugins info --kind method na", "naive"),
        ("pubench tune --da", "--dataset"),
    ],
)
def test_the_shell_completes(words: str, expected: str) -> None:
    environment = {**os.environ, "_PUBENCH_COMPLETE": "bash_complete", "COMP_WORDS": words}
    environment["COMP_CWORD"] = str(len(words.split()) - 1)
    program = "from pubench.cli.main import main; main(prog_name='pubench')"
    result = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert f"plain,{expected}" in result.stdout

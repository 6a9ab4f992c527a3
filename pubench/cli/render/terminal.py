"""The terminal itself: JSON, warnings, progress, and the look of tables."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

_PIPE_WIDTH = 120


def console(*, stderr: bool = False) -> Console:
    """Return a console that prints texts as they are: they come from files and foreign plugins, and are no markup."""
    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = _PIPE_WIDTH  # in a pipe there is no width to respect
    return made


def print_json(value: object) -> None:
    """Print one JSON object on stdout."""
    click.echo(json.dumps(value, indent=2, allow_nan=False))


def warn(message: str) -> None:
    """Print a warning on stderr: one line, however wide the terminal is."""
    click.echo(click.style("Warning: ", fg="yellow") + message, err=True)


def notice(message: str) -> None:
    """Print on stderr what a person should know, on one line."""
    click.echo(f"Note: {message}", err=True)


def busy(message: str) -> AbstractContextManager[object]:
    """Show a spinner on stderr while something runs; nothing when stderr is not a terminal."""
    return console(stderr=True).status(f"{message} ...")


@contextmanager
def progress(message: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show a spinner on stderr and yield what adds bytes to it: (done, total), total None while unknown.

    Nothing when stderr is not a terminal.
    """
    out = console(stderr=True)
    with out.status(f"{message} ...") as status:
        yield lambda done, total: status.update(
            f"{message}: {_bytes(done)}{f' of {_bytes(total)}' if total else ''}"
        )


def _bytes(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"


def table(*headers: str) -> Table:
    """Return an empty table in the one look that all tables have; the first column is never broken."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, header in enumerate(headers):
        made.add_column(header, overflow="fold", no_wrap=number == 0)
    return made


def facts() -> Table:
    """Return an empty table of two columns, names and what is to be said of them."""
    made = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    made.add_column(style="bold", no_wrap=True)
    made.add_column(overflow="fold")
    return made


def bold(text: str) -> Text:
    """Return the text in bold."""
    return Text(text, style="bold")


def state(problem: str, good: str = "ok", bad: str = "problem") -> Text:
    """Return `good` in green, or `bad` in yellow and the problem behind it."""
    return Text.assemble((bad, "yellow"), f": {problem}") if problem else Text(good, style="green")


def size(count: int) -> str:
    """Return a number of bytes in GiB."""
    return f"{count / 2**30:.1f} GiB"

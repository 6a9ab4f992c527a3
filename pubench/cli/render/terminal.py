"""The terminal itself: JSON, warnings, progress, and the style of tables."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import click
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

_PIPE_WIDTH = 120


def console(*, stderr: bool = False) -> Console:
    """Return a console without markup: texts come from files and foreign plugins, and are printed as they are."""
    created = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not created.is_terminal and "COLUMNS" not in os.environ:
        created.width = _PIPE_WIDTH  # a pipe has no width
    return created


def print_json(value: object) -> None:
    """Print one JSON object on stdout."""
    click.echo(json.dumps(value, indent=2, allow_nan=False))


def warn(message: str) -> None:
    """Print a warning on stderr: one line, however wide the terminal is."""
    click.echo(click.style("Warning: ", fg="yellow") + message, err=True)


def notice(message: str) -> None:
    """Print a notice for the user on stderr, on one line."""
    click.echo(f"Note: {message}", err=True)


def busy(message: str) -> AbstractContextManager[object]:
    """Show a spinner on stderr while something runs; nothing if stderr is not a terminal."""
    return console(stderr=True).status(f"{message} ...")


@contextmanager
def byte_progress(message: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show a spinner on stderr; the callback takes bytes done and bytes in total, None while that is unknown.

    Nothing is shown if stderr is not a terminal.
    """
    with console(stderr=True).status(f"{message} ...") as status:
        yield lambda done, total: status.update(
            f"{message}: {_megabytes(done)}{f' of {_megabytes(total)}' if total else ''}"
        )


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"


@contextmanager
def row_progress(message: str) -> Iterator[Callable[[int], None]]:
    """Show a spinner on stderr; the callback takes the number of rows done."""
    with console(stderr=True).status(f"{message} ...") as status:
        yield lambda rows: status.update(f"{message}: {rows:,} rows")


@contextmanager
def share_progress(message: str) -> Iterator[Callable[[float], None]]:
    """Show a progress bar on stderr; the callback takes the share of the work done, in [0, 1]."""
    out = console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        task = bar.add_task(message, total=1.0)
        yield lambda share: bar.update(task, completed=share)


def ignore_line(line: str) -> None:
    """Print nothing."""


def line_printer(out: Console) -> Callable[[str], None]:
    """Return a function that prints a line, not wrapped."""
    return lambda line: out.print(line, soft_wrap=True)


def table(*headers: str) -> Table:
    """Return an empty table in the common style; the first column is never wrapped."""
    created = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, header in enumerate(headers):
        created.add_column(header, overflow="fold", no_wrap=number == 0)
    return created


def facts() -> Table:
    """Return an empty table of two columns: names and values."""
    created = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    created.add_column(style="bold", no_wrap=True)
    created.add_column(overflow="fold")
    return created


def bold(text: str) -> Text:
    """Return the text in bold."""
    return Text(text, style="bold")


def state(problem: str, good: str = "ok", bad: str = "problem") -> Text:
    """Return `good` in green or, if there is a problem, `bad` in yellow and the problem."""
    return Text.assemble((bad, "yellow"), f": {problem}") if problem else Text(good, style="green")


def size(count: int) -> str:
    """Return a number of bytes in GiB."""
    return f"{count / 2**30:.1f} GiB"

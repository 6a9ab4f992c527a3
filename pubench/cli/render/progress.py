"""How far a long work is, on stderr; nothing when that is not a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from pubench.cli.render.terminal import console


@contextmanager
def share_bar(message: str) -> Iterator[Callable[[float], None]]:
    """Show a bar and yield what it is told: the share that is done, in [0, 1]."""
    out = console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        task = bar.add_task(message, total=1.0)
        yield lambda share: bar.update(task, completed=share)


@contextmanager
def row_count(message: str) -> Iterator[Callable[[int], None]]:
    """Show a spinner and yield what it is told: how many rows are done."""
    with console(stderr=True).status(f"{message} ...") as status:
        yield lambda rows: status.update(f"{message}: {rows:,} rows")

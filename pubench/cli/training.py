"""Options of the commands that train: which rows, and with what."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from pubench.cli.completion import complete_dataset
from pubench.cli.datasets import column_options

Command = TypeVar("Command", bound=Callable[..., Any])


threads_option = click.option(
    "--threads", type=click.IntRange(min=1), metavar="N", help="At most so many.  [default: all cores]"
)


def training_options(command: Command) -> Command:
    """Add what says which rows to train on, and what to use for it."""
    for option in (
        click.option(
            "--threads",
            type=click.IntRange(min=1),
            metavar="N",
            help="At most so many.  [default: all cores]",
        ),
        click.option(
            "--device", type=click.Choice(("auto", "cpu", "cuda")), default="auto", show_default=True
        ),
        click.option(
            "--theta-o",
            type=float,
            metavar="SHARE",
            help="Where only true labels are known: the share of positives to be drawn as labelled.  [default: 0.5]",
        ),
        click.option("--rows", type=int, metavar="N", help="Use a draw of about N rows with the same rates."),
        column_options,
        click.option(
            "--dataset",
            required=True,
            metavar="NAME|FILE",
            shell_complete=complete_dataset,
            help="A data set's name or a file.",
        ),
    ):
        command = option(command)
    return command

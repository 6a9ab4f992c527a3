"""`pubench tune`."""

import click

from pubench.cli.completion import complete_dataset
from pubench.cli.options import examples
from pubench.errors import NotYetAvailableError


@click.command(epilog=examples("pubench tune --dataset bank1"))
@click.option(
    "--dataset",
    required=True,
    metavar="NAME|FILE",
    shell_complete=complete_dataset,
    help="A data set's name or a file.",
)
def tune(dataset: str) -> None:
    """Find the best model of a data set (not in this version yet).

    No negative labels are needed: the search maximises AUL_PU.
    """
    raise NotYetAvailableError(
        f"'pubench tune' can not tune '{dataset}' yet: ProbTagging and the search are not part of this version; what "
        "works is 'pubench evaluate' for scores you have, and 'pubench datasets' for data."
    )

"""`pubench evaluate`."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pubench.cli.options import examples, json_option

if TYPE_CHECKING:
    from pubench.types import Sampling

PLOT_SUFFIXES = (".png", ".svg", ".pdf")


def _check_plot(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:  # noqa: ARG001
    if value is None:
        return None
    if value.suffix.lower() not in PLOT_SUFFIXES:
        raise click.BadParameter(f"'{value}' must end in {', '.join(PLOT_SUFFIXES)}.")
    if not value.absolute().parent.is_dir():
        raise click.BadParameter(f"folder '{value.parent}' does not exist.")
    return value


@click.command(
    epilog=examples(
        "pubench evaluate scores.csv --label bought --score model_a",
        "pubench evaluate scores.csv --label bought --score model_a --against model_b --plot lift.png",
        "pubench evaluate scores.parquet --label bought --score model_a --share 0.01 --json",
    )
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path))
@click.option("--label", required=True, metavar="COL", help="The column that marks labelled positives.")
@click.option(
    "--score", required=True, metavar="COL", help="The column of scores to evaluate; higher is more positive."
)
@click.option(
    "--against",
    multiple=True,
    metavar="COL",
    help="A column of another model's scores to compare with; may be repeated.",
)
@click.option("--positive", metavar="VALUE", help="The label of positives, if it is not 1 or true.")
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, help="Confidence level of the intervals."
)
@click.option(
    "--share", type=float, metavar="P", help="Also evaluate the top P of the rows, for example 0.01."
)
@click.option(
    "--prior", type=float, metavar="P", help="The share of positives, if known: adds a range for AUC."
)
@click.option(
    "--sampling",
    type=click.Choice(["single-training-set", "case-control"]),
    help="With --prior: the labelled rows are part of the scored population, or were collected apart. "
    "Without it both are shown.",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=_check_plot,
    help="Write the lift curves to this .png, .svg or .pdf file.",
)
@json_option
def evaluate(  # noqa: PLR0913 - a command's options
    file: Path,
    *,
    label: str,
    score: str,
    against: Sequence[str],
    positive: str | None,
    confidence: float,
    share: float | None,
    prior: float | None,
    sampling: "Sampling | None",
    plot: Path | None,
    as_json: bool,
) -> None:
    """Evaluate scores without negative labels, or compare models.

    FILE is CSV or Parquet, with a column of scores per model. Prints AUL_PU with its interval, and which model is better.
    """
    from pubench.cli.render import terminal  # noqa: PLC0415 - heavy imports happen when used
    from pubench.cli.render.evaluation_view import print_evaluation  # noqa: PLC0415
    from pubench.evaluation import EvaluationRequest, read_scores  # noqa: PLC0415
    from pubench.evaluation import evaluate as evaluate_columns  # noqa: PLC0415
    from pubench.metrics.lift_display import save_lift_curves  # noqa: PLC0415

    request = EvaluationRequest(label, (score, *against), positive, confidence, share, prior, sampling)
    with terminal.busy(f"Evaluating {file.name}"):
        columns = read_scores(file, request)
        result = evaluate_columns(columns, request)
        if plot is not None:
            save_lift_curves(columns.s, columns.scores, confidence, plot)
            terminal.notice(f"The lift curves are in {plot}.")
    if as_json:
        terminal.print_json(asdict(result))
    else:
        print_evaluation(result)

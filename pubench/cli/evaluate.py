"""`pubench evaluate`."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pubench.cli.options import examples, json_option

if TYPE_CHECKING:
    from pubench.types import Sampling

PICTURES = (".png", ".svg", ".pdf")


def _picture(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:  # noqa: ARG001
    if value is None:
        return None
    if value.suffix.lower() not in PICTURES:
        raise click.BadParameter(f"'{value}' must end in {', '.join(PICTURES)}.")
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
    "--score", required=True, metavar="COL", help="The column of scores to judge; higher is more positive."
)
@click.option(
    "--against", multiple=True, metavar="COL", help="Another model's scores to compare with; may be repeated."
)
@click.option("--positive", metavar="VALUE", help="The label of positives, where it is not 1 or true.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the intervals.")
@click.option("--share", type=float, metavar="P", help="Also judge the top P of the rows, for instance 0.01.")
@click.option(
    "--prior", type=float, metavar="P", help="The share of positives, if you know it: adds an AUC band."
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
    callback=_picture,
    help="Draw the lift curves here.",
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
    """Judge scores without negative labels, or compare models.

    FILE is CSV or Parquet, a row per customer, a column per model. Prints AUL_PU, how sure it is, and who wins.
    """
    from pubench.cli.render import terminal  # noqa: PLC0415 - heavy imports happen when used
    from pubench.cli.render.evaluation import evaluation as show  # noqa: PLC0415
    from pubench.evaluation import Question, judge, read_scored  # noqa: PLC0415
    from pubench.pictures import save_lift_curves  # noqa: PLC0415

    question = Question(label, (score, *against), positive, confidence, share, prior, sampling)
    with terminal.busy(f"Judging {file.name}"):
        scored = read_scored(file, question)
        answer = judge(scored, question)
        if plot is not None:
            save_lift_curves(scored.s, scored.scores, confidence, plot)
            terminal.notice(f"the lift curves are in {plot}.")
    if as_json:
        terminal.print_json(asdict(answer))
    else:
        show(answer)

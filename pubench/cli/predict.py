"""`pubench predict`."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from pubench.cli.options import examples, json_option, plugin_options, threads_option
from pubench.cli.plugins import open_registry


@click.command(
    epilog=examples(
        "pubench predict runs/customers new.parquet --out scores.parquet",
        "pubench predict runs/customers new.csv --out best.csv --top 1000 --id customer_no --evidence",
        "pubench predict runs/customers customers.csv --out calls.csv --unlabeled-only --top 1000 --prior 0.02",
    )
)
@click.argument("run_dir", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), metavar="FILE", help="A .parquet or .csv file."
)
@click.option("--top", type=int, metavar="N", help="Write only the best N rows, best first.")
@click.option(
    "--id",
    "id_column",
    metavar="COL",
    help="The column of row ids.  [default: that of the training data, else row numbers]",
)
@click.option(
    "--evidence",
    type=int,
    is_flag=False,
    flag_value=3,
    default=0,
    metavar="[N]",
    help="Name the N labelled positives nearest to each row; 3 without a number.",
)
@click.option(
    "--unlabeled-only", is_flag=True, help="Leave out the labelled rows that the model was trained on."
)
@click.option(
    "--prior",
    type=float,
    metavar="P",
    help="The share of positives among all training rows, for probabilities.  [default: an estimate, where there is one]",
)
@threads_option
@plugin_options
@json_option
def predict(  # noqa: PLR0913 - a command's options
    run_dir: Path,
    file: Path,
    *,
    out: Path,
    top: int | None,
    id_column: str | None,
    evidence: int,
    unlabeled_only: bool,
    prior: float | None,
    threads: int | None,
    plugin_files: Sequence[Path],
    strict_plugins: bool,
    as_json: bool,
) -> None:
    """Score the rows of a file with a saved model.

    FILE may be larger than memory. Its columns are found by name, other columns are ignored. The model is verified
    before it is used.
    """
    from pubench.cli.render import model_view, terminal  # noqa: PLC0415 - heavy imports happen when used
    from pubench.model.predict import PredictRequest, score_file  # noqa: PLC0415
    from pubench.model.saved import find_model, load_model  # noqa: PLC0415
    from pubench.model.score_file import check_out  # noqa: PLC0415
    from pubench.system.machine import cores  # noqa: PLC0415
    from pubench.types import Resources  # noqa: PLC0415

    request = PredictRequest(file, out, id_column, top, evidence, unlabeled_only, prior)
    check_out(out)
    model = load_model(find_model(run_dir), open_registry(plugin_files, strict=strict_plugins))
    for notice in model.notices:
        terminal.notice(notice)
    with terminal.row_progress(f"Scoring {file.name}") as progress:
        result = score_file(model, request, Resources(n_threads=threads or cores()), progress)
    for notice in result.notices:
        terminal.notice(notice)
    if as_json:
        terminal.print_json({"out": str(out), **asdict(result)})
    else:
        model_view.print_prediction(result, out)

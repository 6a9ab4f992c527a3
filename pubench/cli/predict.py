"""`pubench predict`."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from pubench.cli.options import examples, json_option, plugin_options
from pubench.cli.plugins import open_registry
from pubench.cli.training import threads_option


@click.command(
    epilog=examples(
        "pubench predict runs/customers new.parquet --out scores.parquet",
        "pubench predict runs/customers new.csv --out best.csv --top 1000 --id customer_no --evidence",
    )
)
@click.argument("run_dir", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), metavar="FILE", help="A .parquet or .csv file."
)
@click.option("--top", type=int, metavar="N", help="Only the best N rows, the best first.")
@click.option(
    "--id",
    "id_column",
    metavar="COL",
    help="The column that names rows.  [default: that of the training data, else row numbers]",
)
@click.option(
    "--evidence",
    type=int,
    is_flag=False,
    flag_value=3,
    default=0,
    metavar="[N]",
    help="Name the N labelled positives that each row is nearest to, 3 without a number.",
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
    threads: int | None,
    plugin_files: Sequence[Path],
    strict_plugins: bool,
    as_json: bool,
) -> None:
    """Score the rows of a file with a saved model.

    FILE may be larger than memory. Its columns are found by name, others are ignored. The model is verified before it
    is used.
    """
    from pubench.cli.render import terminal  # noqa: PLC0415 - heavy imports happen when used
    from pubench.cli.render.predict import scored  # noqa: PLC0415
    from pubench.cli.render.progress import row_count  # noqa: PLC0415
    from pubench.machine import cores  # noqa: PLC0415
    from pubench.saving.models import find_model, load_model  # noqa: PLC0415
    from pubench.scoring.scoring import Wish, score_file  # noqa: PLC0415
    from pubench.scoring.writing import check_out  # noqa: PLC0415
    from pubench.types import Resources  # noqa: PLC0415

    wish = Wish(file, out, id_column, top, evidence)
    check_out(out)
    model = load_model(find_model(run_dir), open_registry(plugin_files, strict=strict_plugins))
    for notice in model.notices:
        terminal.notice(notice)
    with row_count(f"Scoring {file.name}") as progress:
        done = score_file(model, wish, Resources(n_threads=threads or cores()), progress)
    for notice in done.notices:
        terminal.notice(notice)
    if as_json:
        terminal.print_json({"out": str(out), **asdict(done)})
    else:
        scored(done, out)

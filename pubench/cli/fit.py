"""`pubench fit`."""

from collections.abc import Sequence
from pathlib import Path

import click

from pubench.cli.options import examples, json_option, plugin_options, training_options
from pubench.cli.plugins import open_registry


@click.command(
    epilog=examples(
        "pubench fit --dataset customers.csv --label bought --id customer_no --out runs/customers",
        "pubench fit --dataset creditcard --learner xgboost --set learner.trees=100 --out runs/cards",
        "pubench fit --dataset customers.csv --label bought --config runs/customers/config.toml --out runs/again",
    )
)
@training_options
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    metavar="RUN_DIR",
    help="The model folder to write.",
)
@click.option("--method", metavar="NAME", help="The method.  [default: probtagging]")
@click.option("--similarity", metavar="NAME", help="The similarity that the method uses.  [default: knn]")
@click.option("--learner", metavar="NAME", help="The base learner.  [default: lightgbm]")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KIND.PARAM=VALUE",
    help="Set a parameter, as in learner.trees=100; may be repeated.",
)
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A TOML file with the tables method, similarity and learner, such as RUN_DIR/config.toml, or with a blend of "
    "these; other options override it.",
)
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Random seed.  [default: 0]")
@click.option("--force", is_flag=True, help="Replace a saved model in RUN_DIR.")
@plugin_options
@json_option
def fit(  # noqa: PLR0913 - a command's options
    *,
    dataset: str,
    label: str | None,
    positive: str | None,
    drop: Sequence[str],
    id_column: str | None,
    out: Path,
    method: str | None,
    similarity: str | None,
    learner: str | None,
    settings: Sequence[str],
    config: Path | None,
    seed: int | None,
    rows: int | None,
    theta_o: float | None,
    device: str,
    threads: int | None,
    force: bool,
    plugin_files: Sequence[Path],
    strict_plugins: bool,
    as_json: bool,
) -> None:
    """Train one model on all rows and save it.

    RUN_DIR appears whole or not at all; 'pubench predict RUN_DIR FILE' scores other rows with the model.
    """
    from pubench.api.plugin import Kind  # noqa: PLC0415
    from pubench.cli.render import model_view, terminal  # noqa: PLC0415 - heavy imports happen when used
    from pubench.data.sources import DatasetRequest  # noqa: PLC0415
    from pubench.model.fit import FitRequest, fit_and_save  # noqa: PLC0415
    from pubench.system.cache import machine_cache  # noqa: PLC0415
    from pubench.types import Resources  # noqa: PLC0415

    names = {Kind.METHOD: method, Kind.SIMILARITY: similarity, Kind.LEARNER: learner}
    request = FitRequest(
        dataset=DatasetRequest(dataset, label, positive, tuple(drop), id_column, rows),
        out=out,
        names={kind: name for kind, name in names.items() if name},
        settings=settings,
        config=config,
        seed=seed,
        theta_o=theta_o,
        device=device,
        n_threads=threads,
        replace=force,
    )
    registry = open_registry(plugin_files, strict=strict_plugins)
    with terminal.share_progress(f"Training on {dataset}") as progress:
        result = fit_and_save(
            request, registry, Resources(keep=machine_cache(terminal.notice), progress=progress)
        )
    for notice in result.notices:
        terminal.notice(notice)
    if as_json:
        terminal.print_json(model_view.fit_json(result, out))
    else:
        model_view.print_fit(result, out)

"""`pubench tune`."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from pubench.cli.durations import Duration
from pubench.cli.options import examples, json_option, plugin_options
from pubench.cli.plugins import open_registry
from pubench.cli.training import training_options

#: What is done where neither trials nor time are given.
DEFAULT_TRIALS = 50
DEFAULT_SECONDS = 600.0


@click.command(
    epilog=examples(
        "pubench tune --dataset bank1",
        "pubench tune --dataset customers.csv --label bought --id customer_no --timeout 5m",
        "pubench tune --dataset creditcard --learner lightgbm --learner xgboost --trials 100 --out runs/cards",
    )
)
@training_options
@click.option("--trials", type=click.IntRange(min=1), metavar="N", help="Try so many.  [default: 50]")
@click.option(
    "--timeout",
    type=Duration(),
    metavar="TIME",
    help="Be done after so long, as 90s, 5m or 1h.  [default: 10m]",
)
@click.option("--method", multiple=True, metavar="NAME", help="Search this method only; may be repeated.")
@click.option(
    "--similarity",
    multiple=True,
    metavar="NAME",
    help="The same for similarities; without --method, by methods that use one.",
)
@click.option("--learner", multiple=True, metavar="NAME", help="The same for learners.")
@click.option(
    "--space",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A TOML file that narrows the search, with tables such as [learner.lightgbm] depth = [2, 4].",
)
@click.option("--folds", type=click.IntRange(min=2), default=3, show_default=True, metavar="N")
@click.option("--repeats", type=click.IntRange(min=1), default=1, show_default=True, metavar="N")
@click.option(
    "--holdout",
    type=click.FloatRange(0, 0.9, min_open=True),
    default=0.25,
    show_default=True,
    metavar="SHARE",
    help="Rows that the search never sees, to judge its result.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Trials side by side.",
)
@click.option(
    "--memory",
    type=click.FloatRange(min=0, min_open=True),
    metavar="GIB",
    help="Limit of each worker's memory.",
)
@click.option(
    "--storage", metavar="URL", help="Share the study by a database: postgresql+psycopg://USER@HOST/NAME."
)
@click.option("--no-racing", is_flag=True, help="Judge every trial on all folds.")
@click.option("--no-ensemble", is_flag=True, help="Take the best trial, never a blend of several.")
@click.option("--resume", is_flag=True, help="Go on with the run in --out; the same command does so too.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="[default: a new folder for the run]"
)
@click.option("--quiet", is_flag=True, help="Show the result only.")
@plugin_options
@json_option
def tune(  # noqa: PLR0913 - a command's options
    *,
    dataset: str,
    label: str | None,
    positive: str | None,
    drop: Sequence[str],
    id_column: str | None,
    trials: int | None,
    timeout: float | None,
    method: Sequence[str],
    similarity: Sequence[str],
    learner: Sequence[str],
    space: Path | None,
    folds: int,
    repeats: int,
    holdout: float,
    rows: int | None,
    theta_o: float | None,
    seed: int,
    device: str,
    threads: int | None,
    workers: int,
    memory: float | None,
    storage: str | None,
    no_racing: bool,
    no_ensemble: bool,
    resume: bool,
    out: Path | None,
    quiet: bool,
    plugin_files: Sequence[Path],
    strict_plugins: bool,
    as_json: bool,
) -> None:
    """Find the best model of a data set.

    No negative labels are needed: the search maximises AUL_PU, the chance that a labelled positive scores above a random row, on folds of the labelled
    rows. The result, the best trial or a blend of several, is judged on rows that the search never saw, beside the default,
    naive and bagging. Ctrl-C ends the search and goes on with what there is; the same command continues a run that was
    cut off.
    """
    from pubench.cli.render import terminal  # noqa: PLC0415 - heavy imports happen when used
    from pubench.cli.render.tune import tuned_card, tuned_json, watching  # noqa: PLC0415
    from pubench.data.sources import Wanted  # noqa: PLC0415
    from pubench.keeping import machine_cache  # noqa: PLC0415
    from pubench.plugin_api import Kind  # noqa: PLC0415
    from pubench.tuner.orders import TuneOrder  # noqa: PLC0415
    from pubench.tuner.tuning import tune as tune_as  # noqa: PLC0415
    from pubench.tuning.inner import Plan  # noqa: PLC0415
    from pubench.types import Resources  # noqa: PLC0415

    unlimited = trials is None and timeout is None
    order = TuneOrder(
        wanted=Wanted(dataset, label, positive, tuple(drop), id_column, rows),
        out=out,
        names={Kind.METHOD: method, Kind.SIMILARITY: similarity, Kind.LEARNER: learner},
        space=space,
        trials=DEFAULT_TRIALS if unlimited else trials,
        seconds=DEFAULT_SECONDS if unlimited else timeout,
        plan=Plan(folds=folds, repeats=repeats),
        holdout=holdout,
        seed=seed,
        theta_o=theta_o,
        device=device,
        n_threads=threads,
        workers=workers,
        memory_bytes=None if memory is None else int(memory * 2**30),
        storage=storage,
        racing=not no_racing,
        ensemble=not no_ensemble,
        plugin_files=tuple(plugin_files),
        resume=resume,
        command=("pubench", *sys.argv[1:]),
    )
    registry = open_registry(plugin_files, strict=strict_plugins)
    with watching(order, quiet=quiet) as (watcher, stop):
        tuned = tune_as(order, registry, Resources(keep=machine_cache(terminal.notice)), watcher, stop)
    for notice in tuned.notices:
        terminal.notice(notice)
    if as_json:
        terminal.print_json(tuned_json(tuned))
    else:
        tuned_card(tuned)

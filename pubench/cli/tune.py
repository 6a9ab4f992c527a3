"""`pubench tune`."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from pubench.cli.options import (
    MAX_THREADS,
    Duration,
    Number,
    examples,
    json_option,
    plugin_options,
    training_options,
)
from pubench.cli.plugins import open_registry


@click.command(
    epilog=examples(
        "pubench tune --dataset bank1",
        "pubench tune --dataset customers.csv --label bought --id customer_no --timeout 5m",
        "pubench tune --dataset customers.csv --label bought --prior 0.02 --top 500 --gain 40 --cost 2",
        "pubench tune --dataset creditcard --learner lightgbm --learner xgboost --trials 100 --out runs/cards",
    )
)
@training_options
@click.option("--trials", type=click.IntRange(min=1), metavar="N", help="Number of trials.  [default: 50]")
@click.option(
    "--timeout",
    type=Duration(),
    metavar="TIME",
    help="Time limit for everything, as 90s, 5m or 1h.  [default: 10m]",
)
@click.option("--method", multiple=True, metavar="NAME", help="Search only this method; may be repeated.")
@click.option(
    "--similarity",
    multiple=True,
    metavar="NAME",
    help="Search only this similarity; may be repeated. Without --method, only methods that use one.",
)
@click.option("--learner", multiple=True, metavar="NAME", help="Search only this learner; may be repeated.")
@click.option(
    "--baselines",
    multiple=True,
    default=("all",),
    metavar="all|paper|none|NAME",
    help="Methods to compare with: all that are searched by default, the paper's five, none, or this one; may be repeated.  [default: all]",
)
@click.option(
    "--space",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A TOML file that narrows the search, with tables such as [learner.lightgbm] depth = [2, 4].",
)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    default=5,
    show_default=True,
    metavar="N",
    help="Number of folds; fewer where there are fewer labelled rows.",
)
@click.option(
    "--repeats",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of repeats of the folds, each with another split.",
)
@click.option(
    "--holdout",
    type=Number(0, 0.9, min_open=True),
    default=0.25,
    show_default=True,
    metavar="SHARE",
    help="Share of rows that the search never uses, for the final evaluation.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Random seed."
)
@click.option(
    "--workers",
    type=click.IntRange(1, MAX_THREADS),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of trials in parallel.",
)
@click.option(
    "--memory",
    type=Number(0, 2**20, min_open=True),
    metavar="GIB",
    help="Memory limit of each worker, in GiB.",
)
@click.option(
    "--storage",
    metavar="URL",
    help="Store the study in a shared database: postgresql+psycopg://USER@HOST/NAME.",
)
@click.option("--no-racing", is_flag=True, help="Evaluate every trial on all folds; stop none early.")
@click.option("--no-ensemble", is_flag=True, help="Use the best trial, never a blend of several.")
@click.option(
    "--no-refit",
    is_flag=True,
    help="Leave the model that was judged on the holdout; by default it is trained again on all rows.",
)
@click.option(
    "--prior",
    type=float,
    metavar="P",
    help="The share of positives among all rows, for whom to call.  [default: an estimate, where there is one]",
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="N",
    help="Show what the best N unlabeled rows hold, too; may be repeated.",
)
@click.option(
    "--gain", type=float, metavar="AMOUNT", help="What a positive brings; with --cost: where to stop calling."
)
@click.option("--cost", type=float, metavar="AMOUNT", help="What each call costs.")
@click.option("--resume", is_flag=True, help="Resume the run in --out; repeating the command does the same.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="The run folder.  [default: a new one]"
)
@click.option("--quiet", is_flag=True, help="Show only the result.")
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
    baselines: Sequence[str],
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
    no_refit: bool,
    prior: float | None,
    top: Sequence[int],
    gain: float | None,
    cost: float | None,
    resume: bool,
    out: Path | None,
    quiet: bool,
    plugin_files: Sequence[Path],
    strict_plugins: bool,
    as_json: bool,
) -> None:
    """Find the best model for a data set.

    No negative labels are needed: the search maximises AUL_PU, the probability that a labelled positive scores above a
    random row, in cross-validation. The result, a blend of several trials or one of them, is evaluated on rows that the
    search never used, ranked there with every other method, and trained again on all rows. Ctrl-C ends the search and trains the final
    models with the trials so far; the same command resumes an interrupted run.
    """
    from pubench.api.plugin import Kind  # noqa: PLC0415
    from pubench.cli.render import terminal  # noqa: PLC0415 - heavy imports happen when used
    from pubench.cli.render.tune_progress import show_progress  # noqa: PLC0415
    from pubench.cli.render.tune_view import print_result, result_json  # noqa: PLC0415
    from pubench.crossfit.folds import FoldPlan  # noqa: PLC0415
    from pubench.data.sources import DatasetRequest  # noqa: PLC0415
    from pubench.system.cache import machine_cache  # noqa: PLC0415
    from pubench.tuning.command import tune as run_tune  # noqa: PLC0415
    from pubench.tuning.request import SearchRequest, TuneRequest  # noqa: PLC0415
    from pubench.tuning.whom_to_call import CallRequest  # noqa: PLC0415
    from pubench.types import Resources  # noqa: PLC0415

    search = SearchRequest(
        plan=FoldPlan(folds=folds, repeats=repeats),
        holdout=holdout,
        racing=not no_racing,
        workers=workers,
        memory_bytes=None if memory is None else int(memory * 2**30),
        seed=seed,
        storage=storage,
        ensemble=not no_ensemble,
        refit=not no_refit,
    ).limited(trials, timeout)
    request = TuneRequest(
        dataset=DatasetRequest(dataset, label, positive, tuple(drop), id_column, rows),
        search=search,
        out=out,
        names={Kind.METHOD: method, Kind.SIMILARITY: similarity, Kind.LEARNER: learner},
        baselines=tuple(baselines),
        space=space,
        theta_o=theta_o,
        device=device,
        n_threads=threads,
        plugin_files=tuple(plugin_files),
        resume=resume,
        calls=CallRequest(prior, tuple(top), gain, cost),
        command=("pubench", *sys.argv[1:]),
    )
    registry = open_registry(plugin_files, strict=strict_plugins)
    with show_progress(search, quiet=quiet) as (callbacks, stop):
        result = run_tune(request, registry, Resources(keep=machine_cache(terminal.notice)), callbacks, stop)
    for notice in result.notices:
        terminal.notice(notice)
    if as_json:
        terminal.print_json(result_json(result))
    else:
        print_result(result)

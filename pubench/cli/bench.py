"""`pubench bench`."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from pubench.cli.durations import Duration
from pubench.cli.options import examples, json_option, plugin_options
from pubench.cli.plugins import open_registry

if TYPE_CHECKING:
    from pubench.experiment.benchmark import BenchOrder
    from pubench.registry import Registry

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt])(?:i?b)?", re.IGNORECASE)


class Size(click.ParamType[int]):
    """An amount of memory such as 500M or 4G, in bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the bytes."""
        if isinstance(value, int):
            return value
        found = _SIZE.fullmatch(str(value).strip())
        if found is None or float(found[1]) == 0:
            self.fail(f"'{value}' is no amount of memory; write it as 500M or 4G.", param, ctx)
        return int(float(found[1]) * 1024 ** ("kmgt".index(found[2].lower()) + 1))


def complete_suite(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Offer the suites that come with pubench, or else files."""
    from pubench.experiment.shipped import shipped_suites  # noqa: PLC0415 - heavy imports happen when used

    names = ["list", *(path.stem for path in shipped_suites())]
    fitting = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return fitting or [CompletionItem(incomplete, type="file")]


@click.command(
    epilog=examples(
        "pubench bench list",
        "pubench bench smoke",
        "pubench bench paper-table3 --only dataset=creditcard --only method=naive --only method=probtagging",
        "pubench bench mine.toml --dry-run",
        "pubench bench real --workers 4 --time-limit 30m --memory-limit 4G --retry timeout",
    )
)
@click.argument("suite", metavar="SUITE|FILE|list", shell_complete=complete_suite)
@click.option(
    "--only",
    multiple=True,
    metavar="NAME=VALUE",
    help="Only jobs with this dataset, method, similarity, learner, theta_o, fold or seed; may be repeated.",
)
@click.option("--dry-run", is_flag=True, help="Show what would run and how long it may take; run nothing.")
@click.option("--resume", is_flag=True, help="Go on with the run in --out; the same command does so too.")
@click.option(
    "--retry",
    multiple=True,
    type=click.Choice(("failed", "timeout", "out-of-memory", "all")),
    help="Run jobs again that ended so; may be repeated.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Jobs side by side.",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="Of a job.  [default: the cores, shared by the jobs side by side]",
)
@click.option(
    "--time-limit",
    type=Duration(),
    metavar="TIME",
    help="Of a job, as 90s, 5m or 1h.  [default: the suite's]",
)
@click.option(
    "--memory-limit", type=Size(), metavar="SIZE", help="Of a job, as 500M or 4G.  [default: the suite's]"
)
@click.option(
    "--cluster",
    metavar="ADDRESS|local",
    help="Run jobs on a Dask cluster, as tcp://HOST:8786, or on one of this machine.",
)
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Instead of the suite's seeds.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="[default: a folder below runs, named as the suite]",
)
@click.option("--quiet", is_flag=True, help="Show the result only.")
@plugin_options
@json_option
def bench(  # noqa: PLR0913 - a command's options
    *,
    suite: str,
    only: Sequence[str],
    dry_run: bool,
    resume: bool,
    retry: Sequence[str],
    workers: int,
    threads: int | None,
    time_limit: float | None,
    memory_limit: int | None,
    cluster: str | None,
    seed: int | None,
    out: Path | None,
    quiet: bool,
    plugin_files: Sequence[Path],
    strict_plugins: bool,
    as_json: bool,
) -> None:
    """Run a suite of methods on data sets; fill the paper's tables.

    Each run has a process of its own with limits; a crash, a time-out or a lack of memory is recorded, and the suite goes
    on. The same command goes on with a run that was cut off: what has a record is not run again. 'pubench bench list'
    shows the suites. Exit code 1: not a single run went well.
    """
    if suite == "list":
        from pubench.cli.render.bench import list_suites  # noqa: PLC0415 - heavy imports happen when used

        list_suites(as_json=as_json)
        return
    from pubench.experiment.servers import local_servers  # noqa: PLC0415

    files = tuple(str(path.absolute()) for path in plugin_files)
    # First of all: servers load their libraries while this process loads its own and plans.
    with local_servers(0 if dry_run or cluster is not None else workers, files, threads) as servers:
        from pubench.cli.render import bench as render  # noqa: PLC0415
        from pubench.experiment.benchmark import RETRIES, BenchOrder  # noqa: PLC0415
        from pubench.experiment.planning import make_plan  # noqa: PLC0415
        from pubench.experiment.shipped import find_suite  # noqa: PLC0415
        from pubench.paths import runs_folder  # noqa: PLC0415

        asked = find_suite(suite)
        registry = open_registry(plugin_files, strict=strict_plugins)
        order = BenchOrder(
            suite=asked,
            plan=make_plan(asked, registry, only, None if seed is None else (seed,)),
            out=out or runs_folder() / asked.name,
            resume=resume,
            retry=frozenset().union(*(RETRIES[name] for name in retry)),
            workers=workers,
            servers=servers,
            threads=threads,
            seconds=time_limit,
            memory_bytes=memory_limit,
            cluster=cluster,
            plugin_files=files,
        )
        if dry_run:
            render.show_plan(order, as_json=as_json)
        else:
            _run(order, registry, quiet=quiet, as_json=as_json)


def _run(order: "BenchOrder", registry: "Registry", *, quiet: bool, as_json: bool) -> None:
    from pubench.cli.render import bench as render  # noqa: PLC0415
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.experiment.benchmark import bench as bench_as  # noqa: PLC0415

    try:
        with render.watching(order, quiet=quiet) as watcher:
            benched = bench_as(order, registry, watcher)
    except KeyboardInterrupt:
        terminal.notice("Stopped; what was done is recorded, and the same command goes on.")
        raise click.Abort from None
    for notice in benched.notices:
        terminal.notice(notice)
    if as_json:
        terminal.print_json(render.benched_json(benched))
    else:
        render.benched_card(benched)
    if not benched.has_result:
        raise click.exceptions.Exit(1)

"""`pubench bench`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from pubench.cli.options import MAX_THREADS, Duration, Size, examples, json_option, plugin_options
from pubench.cli.plugins import open_registry

if TYPE_CHECKING:
    from pubench.api.registry import Registry
    from pubench.bench.runner import BenchRequest
    from pubench.workers.server import ForkServer


def complete_suite(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Complete the names of the suites that come with pubench, or else files."""
    from pubench.bench.suite_file import shipped_suites  # noqa: PLC0415 - heavy imports happen when used

    names = ["list", *(path.stem for path in shipped_suites())]
    matching = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return matching or [CompletionItem(incomplete, type="file")]


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
    help="Run only jobs with this dataset, method, similarity, learner, theta_o, fold or seed; may be repeated.",
)
@click.option("--dry-run", is_flag=True, help="Show the jobs and their estimated time; run nothing.")
@click.option("--resume", is_flag=True, help="Resume the run in --out; repeating the command does the same.")
@click.option(
    "--retry",
    multiple=True,
    type=click.Choice(("failed", "timeout", "out-of-memory", "all")),
    help="Run jobs with this status again; may be repeated.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, MAX_THREADS),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of jobs in parallel.",
)
@click.option(
    "--threads",
    type=click.IntRange(1, MAX_THREADS),
    metavar="N",
    help="Number of threads of each job.  [default: the cores divided by --workers]",
)
@click.option(
    "--time-limit",
    type=Duration(),
    metavar="TIME",
    help="Time limit of each job, as 90s, 5m or 1h.  [default: the suite's]",
)
@click.option(
    "--memory-limit",
    type=Size(),
    metavar="SIZE",
    help="Memory limit of each job, as 500M or 4G.  [default: the suite's]",
)
@click.option(
    "--cluster",
    metavar="ADDRESS|local",
    help="Run jobs on a Dask cluster, as tcp://HOST:8786, or on a local one.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", help="Use this seed instead of the suite's seeds."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The run folder.  [default: runs/SUITE]",
)
@click.option("--quiet", is_flag=True, help="Show only the result.")
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
    """Run a suite of methods on data sets.

    Each job runs in its own process with limits; crashes, timeouts and exceeded memory are recorded, and the suite
    continues. The same command resumes an interrupted run: jobs with a record are not repeated. 'pubench bench list'
    shows the suites. Exit code 1: all jobs failed.
    """
    if suite == "list":
        from pubench.cli.render.bench_view import print_suites  # noqa: PLC0415 - heavy imports happen when used

        print_suites(as_json=as_json)
        return
    from pubench.bench.job_server import local_servers  # noqa: PLC0415

    files = tuple(str(path.absolute()) for path in plugin_files)
    # Started first: servers load their libraries while this process loads its own and makes the plan.
    with local_servers(0 if dry_run or cluster is not None else workers, files, threads) as servers:
        from pubench.bench.plan import make_plan  # noqa: PLC0415
        from pubench.bench.runner import RETRIES, BenchRequest  # noqa: PLC0415
        from pubench.bench.suite_file import find_suite  # noqa: PLC0415
        from pubench.cli.render import bench_view as view  # noqa: PLC0415
        from pubench.system.paths import runs_folder  # noqa: PLC0415

        contents = find_suite(suite)
        registry = open_registry(plugin_files, strict=strict_plugins)
        request = BenchRequest(
            suite=contents,
            plan=make_plan(contents, registry, only, None if seed is None else (seed,)),
            out=out or runs_folder() / contents.name,
            resume=resume,
            retry=frozenset().union(*(RETRIES[name] for name in retry)),
            workers=workers,
            threads=threads,
            seconds=time_limit,
            memory_bytes=memory_limit,
            cluster=cluster,
            plugin_files=files,
        )
        if dry_run:
            view.print_plan(request, as_json=as_json)
        else:
            _run(request, registry, servers, quiet=quiet, as_json=as_json)


def _run(
    request: "BenchRequest",
    registry: "Registry",
    servers: "Sequence[ForkServer]",
    *,
    quiet: bool,
    as_json: bool,
) -> None:
    from pubench.bench.runner import run_suite  # noqa: PLC0415
    from pubench.cli.render import bench_view as view  # noqa: PLC0415
    from pubench.cli.render import terminal  # noqa: PLC0415

    try:
        with view.show_progress(request, quiet=quiet) as callbacks:
            result = run_suite(request, registry, servers, callbacks)
    except KeyboardInterrupt:
        terminal.notice("Stopped; finished jobs are recorded, and the same command resumes the run.")
        raise click.Abort from None
    for notice in result.notices:
        terminal.notice(notice)
    if as_json:
        terminal.print_json(view.result_json(result))
    else:
        view.print_result(result)
    if not result.has_result:
        raise click.exceptions.Exit(1)

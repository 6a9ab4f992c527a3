"""Servers of jobs: each forks a process per job, after it has loaded what jobs share.

Light to import: servers are started before anything else, and load their libraries while the runner loads its own.
"""

import contextlib
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from pubench.system.machine import cores
from pubench.workers.channel import Channel, Message
from pubench.workers.limits import pin_to
from pubench.workers.server import ForkedJob, ForkServer, serve_forks


def job_server(n_threads: int, plugin_files: Sequence[str] = (), cpus: Sequence[int] = ()) -> ForkServer:
    """Return a server that runs one job at a time; `pubench.bench.executors.run_isolated` runs a job on it.

    Args:
        n_threads: of each job.
        plugin_files: single-file plugins that jobs load.
        cpus: the cores that jobs are pinned to; none: all.
    """
    pinned = ",".join(map(str, cpus))
    return ForkServer(serve_jobs, (str(n_threads), pinned, *plugin_files), n_threads)


@contextlib.contextmanager
def local_servers(
    workers: int, plugin_files: Sequence[str] = (), threads: int | None = None
) -> Iterator[list[ForkServer]]:
    """Yield servers for jobs side by side on this machine, and close them in the end.

    As many as there are cores are started at once, the others when they get a job: there may be few jobs.

    Args:
        workers: number of jobs at a time; each is pinned to cores of its own.
        plugin_files: single-file plugins that jobs load.
        threads: of each job; None: its share of the cores.
    """
    servers = [_local_server(number, workers, plugin_files, threads) for number in range(workers)]
    try:
        for server in servers[: cores()]:
            server.start()
        yield servers
    finally:
        for server in servers:
            server.close()


def _local_server(number: int, workers: int, plugin_files: Sequence[str], threads: int | None) -> ForkServer:
    n_threads = threads or max(1, cores() // workers)
    if workers == 1 or not hasattr(os, "sched_getaffinity"):
        return job_server(n_threads, plugin_files)
    available = sorted(os.sched_getaffinity(0))
    cpus = {available[(number * n_threads + core) % len(available)] for core in range(n_threads)}
    return job_server(n_threads, plugin_files, sorted(cpus))


def serve_jobs(channel: Channel, n_threads: str, cpus: str, *plugin_files: str) -> None:
    """The server's side: prepare and fork the jobs that the runner sends."""
    from pubench.api.registry import load_registry  # noqa: PLC0415 - the runner must not load this to start a server
    from pubench.bench.job import JobContext, job_result  # noqa: PLC0415
    from pubench.bench.job_data import Preparation  # noqa: PLC0415
    from pubench.record.environment import hardware  # noqa: PLC0415
    from pubench.record.record import RunSpec  # noqa: PLC0415
    from pubench.system.cache import machine_cache  # noqa: PLC0415

    hardware()  # counts the cores: before this process is pinned to some of them
    pin_to([int(cpu) for cpu in cpus.split(",") if cpu])
    registry = load_registry([Path(file) for file in plugin_files])
    preparation, cache = Preparation(registry), machine_cache()

    def prepare(job: Message) -> ForkedJob:
        spec = RunSpec(**job)
        context = JobContext(registry, plugin_files, cache, int(n_threads), Path(), preparation.prepare(spec))
        return partial(job_result, spec, context)

    serve_forks(channel, prepare)

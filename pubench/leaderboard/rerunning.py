"""Runs a record's spec again, as `pubench bench` runs jobs: the one place of the leaderboard that runs a method."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pubench.errors import DataError
from pubench.experiment.isolation import run_isolated
from pubench.experiment.limits import Limits
from pubench.experiment.planning import Job
from pubench.experiment.servers import Server
from pubench.leaderboard.verification import Rerun
from pubench.machine import free_memory
from pubench.records.record import Record, RunSpec
from pubench.types import Status


@contextmanager
def rerunning(n_threads: int, plugin_files: Sequence[Path], seconds: float) -> Iterator[Rerun]:
    """Yield what runs a spec in a process of its own, with limits, and returns its record.

    A spec whose data is not on this machine is no disagreement: that raises DataError.
    """
    server = Server(n_threads, [str(path.absolute()) for path in plugin_files])

    def rerun(spec: RunSpec) -> Record:
        record = run_isolated(Job(spec), Limits(seconds, free_memory()), server).record
        if record.status is Status.FAILED and record.data is None:
            raise DataError(f"The run {spec.key} can not be done here: {record.reason}")
        return record

    try:
        yield rerun
    finally:
        server.close()

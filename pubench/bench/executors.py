"""Where jobs run: in processes of this machine. See `pubench.bench.dask_cluster` for other machines."""

import queue
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, TypeAlias

from pubench.bench.plan import BenchJob
from pubench.errors import DataError, one_line
from pubench.record.draft import RecordDraft
from pubench.record.environment import hardware
from pubench.record.record import Record, RunSpec
from pubench.record.record_file import read_record
from pubench.types import Status
from pubench.workers.limits import Limits
from pubench.workers.server import CANNOT_WRITE, LOG, RESULT, ForkServer
from pubench.workers.watch import ExitStatus
from pubench.workers.worker import ClosedError

_MAX_LOG_BYTES = 2**16
_MAX_LOG_LINES = 40
_MAX_REASON = 300


@dataclass(frozen=True)
class JobResult:
    """A job that has ended: its record, and the end of its log if it failed."""

    record: Record
    log: str = ""


class Executor(Protocol):
    """Runs jobs."""

    def run(
        self, jobs: Sequence[BenchJob], limits: Limits, started: Callable[[BenchJob], None]
    ) -> Iterator[tuple[BenchJob, JobResult]]:
        """Yield every job with its result, in the order in which they end; each exactly once.

        If the caller stops iterating, the jobs that are running are killed.
        """


_Results: TypeAlias = "queue.SimpleQueue[tuple[BenchJob, JobResult] | BaseException]"


@dataclass(frozen=True)
class LocalExecutor:
    """Runs jobs side by side.

    Attributes:
        servers: of this machine, one per job at a time; closed after a run.
    """

    servers: Sequence[ForkServer]

    def run(
        self, jobs: Sequence[BenchJob], limits: Limits, started: Callable[[BenchJob], None]
    ) -> Iterator[tuple[BenchJob, JobResult]]:
        """Yield every job with its result."""
        waiting: queue.SimpleQueue[BenchJob] = queue.SimpleQueue()
        for job in jobs:
            waiting.put(job)
        results: _Results = queue.SimpleQueue()

        servers = self.servers[: len(jobs)]
        threads = [
            threading.Thread(target=_work, args=(server, waiting, results, limits, started), daemon=True)
            for server in servers
        ]
        for thread in threads:
            thread.start()
        try:
            for _ in jobs:
                result = results.get()
                if isinstance(result, BaseException):
                    raise result
                yield result
        finally:
            for server in servers:
                server.close()
            for thread in threads:
                thread.join()


def _work(
    server: ForkServer,
    waiting: "queue.SimpleQueue[BenchJob]",
    results: _Results,
    limits: Limits,
    started: Callable[[BenchJob], None],
) -> None:
    """Run jobs until there are none left, or the server is closed."""
    try:
        while True:
            job = waiting.get_nowait()
            started(job)
            results.put((job, run_isolated(job, limits, server)))
    except (queue.Empty, ClosedError):
        return
    except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
        results.put(error)


def run_isolated(job: BenchJob, limits: Limits, server: ForkServer) -> JobResult:
    """Run a job in a process of its own on a server, and return its record, whatever happens to it.

    The server watches the process and kills it at a limit (`pubench.workers.watch.watch`); where the system's own limit is
    reached first, the job reports a MemoryError itself (`pubench.bench.job`).

    Raises:
        ClosedError: the server was closed.
        DataError: the folder for temporary files cannot be written; that is no result of the job.
    """
    draft = RecordDraft(environment={"hardware": hardware()})
    if job.problem:
        return JobResult(draft.record(job.spec, Status.FAILED, job.problem))
    with _temporary_folder() as folder:
        exit_status = server.run(job.spec.to_json(), limits, folder)
        log = _end_of(folder / LOG)
        if exit_status is None:
            reason = "The server of jobs died with it; its messages on stderr give the cause."
            return JobResult(draft.record(job.spec, Status.FAILED, reason), log)
        draft.seconds, draft.peak_memory_bytes = {"total": exit_status.seconds}, exit_status.peak_bytes
        if exit_status.code == 0 and not exit_status.exceeded:
            record = _read_result(folder / RESULT, job.spec, draft)
        else:
            record = draft.record(job.spec, *_failure(exit_status, limits, log))
        return JobResult(record, "" if record.status is Status.OK else log)


def _failure(exit_status: ExitStatus, limits: Limits, log: str) -> tuple[Status, str]:
    """Return the status of a job that has written no result, and the reason."""
    if exit_status.code == CANNOT_WRITE:
        raise DataError(
            f"A job could not write its result into {tempfile.gettempdir()}; most likely the disk is full."
        )
    lines = log.strip().splitlines()
    details = f": {one_line(lines[-1])[:_MAX_REASON]}" if lines and exit_status.code > 0 else ""
    return exit_status.failure(limits, details)


def _read_result(path: Path, spec: RunSpec, draft: RecordDraft) -> Record:
    """Return the record that a job has written, with what its process used; or that of a failed job, if it is damaged."""
    try:
        record = read_record(path)
    except DataError as error:
        reason = f"It left no result: {str(error).removeprefix(f'{path}: ')}"
        return draft.record(spec, Status.FAILED, reason)
    if record.spec.key != spec.key:
        return draft.record(spec, Status.FAILED, "It left the result of another job.")
    seconds = {**record.seconds, **draft.seconds}
    return replace(record, spec=spec, seconds=seconds, peak_memory_bytes=draft.peak_memory_bytes)


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    try:
        folder = Path(tempfile.mkdtemp(prefix="pubench-job-"))
    except OSError as error:
        raise DataError(
            f"No job can be run: {tempfile.gettempdir()} cannot be written: {error.strerror}."
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _end_of(log: Path) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _MAX_LOG_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return "\n".join(lines[-_MAX_LOG_LINES:])

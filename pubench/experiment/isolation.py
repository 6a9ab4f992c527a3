"""The runner's side: hands jobs to a server process, and turns whatever comes of them into records."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pubench.errors import DataError, PubenchError, one_line
from pubench.experiment.handing import LOG, NO_ROOM, RECORD, Order
from pubench.experiment.limits import Limits
from pubench.experiment.planning import Job
from pubench.experiment.surroundings import hardware
from pubench.records.files import read_record
from pubench.records.record import Record
from pubench.types import Status

_SERVER = "pubench.cli.benchmark_job"
#: Libraries that start threads by themselves look here.
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_PATIENCE = 5.0
_LOG_LINES = 40


class ClosedError(PubenchError):
    """Jobs are not run any more."""


@dataclass(frozen=True)
class Finished:
    """A job that has ended: its record, and the end of what it printed."""

    record: Record
    log: str = ""


class IsolatedJobs:
    """Runs one job at a time, each in a process of its own; started when needed, and again after a server died.

    Args:
        n_threads: of each job.
        plugin_files: single-file plugins that jobs load.
        cpus: the cores that jobs are kept on; none: all.
    """

    def __init__(self, n_threads: int, plugin_files: Sequence[str] = (), cpus: Sequence[int] = ()) -> None:
        self._command = [
            *(sys.executable, "-m", _SERVER, "--threads", str(n_threads)),
            *("--cpus", ",".join(map(str, cpus))),
            *plugin_files,
        ]
        # Threads that wait give their core to others: spinning, two jobs side by side slow each other down manyfold.
        self._environment = {
            "OMP_WAIT_POLICY": "passive",
            **os.environ,
            **dict.fromkeys(_THREAD_VARIABLES, str(n_threads)),
        }
        self._lock = threading.Lock()
        self._closed = False
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, job: Job, limits: Limits) -> Finished:
        """Run a job and return its record, whatever happens to it.

        Raises:
            DataError: the folder for temporary files can not be written; that is no result of the job.
        """
        if job.problem:
            return Finished(
                Record(job.spec, Status.FAILED, job.problem, environment={"hardware": hardware()})
            )
        folder = _temporary_folder()
        try:
            ending = self._ask(Order(job.spec, folder, limits))
            record = _record(job, limits, folder, ending)
            return Finished(record, "" if record.status is Status.OK else _end_of(folder / LOG))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """End the server and the job it is at, for good; may be called from another thread."""
        with self._lock:
            self._closed = True
        self._end()

    def _ask(self, order: Order) -> dict[str, Any] | None:
        """Return how the job ended; None if the server died with it."""
        process = self._started()
        assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018 - both are pipes
        try:
            process.stdin.write(order.to_line())
            process.stdin.flush()
            line = process.stdout.readline()
        except (OSError, ValueError):
            line = b""
        if not line:
            self._end()
            return None
        return dict(json.loads(line))

    def _started(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise ClosedError("No more jobs are started.")
            if self._process is None:
                self._process = subprocess.Popen(  # noqa: S603 - our own command
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=self._environment,
                    start_new_session=True,  # Ctrl-C is for the runner, which ends it
                )
            return self._process

    def _end(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()  # it kills its job and ends
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _temporary_folder() -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix="pubench-job-"))
    except OSError as error:
        raise DataError(
            f"No job can be run: {tempfile.gettempdir()} can not be written: {error.strerror}."
        ) from error


def _record(job: Job, limits: Limits, folder: Path, ending: dict[str, Any] | None) -> Record:
    """Return the record of a job from what it left and how it ended."""
    bare = Record(job.spec, Status.FAILED, "-", environment={"hardware": hardware()})
    if ending is None:
        return replace(bare, reason="The process that starts jobs died with it; its messages say why.")
    bare = replace(bare, seconds={"total": ending["seconds"]}, peak_memory_bytes=ending["peak_bytes"])
    if ending["broken"] == "time":
        return replace(bare, status=Status.TIMEOUT, reason=f"It took longer than {limits.seconds:g} s.")
    if ending["broken"] == "memory":
        used, allowed = (amount / 2**30 for amount in (ending["peak_bytes"], limits.memory_bytes))
        reason = f"It took {used:.2f} GiB of memory, more than {allowed:.2f} GiB."
        return replace(bare, status=Status.OUT_OF_MEMORY, reason=reason)
    if ending["code"] == NO_ROOM:
        raise DataError(f"A job could not leave its result in {folder.parent}; most likely the disk is full.")
    if ending["code"] == 0:
        return _left(folder / RECORD, bare, ending)
    if ending["code"] == -signal.SIGKILL:
        reason = "Its process was killed from outside; most likely memory ran out."
        return replace(bare, status=Status.OUT_OF_MEMORY, reason=reason)
    what = signal.Signals(-ending["code"]).name if ending["code"] < 0 else f"exit code {ending['code']}"
    last = _end_of(folder / LOG).strip().splitlines()
    said = f": {one_line(last[-1])[:300]}" if last and ending["code"] > 0 else ""
    return replace(bare, reason=f"Its process crashed ({what}){said}.")


def _left(path: Path, bare: Record, ending: dict[str, Any]) -> Record:
    try:
        record = read_record(path)
    except DataError as error:
        return replace(bare, reason=f"It left no result: {str(error).removeprefix(f'{path}: ')}")
    if record.spec.key != bare.spec.key:
        return replace(bare, reason="It left the result of another job.")
    seconds = {**record.seconds, "total": ending["seconds"]}
    return replace(record, spec=bare.spec, seconds=seconds, peak_memory_bytes=ending["peak_bytes"])


def _end_of(log: Path) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 2**16))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return "\n".join(lines[-_LOG_LINES:])

"""The runner's side: hands jobs to a server process, and turns whatever comes of them into records."""

import json
import shutil
import signal
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pubench.errors import DataError, one_line
from pubench.experiment.handing import LOG, NO_ROOM, RECORD, Order
from pubench.experiment.limits import Limits
from pubench.experiment.planning import Job
from pubench.experiment.servers import Server
from pubench.experiment.surroundings import hardware
from pubench.records.files import read_record
from pubench.records.record import Record
from pubench.types import Status

_LOG_LINES = 40


@dataclass(frozen=True)
class Finished:
    """A job that has ended: its record, and the end of what it printed."""

    record: Record
    log: str = ""


def run_isolated(job: Job, limits: Limits, server: Server) -> Finished:
    """Run a job in a process of its own, which the server starts, and return its record, whatever happens to it.

    Raises:
        ClosedError: the server was closed.
        DataError: the folder for temporary files can not be written; that is no result of the job.
    """
    if job.problem:
        return Finished(Record(job.spec, Status.FAILED, job.problem, environment={"hardware": hardware()}))
    folder = _temporary_folder()
    try:
        answer = server.ask(Order(job.spec, folder, limits).to_line())
        record = _record(job, limits, folder, json.loads(answer) if answer else None)
        return Finished(record, "" if record.status is Status.OK else _end_of(folder / LOG))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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

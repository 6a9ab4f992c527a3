"""The fork server: a worker that loads libraries once, forks a process per job and watches it.

    host: ForkServer.run(job, limits, folder) -> worker: serve_forks -> forked job: RESULT and LOG in the folder

The server enforces the limits, so they hold whatever the host does, and it kills the job when the host has ended. Light to
import: see `pubench.workers.worker`.
"""

import gc
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeAlias

from pubench.workers.channel import Channel, Message
from pubench.workers.limits import Limits, apply_hard_limits, die_with_parent
from pubench.workers.watch import ExitStatus, JobFailedError, report_done, watch
from pubench.workers.worker import Worker, WorkerCommand

RESULT = "result.json"
LOG = "log.txt"
#: Exit code of a job that is done and cannot write its result, as in sysexits.h: input/output error.
CANNOT_WRITE = 74
#: Libraries that start threads by themselves read these.
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_GRACE_SECONDS = 5.0

#: Does one job in its own process, given the folder for its files, and returns the text of its result.
ForkedJob: TypeAlias = Callable[[Path], str]
#: Does what a job and later ones share, such as imports, in the server, and returns the job.
Prepare: TypeAlias = Callable[[Message], ForkedJob]


class ForkServer:
    """The host's side: runs one job at a time, each in a process of its own.

    Args:
        target: what the worker runs; it calls `serve_forks`.
        arguments: of the target.
        n_threads: of each job.
    """

    def __init__(self, target: Callable[..., None], arguments: tuple[str, ...], n_threads: int) -> None:
        environment = dict.fromkeys(_THREAD_VARIABLES, str(n_threads))
        self._worker = Worker(WorkerCommand(target, arguments, environment), grace_seconds=_GRACE_SECONDS)

    def start(self) -> None:
        """Start the process, unless it is running."""
        self._worker.start()

    def run(self, job: Message, limits: Limits, folder: Path) -> ExitStatus | None:
        """Run a job, which writes `RESULT` and `LOG` into a folder, and return how it ended; None if the server died.

        Raises:
            ClosedError: the server was closed.
        """
        try:
            self._worker.begin({"job": job, "folder": str(folder), "limits": limits.to_json()})
            status = ExitStatus.from_json(self._worker.receive())
        except JobFailedError:
            return None
        self._worker.finish()
        return status

    def close(self) -> None:
        """End the process and its job for good. May be called from any thread, and more than once."""
        self._worker.close()


def serve_forks(channel: Channel, prepare: Prepare) -> None:
    """The worker's side: run the jobs that the host sends, one after another, until it closes the channel."""
    lingering: int | None = None
    while (request := channel.receive()) is not None:
        limits, folder = Limits.from_json(request["limits"]), Path(request["folder"])
        job = prepare(request["job"])
        gc.freeze()  # a collection in the forked process would copy every page that holds objects of this one
        ending, done = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(ending)
            channel.close_answers()
            _run_forked(job, folder, limits, done)
        os.close(done)
        if lingering is not None:
            os.waitpid(lingering, 0)
        status, lingers = watch(pid, ending, limits, channel.is_closed)
        lingering = pid if lingers else None
        os.close(ending)
        if status.exceeded == "abandoned":
            return
        try:
            channel.send(status.to_json())
        except BrokenPipeError:  # the host was killed meanwhile
            return


def _run_forked(job: ForkedJob, folder: Path, limits: Limits, done: int) -> NoReturn:
    """Run a job in this process, which was just forked, and end it; the server watches the other end of `done`."""
    code = 1
    try:
        os.setsid()
        die_with_parent()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the host, which ends this process
        log = os.open(folder / LOG, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o666)
        empty = os.open(os.devnull, os.O_RDONLY)
        for stream, target in ((0, empty), (1, log), (2, log)):
            os.dup2(target, stream)
        apply_hard_limits(limits)
        result = job(folder)
        code = CANNOT_WRITE
        (folder / RESULT).write_text(result, encoding="utf-8")
        code = 0
        report_done(done)
    except BaseException:  # noqa: BLE001 - a forked process must not go on as its parent would
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

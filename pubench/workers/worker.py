"""A worker: a process of its own that answers requests, as the host that starts it sees it.

Light to import: hosts start workers before anything else, and load their libraries while the workers load theirs.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pubench.errors import PubenchError
from pubench.system.machine import waiting_variables
from pubench.workers.channel import Message, to_line
from pubench.workers.limits import Deadline, Limits, kill_group
from pubench.workers.watch import Exceeded, ExitStatus, JobFailedError, exceeded_limit

if TYPE_CHECKING:  # light to import: the types load NumPy, the process tree psutil
    from pubench.types import Status
    from pubench.workers.process_tree import ProcessTree

_ENTRY = "pubench.workers.entry"
#: Seconds between two checks of limits and deadline.
_TICK_SECONDS = 0.1
#: Seconds that a process which has closed its output may take to end.
_ENDING_SECONDS = 5.0
_READ_BYTES = 2**16


class StoppedError(PubenchError):
    """A job was stopped from outside: its deadline has passed, or a person has stopped it."""


class ClosedError(PubenchError):
    """The worker is closed; no more jobs are run."""


@dataclass(frozen=True)
class WorkerCommand:
    """What a worker runs.

    Attributes:
        target: a function at the top of a module, called in the worker with a `Channel` and the arguments.
        arguments: of the target.
        environment: variables that are added to, or replace, those of this process.
        interpreter: the Python that runs it; pubench must be installed there.
    """

    target: Callable[..., None]
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    interpreter: str = sys.executable

    @property
    def line(self) -> list[str]:
        """The command line. A function object, so that no module name stands in a string that the import check misses."""
        target = f"{self.target.__module__}:{self.target.__qualname__}"
        return [self.interpreter, "-m", _ENTRY, target, *self.arguments]


class Worker:
    """A process that does one job at a time; started when it is needed, and again after it has died.

    It runs in a session of its own: Ctrl-C reaches the host only, which then ends the worker.

    Args:
        command: what it runs.
        log: file that everything it prints is appended to; None: the stderr of this process.
        grace_seconds: a busy worker that is ended may take this time to end its job and itself; then it is killed.
    """

    def __init__(self, command: WorkerCommand, log: Path | None = None, grace_seconds: float = 0.0) -> None:
        self._command = command
        self._log = log
        self._grace_seconds = grace_seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_busy = self._is_closed = False
        self._buffer = b""
        self._job = _JobCheck(Limits(), Deadline())

    def start(self) -> None:
        """Start the process, unless it is running.

        Raises:
            ClosedError: the worker was closed.
        """
        with self._lock:
            if self._is_closed:
                raise ClosedError("No more jobs are started.")
            if self._process is not None and self._process.poll() is None:
                return
            if self._process is not None:
                _release(self._process)
            with self._open_log() as log:
                self._process = subprocess.Popen(  # noqa: S603 - our own command
                    self._command.line,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    env={**os.environ, **waiting_variables(), **self._command.environment},
                    start_new_session=True,
                )
            self._buffer = b""

    def begin(self, request: Message, limits: Limits | None = None, deadline: Deadline | None = None) -> None:
        """Start a job with its first message; `receive` enforces the limits and the deadline until it has ended.

        Raises:
            ClosedError: the worker was closed.
        """
        self.start()
        self._is_busy = True
        self._job = _JobCheck(limits or Limits(), deadline or Deadline())
        self.send(request)

    def send(self, message: Message) -> None:
        """Send a further message of the job; if the process has died, `receive` raises."""
        process = self._process
        if process is None or process.stdin is None:
            return
        with contextlib.suppress(OSError, ValueError):
            process.stdin.write(to_line(message))
            process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """Wait for the next message of the job and return it.

        Raises:
            JobFailedError: the process has died, or it exceeded a limit and was killed.
            StoppedError: the deadline has passed; the process was killed.
            ClosedError: the worker was closed meanwhile.
        """
        while b"\n" not in self._buffer:
            process = self._process
            if process is None or process.stdout is None:
                raise ClosedError("The worker was closed during the job.")
            if self._is_readable(process.stdout):
                piece = self._read(process.stdout)
                if not piece:
                    raise JobFailedError(*self._failure(self._ended(process)))
                self._buffer += piece
            if b"\n" not in self._buffer:
                self._check(process)
        line, _, self._buffer = self._buffer.partition(b"\n")
        return dict(json.loads(line))

    def finish(self) -> None:
        """Mark the job as done: the process is idle until the next one."""
        self._is_busy = False

    def stop(self) -> None:
        """End the process and its job; the next job starts another process. May be called from any thread."""
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        # An idle process is killed at once: it holds nothing, but may still be loading libraries, which takes a second.
        grace_seconds = self._grace_seconds if self._is_busy else 0.0
        self._is_busy = False
        _release(process, grace_seconds)

    def close(self) -> None:
        """End the process and its job for good. May be called from any thread, and more than once."""
        with self._lock:
            self._is_closed = True
        self.stop()

    @contextlib.contextmanager
    def _open_log(self) -> Iterator[IO[bytes] | None]:
        if self._log is None:
            yield None
            return
        with self._log.open("ab") as log:
            yield log

    def _is_readable(self, stream: IO[bytes]) -> bool:
        try:
            return bool(select.select([stream], [], [], self._job.tick)[0])
        except (OSError, ValueError):  # closed by another thread
            return True

    def _read(self, stream: IO[bytes]) -> bytes:
        try:
            return os.read(stream.fileno(), _READ_BYTES)
        except (OSError, ValueError):
            return b""

    def _check(self, process: "subprocess.Popen[bytes]") -> None:
        """Kill the process if its job exceeds a limit or the deadline has passed."""
        if self._job.is_stopped():
            self.stop()
            raise StoppedError("The job was stopped.")
        exceeded = self._job.exceeded(process.pid)
        if exceeded:
            status = self._job.exit_status(-signal.SIGKILL, exceeded)
            self.stop()
            raise JobFailedError(*self._failure(status))

    def _ended(self, process: "subprocess.Popen[bytes]") -> ExitStatus:
        """Return how a process has ended that has closed its output."""
        try:
            code = process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:  # a plugin has closed it
            code = 0
        self.stop()
        return self._job.exit_status(code)

    def _failure(self, status: ExitStatus) -> "tuple[Status, str]":
        return status.failure(self._job.limits, f"; see {self._log}" if self._log else "")


class _JobCheck:
    """The limits and the deadline of a job that runs now, checked once per tick."""

    def __init__(self, limits: Limits, deadline: Deadline) -> None:
        self.limits = limits
        self._deadline = deadline
        self._started = self._checked = time.monotonic()
        self._tree: ProcessTree | None = None
        #: How long to wait for a message before the next check; None: there is nothing to check.
        self.tick = _TICK_SECONDS if limits.are_set or deadline.is_set else None

    def is_stopped(self) -> bool:
        return self._deadline.is_set and self._deadline.has_passed

    def exceeded(self, pid: int) -> Exceeded:
        now = time.monotonic()
        if not self.limits.are_set or now - self._checked < _TICK_SECONDS:
            return ""
        self._checked = now
        if self._tree is None:
            from pubench.workers.process_tree import ProcessTree  # noqa: PLC0415 - loads psutil

            self._tree = ProcessTree(pid)
        return exceeded_limit(self._tree, now - self._started, self.limits)

    def exit_status(self, code: int, exceeded: Exceeded = "") -> ExitStatus:
        peak = 0 if self._tree is None else self._tree.peak_bytes
        return ExitStatus(code, exceeded, peak, time.monotonic() - self._started)


def _release(process: "subprocess.Popen[bytes]", grace_seconds: float = 0.0) -> None:
    """End a process, and after some seconds kill it with its group; close the pipes."""
    with contextlib.suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()  # a worker that sees this ends its job and itself
    try:
        process.wait(grace_seconds)
    except subprocess.TimeoutExpired:
        kill_group(process.pid)
        process.wait()
    if process.stdout is not None:
        process.stdout.close()

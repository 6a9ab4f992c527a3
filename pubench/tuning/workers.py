"""The study's side: a process that judges configurations, and can be stopped, crash or run out of memory by itself."""

import contextlib
import json
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pubench.errors import PubenchError
from pubench.saving.configuration import Configuration
from pubench.tuning.messages import to_line
from pubench.types import FloatVector, Status

#: How often limits are looked at.
_TICK = 0.1


class TrialFailedError(PubenchError):
    """A trial failed; the study goes on."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class StoppedError(PubenchError):
    """The trial was stopped from outside: its time is up, or a person asked for it."""


@dataclass(frozen=True)
class Limits:
    """What a trial may use.

    Attributes:
        until: on the clock of `time.monotonic`, when it is stopped.
        trial_seconds: how long one trial may take.
        memory_bytes: of its process.
        stop: set when a person wants it to end.
    """

    until: float = float("inf")
    trial_seconds: float = float("inf")
    memory_bytes: float = float("inf")
    stop: threading.Event | None = None


class Worker:
    """A process that judges one configuration at a time; it is started when needed, and again after it was killed.

    Args:
        command: how to start it; it speaks the language of `pubench.tuning.messages`.
        log: where what it prints goes.
    """

    def __init__(self, command: Sequence[str], log: Path) -> None:
        self._command = list(command)
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.Queue[bytes | None] = queue.Queue()

    def judge(
        self,
        configuration: Configuration,
        trial: int,
        go_on: Callable[[int, FloatVector], bool],
        limits: Limits,
        progress: Callable[[float], None],
    ) -> bool:
        """Judge a configuration, tell `go_on` the placements on each fold, and return whether all folds were done.

        Raises:
            TrialFailedError: it crashed, broke a limit of its own, or can not be applied.
            StoppedError: the limits of the study ended it.
        """
        started = time.monotonic()
        self._say({"judge": configuration.to_json(), "trial": trial})
        complete = True
        while True:
            message = self._hear(limits, started)
            if "progress" in message:
                progress(float(message["progress"]))
            elif "fold" in message:
                complete = go_on(int(message["fold"]), np.array(message["placements"], dtype=np.float64))
                self._say({"go_on": complete})
            elif "failed" in message:
                raise TrialFailedError(Status(message["status"]), str(message["failed"]))
            else:
                return complete

    def close(self) -> None:
        """End the process, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
            self._process = None

    def _say(self, message: dict[str, Any]) -> None:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._start()
        assert self._process is not None and self._process.stdin is not None  # noqa: S101, PT018 - just started
        with contextlib.suppress(BrokenPipeError):  # it died; hearing will tell
            self._process.stdin.write(to_line(message))
            self._process.stdin.flush()

    def _start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
            )
        self._lines = queue.Queue()
        threading.Thread(target=_pump, args=(self._process, self._lines), daemon=True).start()

    def _hear(self, limits: Limits, started: float) -> dict[str, Any]:
        while True:
            try:
                line = self._lines.get(timeout=_TICK)
            except queue.Empty:
                self._check(limits, started)
                continue
            if line is None:
                raise TrialFailedError(*self._cause_of_death())
            return dict(json.loads(line))

    def _check(self, limits: Limits, started: float) -> None:
        now = time.monotonic()
        if now >= limits.until or (limits.stop is not None and limits.stop.is_set()):
            self.close()
            raise StoppedError("The trial was stopped.")
        if now - started > limits.trial_seconds:
            self.close()
            raise TrialFailedError(Status.TIMEOUT, f"It took longer than {limits.trial_seconds:.0f} s.")
        used = self._memory()
        if used > limits.memory_bytes:
            self.close()
            raise TrialFailedError(
                Status.OUT_OF_MEMORY,
                f"It took {used / 2**30:.1f} GiB of memory, more than {limits.memory_bytes / 2**30:.1f} GiB.",
            )

    def _memory(self) -> int:
        import psutil  # noqa: PLC0415 - heavy imports happen when used

        if self._process is None:
            return 0
        with contextlib.suppress(psutil.Error):
            used = psutil.Process(self._process.pid).memory_info()
            # The study's rows are mapped from a file, which all workers share.
            return int(used.rss - getattr(used, "shared", 0))
        return 0

    def _cause_of_death(self) -> tuple[Status, str]:
        code = -1 if self._process is None else self._process.wait()
        self.close()
        if code == -signal.SIGKILL:
            return Status.OUT_OF_MEMORY, "Its process was killed from outside; most likely memory ran out."
        what = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return Status.FAILED, f"Its process crashed ({what}); see {self._log}."


def _pump(process: subprocess.Popen[bytes], lines: "queue.Queue[bytes | None]") -> None:
    """Put the lines of a process into a queue, and None when it ends."""
    if process.stdout is not None:
        with contextlib.suppress(ValueError):  # closed while reading
            for line in process.stdout:
                lines.put(line)
    lines.put(None)

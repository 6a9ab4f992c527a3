"""The limits of a job: what it may use, when it must stop, and what the system enforces, its end with its parent too."""

import contextlib
import os
import resource
import select
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf, isfinite

#: The hard limit counts data pages, reserved ones too: it leaves room for pages that are never touched.
_HARD_LIMIT_FACTOR = 2
_HARD_LIMIT_BYTES = 2 * 2**30
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Limits:
    """What one job may use; without arguments there is no limit.

    Attributes:
        seconds: wall clock, from its start.
        memory_bytes: of its process and all processes that it starts, without memory that they share with others.
    """

    seconds: float = inf
    memory_bytes: float = inf

    @property
    def are_set(self) -> bool:
        """Whether there is a limit at all."""
        return isfinite(self.seconds) or isfinite(self.memory_bytes)

    def to_json(self) -> dict[str, float | None]:
        """Return the limits as a JSON object; no limit is null."""
        return {name: value if isfinite(value) else None for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, document: Mapping[str, float | None]) -> "Limits":
        """Return the limits that `to_json` described."""
        return cls(**{name: value for name, value in document.items() if value is not None})


@dataclass(frozen=True)
class Deadline:
    """When work is stopped from outside; without arguments never.

    Attributes:
        until: a time on the clock of `time.monotonic`.
        stop: an event that a person sets to end the work.
    """

    until: float = inf
    stop: threading.Event | None = None

    @property
    def is_set(self) -> bool:
        """Whether the work can be stopped at all."""
        return isfinite(self.until) or self.stop is not None

    @property
    def has_passed(self) -> bool:
        """Whether the work must stop now."""
        return time.monotonic() >= self.until or (self.stop is not None and self.stop.is_set())


def apply_hard_limits(limits: Limits) -> None:
    """Have the system limit the memory of this process, in case the process that watches it is too slow."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash must not write a core file of gigabytes
    if not isfinite(limits.memory_bytes):
        return
    allowed = int(_HARD_LIMIT_FACTOR * limits.memory_bytes) + _HARD_LIMIT_BYTES
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or allowed < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (allowed, allowed))


def pin_to(cores: Sequence[int]) -> None:
    """Pin this process to some cores, if any are given: the one limit that every library's threads respect."""
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)


def kill_group(pid: int) -> None:
    """Kill the process group that a process leads, if there still is one."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def die_with_parent() -> None:
    """Have the system kill this process when the process that forked it ends; does nothing but on Linux."""
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415 - only needed here

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def die_when_closed(descriptor: int) -> None:
    """Kill this process and its group as soon as the other end of a pipe is closed; a thread waits for it."""
    threading.Thread(target=_kill_when_closed, args=(descriptor,), daemon=True).start()


def _kill_when_closed(descriptor: int) -> None:
    closed = select.poll()
    closed.register(descriptor, 0)  # hang-up is always reported; data is left to `receive`
    closed.poll()
    os.killpg(os.getpgrp(), signal.SIGKILL)

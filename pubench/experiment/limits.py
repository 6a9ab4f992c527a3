"""What a job may use, and the hard fences around it."""

import contextlib
import os
import resource
import signal
import sys
from dataclasses import dataclass

#: The second fence, of data pages, leaves room for what is reserved and never touched.
_FENCE_FACTOR = 2
_FENCE_BYTES = 2 * 2**30
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Limits:
    """What a job may use.

    Attributes:
        seconds: wall clock, from its start.
        memory_bytes: of its process and all that it starts, without what they share with others.
    """

    seconds: float
    memory_bytes: int


def fence_in(limits: Limits) -> None:
    """Bind this process to limits that the system itself keeps, should nobody look in time."""
    most = _FENCE_FACTOR * limits.memory_bytes + _FENCE_BYTES
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash leaves a record, no gigabytes


def die_with_parent() -> None:
    """Have the system kill this process when the one that started it is gone; where it can not, do nothing."""
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415 - needed here alone

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def pin_to(cpus: tuple[int, ...]) -> None:
    """Keep this process on some cores: the one thing that every library's threads respect."""
    if cpus and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cpus)

"""Watches a job's process: its time, its memory, and whether anybody still waits for it."""

import contextlib
import os
import resource
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import psutil

from pubench.experiment.limits import Limits

#: How often the memory of a process is looked at, and how often it is asked for children.
_TICK = 0.05
_CHILDREN_TICK = 0.5
#: How often a process that is about to end is asked whether it has.
_NAP = 0.0005
#: A process that held so much memory is waited for: the next job may need it.
_LARGE = 2**30

Broken = Literal["time", "memory", "abandoned", ""]


@dataclass(frozen=True)
class Ending:
    """How a process ended.

    Attributes:
        code: its exit code; minus the signal that killed it.
        broken: the limit for which it was killed; empty if it ended by itself.
        peak_bytes: the most memory that was seen.
        seconds: it lived.
    """

    code: int
    broken: Broken
    peak_bytes: int
    seconds: float


def watch(pid: int, alive: int, limits: Limits, is_abandoned: Callable[[], bool]) -> tuple[Ending, bool]:
    """Wait for a child, the leader of a group of its own, and kill the whole group if it breaks a limit.

    Args:
        pid: of the child.
        alive: a descriptor that becomes readable when it ends, or says by `say_done` that it is done.
        limits: it must keep.
        is_abandoned: whether nobody waits for the result any more.

    Returns:
        How it ended, and whether it lingers: it is done and killed, and the caller has to wait for it some time. The
        system takes 10 ms to take it down, in which the next job can begin.
    """
    started = time.monotonic()
    family = _Family(pid)
    broken: Broken = ""
    while True:
        said = _said_within(_TICK, alive)
        seconds = time.monotonic() - started
        if said and said.isdigit() and not broken and int(said) < _LARGE:
            family.kill()
            return Ending(0, "", max(family.peak, int(said)), seconds), True
        # Its files may be held open by a process that it has left behind.
        if _has_ended_within(0.0 if said is None else _TICK, pid):
            family.kill()
            _, status, usage = os.wait4(pid, 0)
            peak = max(family.peak, usage.ru_maxrss * 1024)
            return Ending(os.waitstatus_to_exitcode(status), broken, peak, seconds), False
        if broken:
            continue
        if family.memory() > limits.memory_bytes:
            broken = "memory"
        elif seconds > limits.seconds:
            broken = "time"
        elif is_abandoned():
            broken = "abandoned"
        if broken:
            family.look()
            family.kill()


def say_done(descriptor: int) -> None:
    """Tell who watches this process that it has done its work and may be killed."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    with contextlib.suppress(OSError):  # a plugin has closed it
        os.write(descriptor, str(peak).encode())


def _said_within(seconds: float, alive: int) -> bytes | None:
    """Return what a child has said after so long, None for nothing; it is empty if it is about to end."""
    return os.read(alive, 100) if select.select([alive], [], [], seconds)[0] else None


def _has_ended_within(seconds: float, pid: int) -> bool:
    """Wait so long for a child, and return whether it has ended; a process that closes its files is about to.

    It is not forgotten then: its number is its own until somebody waits for it, and what is left of its group can be
    killed before.
    """
    until = time.monotonic() + seconds
    while not os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        if time.monotonic() > until:
            return False
        time.sleep(_NAP)
    return True


class _Family:
    """A process and its descendants."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._members: list[psutil.Process] = []
        self._asked = 0.0
        self.peak = 0
        with contextlib.suppress(psutil.Error):
            self._members = [psutil.Process(pid)]

    def memory(self) -> int:
        """Return how much all of them hold; pages of files that they map are shared with others and not counted."""
        if time.monotonic() - self._asked > _CHILDREN_TICK:
            self.look()
        total = 0
        for member in self._members:
            with contextlib.suppress(psutil.Error):
                used = member.memory_info()
                total += int(used.rss - getattr(used, "shared", 0))
        self.peak = max(self.peak, total)
        return total

    def kill(self) -> None:
        """Kill the group, and known descendants that left it; the process itself even before it has made its group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pid, signal.SIGKILL)
        for member in self._members:
            with contextlib.suppress(psutil.Error):
                member.kill()

    def look(self) -> None:
        """Look who descends from it; of a process that has ended, nobody does any more."""
        self._asked = time.monotonic()
        with contextlib.suppress(psutil.Error):
            known = {member.pid for member in self._members}
            self._members += [
                one for one in self._members[0].children(recursive=True) if one.pid not in known
            ]

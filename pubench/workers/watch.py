"""Watches a job's process: which limit it exceeds, how it ended, and the sentence for that in a record."""

import contextlib
import os
import resource
import select
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pubench.errors import PubenchError
from pubench.workers.limits import Limits

if TYPE_CHECKING:  # light to import: the types load NumPy, the process tree psutil
    from pubench.types import Status
    from pubench.workers.process_tree import ProcessTree

#: Seconds between two measurements of a process.
TICK_SECONDS = 0.05
#: Seconds between two checks whether a process that is about to end has ended.
_POLL_SECONDS = 0.0005
#: A process that used this much memory is waited for: the next job may need the memory.
_LARGE_BYTES = 2**30

Exceeded = Literal["time", "memory", "abandoned", ""]


class JobFailedError(PubenchError):
    """A job failed: its process crashed or exceeded a limit, or it reported a failure itself.

    Args:
        status: how it ended.
        reason: one sentence.
    """

    def __init__(self, status: "Status", reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True)
class ExitStatus:
    """How a process ended.

    Attributes:
        code: its exit code; minus the signal that killed it.
        exceeded: the limit for which it was killed; empty if it ended by itself.
        peak_bytes: the most memory that was measured.
        seconds: from its start to its end.
    """

    code: int
    exceeded: Exceeded = ""
    peak_bytes: int = 0
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "ExitStatus":
        """Return what `to_json` described."""
        return cls(**document)

    def failure(self, limits: Limits, details: str = "") -> "tuple[Status, str]":
        """Return the status of a job whose process ended like this before it was done, and the reason in a sentence.

        Args:
            limits: that it had.
            details: where to learn more about a crash; ends the sentence.
        """
        from pubench.types import Status  # noqa: PLC0415 - loads NumPy

        if self.exceeded == "time":
            return Status.TIMEOUT, f"It took longer than {round(limits.seconds, 1):g} s."
        if self.exceeded == "memory":
            used, allowed = self.peak_bytes / 2**30, limits.memory_bytes / 2**30
            return Status.OUT_OF_MEMORY, f"It took {used:.2f} GiB of memory, more than {allowed:.2f} GiB."
        if self.code == -signal.SIGKILL:
            return (
                Status.OUT_OF_MEMORY,
                "Its process was killed from outside; most likely memory ran out.",
            )
        cause = signal.Signals(-self.code).name if self.code < 0 else f"exit code {self.code}"
        return Status.FAILED, f"Its process crashed ({cause}){details}."


def exceeded_limit(tree: "ProcessTree", seconds: float, limits: Limits) -> Exceeded:
    """Return the limit that a job exceeds after some seconds; empty if it exceeds none."""
    if tree.memory() > limits.memory_bytes:
        return "memory"
    return "time" if seconds > limits.seconds else ""


def watch(pid: int, ending: int, limits: Limits, is_abandoned: Callable[[], bool]) -> tuple[ExitStatus, bool]:
    """Wait for a child, the leader of a group of its own, and kill the whole group if it exceeds a limit.

    Args:
        pid: of the child.
        ending: a descriptor that becomes readable when the child ends, or when it calls `report_done`.
        limits: of the child.
        is_abandoned: whether the result is no longer needed.

    Returns:
        How it ended, and whether it lingers: it is done and killed, and the caller must wait for it later. The
        system takes 10 ms to remove a process; the next job can start meanwhile.
    """
    from pubench.workers.process_tree import ProcessTree  # noqa: PLC0415 - loads psutil

    started = time.monotonic()
    tree = ProcessTree(pid)
    exceeded: Exceeded = ""
    while True:
        report = _report_within(TICK_SECONDS, ending)
        seconds = time.monotonic() - started
        if report and report.isdigit() and not exceeded and int(report) < _LARGE_BYTES:
            tree.kill()
            return ExitStatus(0, "", max(tree.peak_bytes, int(report)), seconds), True
        # The descriptor may still be open in a process that the child has left behind.
        if _has_ended_within(0.0 if report is None else TICK_SECONDS, pid):
            tree.kill()
            _, status, usage = os.wait4(pid, 0)
            peak = max(tree.peak_bytes, usage.ru_maxrss * 1024)
            return ExitStatus(os.waitstatus_to_exitcode(status), exceeded, peak, seconds), False
        if exceeded:
            continue
        exceeded = exceeded_limit(tree, seconds, limits) or ("abandoned" if is_abandoned() else "")
        if exceeded:
            tree.find_descendants()
            tree.kill()


def report_done(descriptor: int) -> None:
    """Report to the process that watches this one that its work is done and it may be killed."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    with contextlib.suppress(OSError):  # a plugin has closed it
        os.write(descriptor, str(peak).encode())


def _report_within(seconds: float, ending: int) -> bytes | None:
    """Return what a child has reported after some seconds: None for nothing; empty if it is about to end."""
    return os.read(ending, 100) if select.select([ending], [], [], seconds)[0] else None


def _has_ended_within(seconds: float, pid: int) -> bool:
    """Wait some seconds for a child that is about to end, and return whether it has ended.

    The child stays a zombie: its process id is not used again before it is waited for, so the rest of its group can
    be killed safely.
    """
    until = time.monotonic() + seconds
    while not os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        if time.monotonic() > until:
            return False
        time.sleep(_POLL_SECONDS)
    return True

"""A process and its descendants: how much memory they use, and how to kill them all."""

import contextlib
import time

import psutil

from pubench.workers.limits import kill_group

#: Seconds between two searches for new descendants, which takes milliseconds.
_SEARCH_SECONDS = 0.5


class ProcessTree:
    """A process that leads a group of its own, and its descendants.

    Args:
        pid: of the process.

    Attributes:
        peak_bytes: the most memory that `memory` has seen.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._members: list[psutil.Process] = []
        self._searched = 0.0
        self.peak_bytes = 0
        with contextlib.suppress(psutil.Error):
            self._members = [psutil.Process(pid)]

    def memory(self) -> int:
        """Return the bytes that all of them use, without pages of mapped files, which others share."""
        if time.monotonic() - self._searched > _SEARCH_SECONDS:
            self.find_descendants()
        total = 0
        for member in self._members:
            with contextlib.suppress(psutil.Error):
                used = member.memory_info()
                total += int(used.rss - getattr(used, "shared", 0))
        self.peak_bytes = max(self.peak_bytes, total)
        return total

    def find_descendants(self) -> None:
        """Update the list of descendants; it keeps those whose parent has ended, which cannot be found again."""
        self._searched = time.monotonic()
        with contextlib.suppress(psutil.Error):
            known = {member.pid for member in self._members}
            children = self._members[0].children(recursive=True)
            self._members += [child for child in children if child.pid not in known]

    def kill(self) -> None:
        """Kill the group and the known descendants that left it; works before the process has made its group, too."""
        kill_group(self._pid)
        for member in self._members:
            with contextlib.suppress(psutil.Error):
                member.kill()

"""Processes that end with the one that started them: by a signal of the system, or when a pipe from it closes."""

import contextlib
import os
import select
import signal
import sys
import threading

_PR_SET_PDEATHSIG = 1


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

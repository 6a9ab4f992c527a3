"""Redirects the output of foreign code: Python's streams and, below them, those of the process."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

STDOUT, STDERR = 1, 2


@contextlib.contextmanager
def stdout_on_stderr() -> Iterator[None]:
    """Send everything that is printed, by native code too, to stderr: stdout is for results."""
    with contextlib.redirect_stdout(sys.stderr), _redirected(STDOUT, to=STDERR):
        yield


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Discard everything that is printed, by native code too."""
    with Path(os.devnull).open("w", encoding="utf-8") as null, contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(null))
        stack.enter_context(contextlib.redirect_stderr(null))
        for stream in (STDOUT, STDERR):
            stack.enter_context(_redirected(stream, to=null.fileno()))
        yield


@contextlib.contextmanager
def _redirected(stream: int, *, to: int) -> Iterator[None]:
    if not (_is_open(STDOUT) and _is_open(STDERR)):  # a copy would land on a closed standard stream
        yield
        return
    if sys.__stdout__ is not None:
        sys.__stdout__.flush()  # what was printed before goes to the old target
    copy = os.dup(stream)
    os.dup2(to, stream)
    try:
        yield
    finally:
        os.dup2(copy, stream)
        os.close(copy)


def _is_open(stream: int) -> bool:
    try:
        os.fstat(stream)
    except OSError:
        return False
    return True

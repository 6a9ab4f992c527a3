"""Folders in which one process works at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pubench.errors import DataError


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder that exists; the system takes it back from a process that dies.

    Raises:
        DataError: another process holds it, or the folder can not be written.
    """
    try:
        handle = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o666)
    except OSError as error:
        raise DataError(f"{folder} can not be written: {error.strerror or error}.") from error
    try:
        _lock(handle, folder)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, folder: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DataError(
            f"Another process is working on {folder}; wait for it, or choose another --out."
        ) from None

"""Files and folders that appear whole or not at all, locks of folders, and checksums of their files.

    write_whole(path)        one file, written to a temporary path beside it and renamed at the end
    write_folder(folder)     the same for a folder
    remove_old_temporaries   removes what processes that died did not finish
    locked_folder(folder)    one process at a time
    checksum, compare_files: whether the files of a folder are as they were written

Errors of the system become a `DataError` of one sentence, except where a function says otherwise.
"""

import fcntl
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from pubench.errors import DataError

#: "blake2b" is the one with digests of 16 bytes.
Algorithm: TypeAlias = Literal["sha256", "blake2b"]
#: Raises `DataError` unless the folder, which exists and is not empty, may be replaced.
CheckReplaceable: TypeAlias = Callable[[Path], None]
Description = TypeVar("Description")

_TEMPORARY = re.compile(r"\..+-[0-9a-f]{16}(\.[^.]*)?", re.DOTALL)


def temporary_path(path: Path) -> Path:
    """Return a new hidden path beside `path`, of the same suffix: renaming it to `path` takes one step."""
    path = path.absolute()
    return path.with_name(f".{path.stem}-{secrets.token_hex(8)}{path.suffix}")


def remove_old_temporaries(folder: Path, seconds: float) -> None:
    """Remove the temporary files and folders in `folder` that are older than this: the processes that wrote them died.

    Of a folder that cannot be read or written nothing is removed.
    """
    with suppress(OSError):
        for path in folder.iterdir():
            if _TEMPORARY.fullmatch(path.name):
                with suppress(OSError):
                    if path.lstat().st_mtime < time.time() - seconds:
                        _remove(path)


def remove_at_once(path: Path) -> None:
    """Remove a file or folder: in one step for all who open it by its path, then its content; never an error."""
    moved = temporary_path(path)
    with suppress(OSError):
        path.rename(moved)
        _remove(moved)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def write_whole(path: Path, *, sync: bool = False) -> Iterator[Path]:
    """Yield a temporary path of the same suffix beside `path`; on success it is renamed to `path`.

    On any error the temporary file is removed and the old content of `path` is still there. The block inside the
    `with` should only write: its OSErrors are reported as a failure to write `path`.

    Args:
        path: the file to write.
        sync: wait until the content is on the disk, so that a file that exists after a power cut is whole.

    Raises:
        DataError: the folder cannot be written to, or the disk is full.
    """
    temporary = temporary_path(path)
    try:
        # Opened here, with the permissions of any new file, to fail before the work and not after it.
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield temporary
        if sync:
            _sync(temporary)
        temporary.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, as far as they do not exist.

    Raises:
        DataError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder} cannot be made: {error.strerror or error}.") from error


def check_writable(folder: Path, check_replaceable: CheckReplaceable) -> None:
    """Raise `DataError` unless `write_folder` could make this folder: best checked before the work."""
    if os.path.lexists(folder):
        _check_existing(folder, check_replaceable)
    above = next(parent for parent in folder.absolute().parents if os.path.lexists(parent))
    if not above.is_dir():
        raise DataError(f"{folder} cannot be made: {above} is not a folder.")
    if not os.access(above, os.W_OK | os.X_OK):
        raise DataError(f"{folder} cannot be made: {above} cannot be written to.")


def _check_existing(folder: Path, check_replaceable: CheckReplaceable) -> None:
    if folder.is_symlink() or not folder.is_dir():
        raise DataError(f"{folder} is not a folder; choose another path.")
    if next(folder.iterdir(), None) is not None:
        check_replaceable(folder)


@contextmanager
def write_folder(folder: Path, check_replaceable: CheckReplaceable) -> Iterator[Path]:
    """Yield an empty temporary folder beside `folder`; on success it is renamed to `folder`.

    On any error it is removed, and the old folder is still there. A folder that is replaced is moved aside first and
    removed last. Folders above it are made.

    Args:
        folder: the folder to write.
        check_replaceable: called with the old folder, before the work and after it, unless that is empty.

    Raises:
        DataError: see `check_writable`; or the disk is full.
    """
    check_writable(folder, check_replaceable)
    try:
        folder.absolute().parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(folder) as temporary:
            yield temporary
            if os.path.lexists(folder):
                _check_existing(folder, check_replaceable)  # it may have appeared meanwhile
            _swap(temporary, folder)
    except OSError as error:
        raise _unwritable(folder, error) from error


@contextmanager
def temporary_folder(folder: Path) -> Iterator[Path]:
    """Yield a new empty folder beside `folder`, which is removed at the end unless it was renamed.

    Raises:
        OSError: it cannot be made.
    """
    temporary = temporary_path(folder)
    temporary.mkdir()
    try:
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _swap(new: Path, folder: Path) -> None:
    """Rename `new` to `folder`; an old folder is removed then, or moved back if that failed."""
    if not folder.exists():
        new.rename(folder)
        return
    old = temporary_path(folder)
    folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Lock a folder that exists for this process; the system unlocks it when the process dies.

    Raises:
        DataError: another process has locked it, or the folder cannot be written.
    """
    try:
        handle = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o666)
    except OSError as error:
        raise _unwritable(folder, error) from error
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


def _unwritable(path: Path, error: OSError) -> DataError:
    return DataError(f"{path} cannot be written: {error.strerror or error}.")


def checksum(path: Path, algorithm: Algorithm = "sha256") -> str:
    """Return the checksum of a file's content as hex digits."""
    with path.open("rb") as file:
        return file_digest(file, _short_blake2b if algorithm == "blake2b" else algorithm).hexdigest()


def _short_blake2b() -> blake2b:
    return blake2b(digest_size=16)


@dataclass(frozen=True)
class FileDifferences:
    """How the files of a folder differ from a list of them; names in order.

    Attributes:
        missing: listed, and not there.
        unexpected: there, and not listed.
        changed: there, with another content than listed.
    """

    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    changed: tuple[str, ...]


def compare_files(
    files: Mapping[str, Path], listed: Mapping[str, Description], describe: Callable[[Path], Description]
) -> FileDifferences:
    """Compare files with a list of them, made of the same `describe`, such as `checksum`.

    Names in the list may come from anywhere: they are compared, and never opened.
    """
    return FileDifferences(
        tuple(sorted(listed.keys() - files.keys())),
        tuple(sorted(files.keys() - listed.keys())),
        tuple(name for name in sorted(listed.keys() & files.keys()) if describe(files[name]) != listed[name]),
    )

"""Opens files that may come from anybody: regular files alone, and no more of them than fits.

    scan_folder(folder)     what is in a folder and the folders below it: regular files, and what is refused
    files_in(folder)        the same, where anything that is refused is an error
    read_bytes(path)        the content of a file of limited size
    read_text(path)         the same as text

A link leads to any file of this machine, a device has no end, and to open a pipe waits for its other end: none of them
is opened.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

from pubench.errors import DataError, shown

#: A suite of a hundred blocks has 20 kB; a larger text is something else, and parsing it would only take time.
_MAX_TEXT_BYTES = 2**22


@dataclass(frozen=True)
class FolderFiles:
    """What is in a folder and the folders below it, by its path from there, with slashes, in order.

    Attributes:
        files: regular files.
        refused: links, devices, pipes and sockets.
    """

    files: dict[str, Path] = field(default_factory=dict)
    refused: dict[str, Path] = field(default_factory=dict)


def scan_folder(folder: Path) -> FolderFiles:
    """Return the files in a folder and the folders below it; no link is followed, and nothing is opened.

    Raises:
        DataError: the folder, or one below it, cannot be read.
    """
    found = FolderFiles()
    waiting = [(folder, "")]
    while waiting:
        current, prefix = waiting.pop()
        below = []
        for entry in _entries(current):
            if entry.is_dir(follow_symlinks=False):
                below.append((Path(entry.path), f"{prefix}{entry.name}/"))
            else:
                kind = found.files if entry.is_file(follow_symlinks=False) else found.refused
                kind[f"{prefix}{entry.name}"] = Path(entry.path)
        waiting += below
    return FolderFiles(_ordered(found.files), _ordered(found.refused))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(folder))
    except OSError as error:
        raise _unreadable(folder, error) from error


def _ordered(files: dict[str, Path]) -> dict[str, Path]:
    """Order names part by part, as walking through the folders does."""
    return dict(sorted(files.items(), key=lambda item: item[0].split("/")))


def files_in(folder: Path) -> dict[str, Path]:
    """Return the files in a folder and the folders below it, by their path from there, with slashes, in order.

    Raises:
        DataError: one is neither a regular file nor a folder; or the folder cannot be read.
    """
    found = scan_folder(folder)
    for path in found.refused.values():
        raise DataError(refusal(path))
    return found.files


def refusal(path: Path) -> str:
    """Return the sentence about a path that `scan_folder` refuses."""
    return f"{shown(str(path), 300)} is a link or no regular file; only regular files are read."


def read_bytes(path: Path, max_bytes: int, *, follow_link: bool = True) -> bytes:
    """Return the content of a regular file.

    Args:
        path: the file.
        max_bytes: a larger file is not read, whatever size it claims.
        follow_link: whether the path itself may be a link, as it may if the user named it.

    Raises:
        DataError: it is no regular file, too large, or cannot be read.
    """
    try:
        with _open_regular(path, follow_link=follow_link) as file:
            # As much as it claims and a byte more, lest memory for the largest file is reserved; the rest if it has more.
            content = file.read(min(max_bytes, os.fstat(file.fileno()).st_size) + 1)
            content += file.read(max_bytes + 1 - len(content))
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(content) > max_bytes:
        raise DataError(f"{path} is too large to be read: it has more than {max_bytes:,} bytes.")
    return content


def read_text(path: Path, max_bytes: int = _MAX_TEXT_BYTES) -> str:
    """Return the text in a regular file of UTF-8, lines of which end in a newline; see `read_bytes`."""
    content = read_bytes(path, max_bytes)
    try:
        return content.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text: byte {error.start + 1} cannot be read.") from error


def _open_regular(path: Path, *, follow_link: bool) -> BinaryIO:
    """Open a file; looked at before, because opening a device can do something, and after, because it may be another."""
    _check_regular(path, path.stat() if follow_link else path.lstat())
    no_link = 0 if follow_link else os.O_NOFOLLOW
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | no_link), "rb")
    try:
        _check_regular(path, os.fstat(file.fileno()))
    except DataError:
        file.close()
        raise
    return file


def _check_regular(path: Path, found: os.stat_result) -> None:
    if not S_ISREG(found.st_mode):
        raise DataError(refusal(path))


def _unreadable(path: Path, error: OSError) -> DataError:
    return DataError(f"{path} cannot be read: {error.strerror or error}.")

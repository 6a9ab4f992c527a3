"""Finds out what a table file is and opens it, packed or not; nothing is ever unpacked to disk.

path -> locate -> TableSource -> stream (bytes in order) or whole (bytes at random)
"""

import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from stat import S_ISDIR, S_ISREG
from tokenize import TokenError
from typing import Any, BinaryIO, Literal, TypeAlias

from pubench.errors import DataError, suggestion

Form: TypeAlias = Literal["text", "parquet", "feather", "npz"]

#: What a file holds, by how its name ends.
FORMS: dict[str, Form] = {
    ".csv": "text",
    ".tsv": "text",
    ".txt": "text",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".npz": "npz",
}
PACKINGS = (".gz", ".xz", ".zst", ".zip")
#: A packed file may grow to UNPACKED_RATIO times its size, and to UNPACKED_FREE bytes in any case. Tables reach a
#: hundredfold at most; a file made to fill the memory (a "zip bomb") goes far beyond.
UNPACKED_RATIO = 250
UNPACKED_FREE = 1 << 30
#: What Python's own libraries and numpy raise over a file that is not as it should be, beside OSError.
_UNREADABLE = (EOFError, RuntimeError, TokenError, ValueError, lzma.LZMAError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True)
class TableSource:
    """A table file that exists: what it holds and how it is packed.

    Attributes:
        path: the file.
        form: what is in it, once unpacked.
        packing: one of `PACKINGS`, or empty.
        entry: the name of the table inside a zip; empty otherwise.
    """

    path: Path
    form: Form
    packing: str = ""
    entry: str = ""

    def stream(self) -> BinaryIO:
        """Return the table's bytes from the start, unpacked as they are read; to be closed by the caller."""
        if not self.packing:
            return self.path.open("rb")
        return io.BufferedReader(_Limited(self._unpacked(), self.path), buffer_size=1 << 20)

    def whole(self) -> Path | io.BytesIO:
        """Return something that can be read at any place: the file itself, or its unpacked bytes in memory."""
        if not self.packing:
            return self.path
        with self.stream() as stream:
            return io.BytesIO(stream.read())

    def _unpacked(self) -> Any:
        match self.packing:
            case ".gz":
                return gzip.open(self.path)
            case ".xz":
                return lzma.open(self.path)
            case ".zst":
                from pyarrow import input_stream  # noqa: PLC0415 - heavy imports happen when used

                return input_stream(self.path, compression="zstd")
            case _:
                with zipfile.ZipFile(self.path) as archive:  # the file stays open until its entry is closed
                    return archive.open(self.entry)


class _Limited(io.RawIOBase):
    """Passes an unpacked stream on until it outgrows the packed file beyond reason."""

    def __init__(self, stream: Any, path: Path) -> None:
        self._stream = stream
        self._path = path
        self._left = unpacked_limit(path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self._left -= len(data)
        if self._left < 0:
            raise too_large(self._path)
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def unpacked_limit(path: Path) -> int:
    """Return how many bytes may come out of a packed file."""
    return max(UNPACKED_FREE, UNPACKED_RATIO * path.stat().st_size)


def too_large(path: Path) -> DataError:
    """Return the error for a file that grows beyond its limit."""
    return DataError(
        f"{path} unpacks to more than {UNPACKED_RATIO} times its size and {UNPACKED_FREE >> 30} GiB, as files made to "
        "fill the memory do; if you trust it, unpack it yourself."
    )


def locate(path: Path) -> TableSource:
    """Return what kind of table file `path` is; its content has not been looked at, but for a zip's list of entries.

    Raises:
        DataError: it is absent, no file, not readable, of no known kind, or a zip that holds not exactly one table.
    """
    with explained(path):
        _check_regular(path)
        packing = path.suffix.lower()
        if packing not in PACKINGS:
            return TableSource(path, _form(path.name, str(path)))
        if packing != ".zip":
            return TableSource(path, _form(path.stem, str(path)), packing)
        entry = _only_entry(path)
        return TableSource(path, _form(entry, f"'{shown(entry)}' in {path}"), packing, entry)


def _check_regular(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        siblings = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        raise DataError(f"{path} does not exist.{suggestion(path.name, siblings)}") from None
    if S_ISDIR(mode):
        raise DataError(f"{path} is a folder; name the table file in it.")
    if not S_ISREG(mode):
        raise DataError(f"{path} is not a regular file; save the table to one.")


def _form(name: str, subject: str) -> Form:
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in FORMS:
        raise DataError(
            f"{subject} ends in '{suffix}', which is not a table that pubench reads; use {', '.join(FORMS)}, or one of "
            f"them packed as {', '.join(PACKINGS)}."
        )
    return FORMS[suffix]


def _only_entry(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        entries = [
            entry
            for entry in archive.infolist()
            if not entry.is_dir() and not entry.filename.startswith("__MACOSX/")  # which macOS adds by itself
        ]
    for entry in entries:
        if _escapes(entry.filename):
            raise DataError(
                f"{path} holds an entry '{shown(entry.filename)}' that points outside of it; pack the table again."
            )
    if len(entries) != 1:
        raise DataError(f"{path} holds {len(entries)} files; pack exactly one table in a zip.")
    if entries[0].flag_bits & 1:
        raise DataError(f"{path} is encrypted; pack the table again without a password.")
    return entries[0].filename


def _escapes(name: str) -> bool:
    windows = PureWindowsPath(name)  # takes both kinds of slashes apart, and drives off
    return bool(windows.anchor) or ".." in windows.parts


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong while `path` is read into a `DataError` of one sentence."""
    from pyarrow import ArrowException  # noqa: PLC0415 - heavy imports happen when used

    try:
        yield
    except DataError:
        raise
    except MemoryError as error:
        raise DataError(
            f"{path} needs more memory than there is; leave columns out, or use fewer rows."
        ) from error
    except PermissionError as error:
        raise DataError(f"{path} can not be read: permission denied; ask its owner, or chmod it.") from error
    except OSError as error:
        if error.errno is not None:
            raise DataError(f"{path} can not be read: {error.strerror}.") from error
        raise _damaged(path, error) from error
    except (ArrowException, *_UNREADABLE) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> DataError:
    reason = shown(str(error), 200).rstrip(".")
    return DataError(
        f"{path} can not be read: it is damaged, cut off or not what its name says ({reason}); fetch or write it again."
    )


def shown(text: str, length: int = 60) -> str:
    """Return a name or value from a file as it may stand in a message: on one line, and not long."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[:length]}..."

"""Opens files that may be compressed, and finds out which kind of table a file holds.

    path -> locate -> TableSource -> stream (bytes in order), kept (bytes at random) or member (of an archive)
    path -> open_compressed: the same stream for a file of a known kind

Nothing is decompressed to disk. What is kept in memory has a bound, see `pubench.data.unpacking`: counted are the bytes as
they are decompressed, not the sizes that the file claims. What is read in batches, of which none is kept, has none.
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
from typing import Any, BinaryIO, Literal, TypeAlias, cast

from pubench.data.unpacking import VALUE_BYTES, Allowance
from pubench.errors import DataError, shown, suggestion

Form: TypeAlias = Literal["text", "parquet", "feather", "npz"]

#: What a file holds, by the suffix of its name.
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
_STREAMS = (".gz", ".xz", ".zst")
PACKINGS = (*_STREAMS, ".zip")
#: What Python's own libraries and NumPy raise for a damaged file, beside OSError.
_UNREADABLE = (EOFError, RuntimeError, TokenError, ValueError, lzma.LZMAError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True)
class TableSource:
    """A table file that exists: what it holds and how it is compressed.

    Attributes:
        path: the file.
        form: what it holds, once decompressed.
        packing: one of `PACKINGS`, or empty.
        entry: the name of the table inside a zip; empty otherwise.
    """

    path: Path
    form: Form
    packing: str = ""
    entry: str = ""

    def stream(self, separator: bytes = b"") -> BinaryIO:
        """Return the table's bytes from the start, decompressed as they are read; to be closed by the caller.

        They have no bound: whoever keeps what it reads passes the separator of its values, or calls `kept`.
        """
        stream = _open(self.path, *((self.entry,) if self.entry else ()))
        return _bounded(stream, Allowance.of(self.path), separator) if separator and self.packing else stream

    def kept(self) -> Path | io.BytesIO:
        """Return something that can be read at any position: the file itself, or its decompressed bytes in memory."""
        if not self.packing:
            return self.path
        with _bounded(self.stream(), Allowance.of(self.path)) as stream:
            return io.BytesIO(stream.read())

    def member(self, archive: Path | io.BytesIO, name: str, allowance: Allowance) -> BinaryIO:
        """Return a member of this file, opened by `kept`, where that is an archive itself as an npz is."""
        return _bounded(_open_member(archive, name, self.path), allowance)


def open_compressed(path: Path, *members: str) -> BinaryIO:
    """Open a file for reading, decompressed if its name ends in .gz, .xz or .zst, as far as there is memory for its content.

    Args:
        path: the file.
        members: where the content is inside a zip archive: the name of a member, or of an archive in it and so on. No
            other member is touched.

    Raises:
        DataError: here, if there is no such member; while it is read, if it grows beyond half of the free memory.
        OSError, ValueError, ...: what the libraries raise for a damaged file.
    """
    stream = _open(path, *members)
    return _bounded(stream, Allowance.of(path)) if members or path.suffix.lower() in _STREAMS else stream


def _open(path: Path, *members: str) -> BinaryIO:
    """Open a file, or a member; archives around it are read as a whole, with a bound."""
    if not members:
        return _open_stream(path)
    allowance = Allowance.of(path)
    archive: Path | io.BytesIO = path
    if path.suffix.lower() in _STREAMS:
        with _bounded(_open_stream(path), allowance) as stream:
            archive = io.BytesIO(stream.read())
    for name in members[:-1]:
        with _bounded(_open_member(archive, name, path), allowance) as stream:
            archive = io.BytesIO(stream.read())
    return _open_member(archive, members[-1], path)


def _open_stream(path: Path) -> BinaryIO:
    match path.suffix.lower():
        case ".gz":
            return cast("BinaryIO", gzip.open(path))
        case ".xz":
            return cast("BinaryIO", lzma.open(path))
        case ".zst":
            from pyarrow import input_stream  # noqa: PLC0415 - heavy imports happen when used

            return cast("BinaryIO", input_stream(path, compression="zstd"))
        case _:
            return path.open("rb")


def _open_member(archive: Path | io.BytesIO, name: str, path: Path) -> BinaryIO:
    with zipfile.ZipFile(archive) as opened:  # the file stays open until its member is closed
        if name not in opened.namelist():
            raise DataError(f"{path} has no member {shown(name)}.")
        return cast("BinaryIO", opened.open(name))


def _bounded(stream: BinaryIO, allowance: Allowance, separator: bytes = b"") -> BinaryIO:
    return io.BufferedReader(_Bounded(stream, allowance, separator), buffer_size=1 << 20)


class _Bounded(io.RawIOBase):
    """Passes a decompressed stream on until more bytes came out than are allowed.

    Of text, whose values are kept as numbers, each counts as one at least.
    """

    def __init__(self, stream: BinaryIO, allowance: Allowance, separator: bytes) -> None:
        self._stream = stream
        self._allowance = allowance
        self._separator = separator

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        values = data.count(self._separator) + data.count(b"\n") if self._separator else 0
        self._allowance.take(max(len(data), VALUE_BYTES * values))
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def locate(path: Path) -> TableSource:
    """Return which kind of table file `path` is, by its name and, for a zip, its list of members; it is not read.

    Raises:
        DataError: it is absent, no file, not readable, of no known kind, or a zip that holds not exactly one table.
    """
    with data_errors(path):
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
            if not entry.is_dir() and not entry.filename.startswith("__MACOSX/")  # added by macOS
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
    windows = PureWindowsPath(name)  # knows both kinds of slashes, and drives
    return bool(windows.anchor) or ".." in windows.parts


@contextmanager
def data_errors(path: Path) -> Iterator[None]:
    """Turn every error while `path` is read into a `DataError` of one sentence."""
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
        raise DataError(f"{path} cannot be read: permission denied; ask its owner, or chmod it.") from error
    except OSError as error:
        if error.errno is not None:
            raise DataError(f"{path} cannot be read: {error.strerror}.") from error
        raise _damaged(path, error) from error
    except (ArrowException, *_UNREADABLE) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> DataError:
    reason = shown(str(error), 200).rstrip(".")
    return DataError(
        f"{path} cannot be read: it is damaged, cut off or not what its name says ({reason}); fetch or write it again."
    )

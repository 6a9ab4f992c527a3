"""Keeps arrays on disk that are dear to compute, under names made of all that decides them.

    FOLDER/SHELF/KEY/NAME.npy, ..., description.json

An entry holds arrays in NumPy's own format, never pickled, and a description with the checksum of each. It appears
whole or not at all, is checked whenever it is read, and several processes may make, read and remove it at once. All
shelves share one limit: people have one disk, and what was not used for longest goes first, whatever it is.
"""

import errno
import json
import os
import re
import secrets
import shutil
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pubench.errors import ParameterError
from pubench.paths import DEFAULT_CACHE_LIMIT, cache_folder, cache_limit
from pubench.types import Arrays, read_only

#: Where data sets and other results are kept; nothing else in the folder is looked at, counted or removed.
SHELVES = ("arrays", "datasets")
_DESCRIPTION = "description.json"
#: Raised with every change of how keys are made or entries are written, so that no old entry is taken for a new one.
_FORMAT = 1
#: Lower case, because some file systems do not tell cases apart; no dots and slashes, which lead elsewhere.
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_TEMPORARY = re.compile(rf"\.{_NAME.pattern}-[0-9a-f]{{16}}")
#: No entry takes as long to write: a temporary folder this old belongs to a process that died.
_DEAD_SECONDS = 24 * 60 * 60
#: What is not in order in memory is copied in pieces of this size.
_BLOCK_BYTES = 2**20
_DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, MemoryError, RecursionError)


def say_nothing(sentence: str, /) -> None:
    """Take note of a sentence and do nothing."""


def content_key(*parts: object) -> str:
    """Return 32 hex digits made of the parts: equal parts give equal ones, on every machine, and others do not.

    Parts are None, bools, ints, floats, strings, NumPy arrays, and tuples, lists and mappings (with strings as keys, in
    any order) of these. Types and groupings count: 1, 1.0, "1", True, (1,) and [1] are six different parts. An array
    is not copied, unless its values are not in order, and then a block at a time.

    Raises:
        ParameterError: a part is of another type, which may look equal and mean something else.
    """
    digest = blake2b(digest_size=16)
    _add(digest, (_FORMAT, *parts))
    return digest.hexdigest()


def _add(digest: blake2b, part: object) -> None:
    """Feed one part as its type's letter, its length and its content, so that no two parts read alike."""
    match part:
        case tuple() | list():
            _frame(digest, b"t" if isinstance(part, tuple) else b"l", _hex(len(part)))
            for item in part:
                _add(digest, item)
        case Mapping():
            if not all(isinstance(key, str) for key in part):
                raise ParameterError("A key can be made of mappings only if their keys are strings.")
            _frame(digest, b"m", _hex(len(part)))
            for key in sorted(part):
                _add(digest, key)
                _add(digest, part[key])
        case np.ndarray():
            _add_array(digest, part)
        case _:
            _frame(digest, *_scalar(part))


def _scalar(part: object) -> tuple[bytes, bytes]:
    match part:
        case None:
            return b"n", b""
        case bool():  # before int, which it is too
            return b"b", _hex(part)
        case int():
            return b"i", _hex(part)
        case float():
            return b"f", struct.pack("<d", part)
        case str():
            return b"s", part.encode("utf-8", "surrogatepass")
        case _:
            raise ParameterError(
                f"A key can not be made of a {type(part).__name__}; turn it into text, numbers or arrays."
            )


def _add_array(digest: blake2b, array: npt.NDArray[Any]) -> None:
    if array.dtype.hasobject or isinstance(array, np.ma.MaskedArray):
        raise ParameterError("A key can not be made of a masked array or an array of Python objects.")
    header = repr((np.lib.format.dtype_to_descr(array.dtype), array.shape))
    _frame(digest, b"a", header.encode())  # which settles how many bytes follow
    for block in _blocks(array):
        digest.update(block.reshape(-1).view(np.uint8).data)


def _blocks(array: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    """Yield an array's values in order: in one piece where that takes no copy, else in copies of some rows."""
    if array.nbytes == 0:
        return
    if array.flags.c_contiguous:
        yield array
        return
    step = max(1, _BLOCK_BYTES // array[0].nbytes)
    for start in range(0, len(array), step):
        yield np.ascontiguousarray(array[start : start + step])


def _frame(digest: blake2b, letter: bytes, content: bytes) -> None:
    digest.update(letter + struct.pack("<Q", len(content)))
    digest.update(content)


def _hex(number: int) -> bytes:
    return f"{number:x}".encode()


@dataclass(frozen=True)
class ArrayCache:
    """A cache of arrays; an instance is a `pubench.types.Keep` and can be sent to other processes.

    It can cost time, never the answer: whatever is wrong with the folder, `make` is called instead.

    Attributes:
        folder: where it is; made when needed.
        limit_bytes: how large all shelves together may grow; 0 keeps nothing.
        notice: told, in one sentence, when an entry was damaged or could not be kept.
        shelf: the part of the folder in which entries are read and written, one of `SHELVES`.
    """

    folder: Path
    limit_bytes: int = DEFAULT_CACHE_LIMIT
    notice: Callable[[str], None] = say_nothing
    shelf: str = SHELVES[0]

    def __post_init__(self) -> None:
        if self.shelf not in SHELVES:
            raise ParameterError(
                f"There is no shelf '{self.shelf}' in a cache; there are {', '.join(SHELVES)}."
            )

    def __call__(self, key: str, make: Callable[[], Arrays], /) -> Arrays:
        """Return the arrays kept under `key`, or those that `make` returns, and keep them. They are read-only.

        Raises:
            ParameterError: `key` or a name is not made of lower-case letters, digits, - and _, or an array holds
                Python objects. Whatever `make` raises goes through.
        """
        _check_name(key)
        entry = self.folder / self.shelf / key
        found = self._find(entry)
        if found is not None:
            return found
        made = {name: read_only(np.asarray(array)) for name, array in make().items()}
        for name, array in made.items():
            _check_name(name)
            if array.dtype.hasobject:
                raise ParameterError(f"Array '{name}' holds Python objects; only plain arrays can be kept.")
        self._keep(entry, made)
        return made

    def find(self, key: str, most_bytes: int) -> Arrays | None:
        """Return the arrays kept under `key`, read-only, if they are there and take no more on disk."""
        _check_name(key)
        entry = self.folder / self.shelf / key
        try:
            size = sum(file.stat().st_size for file in entry.iterdir())
        except OSError:
            return None
        return self._find(entry) if size <= most_bytes else None

    @property
    def used_bytes(self) -> int:
        """How large all shelves together are; what can not be looked at counts 0."""
        return sum(entry.size for entry in _entries(self.folder))

    def _find(self, entry: Path) -> Arrays | None:
        for chance in (1, 2):
            try:
                return _read(entry)
            except _DAMAGE as error:
                if not os.path.lexists(entry):  # it never was there, or was removed meanwhile
                    return None
                if chance == 2:  # at the first it may have been removed and made again by others
                    reason = getattr(error, "strerror", None) or error
                    self.notice(f"The cache entry {entry} is damaged ({reason}) and was made again.")
                    _remove(entry)
        return None

    def _keep(self, entry: Path, arrays: Arrays) -> None:
        size = sum(array.nbytes for array in arrays.values())
        if size > self.limit_bytes:
            if self.limit_bytes:
                self.notice(
                    f"A result of {size / 1e6:,.1f} MB was not kept: the cache may hold {self.limit_bytes / 1e6:,.1f} MB; "
                    "PUBENCH_CACHE_LIMIT raises that."
                )
            return
        try:
            _write(entry, arrays)
        except OSError as error:
            self.notice(f"A result could not be kept in {entry.parent}: {error.strerror or error}.")
        else:
            _make_room(self.folder, self.limit_bytes, entry)


def machine_cache(notice: Callable[[str], None] = say_nothing) -> ArrayCache:
    """Return the cache of this machine, where `PUBENCH_CACHE` and with the limit that `PUBENCH_CACHE_LIMIT` says."""
    return ArrayCache(cache_folder(), cache_limit(), notice)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ParameterError(
            f"'{name}' can not name what is kept; use up to 64 lower-case letters, digits, - and _."
        )


def _write(entry: Path, arrays: Arrays) -> None:
    """Write an entry beside its place and move it there; if another process was first, with the same content, stop."""
    temporary = _beside(entry)
    temporary.mkdir(parents=True)
    try:
        checksums = {}
        for name, array in arrays.items():
            np.save(temporary / f"{name}.npy", array, allow_pickle=False)
            checksums[name] = _checksum(temporary / f"{name}.npy")
        (temporary / _DESCRIPTION).write_text(json.dumps({"checksums": checksums}), encoding="utf-8")
        try:
            temporary.rename(entry)
        except OSError as error:
            # Asking only whether it is there now would be wrong: it may have been removed again.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) and not entry.is_dir():
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _read(entry: Path) -> Arrays:
    """Return an entry's arrays, having checked every byte before any is interpreted; raises one of `_DAMAGE`."""
    description = json.loads((entry / _DESCRIPTION).read_text(encoding="utf-8"))
    arrays = {}
    for name, checksum in description["checksums"].items():
        _check_name(name)
        path = entry / f"{name}.npy"
        if _checksum(path) != checksum:
            raise ValueError(f"{path.name} has changed")
        arrays[name] = read_only(np.load(path, allow_pickle=False))
    with suppress(OSError):  # a folder that can not be written still serves
        os.utime(entry)  # used just now
    return arrays


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=16)).hexdigest()


def _beside(entry: Path) -> Path:
    """Return a new hidden name beside the entry; whoever dies leaves it to be swept out later."""
    return entry.with_name(f".{entry.name}-{secrets.token_hex(8)}")


def _remove(entry: Path) -> None:
    """Remove an entry: at once for all who look for it, then its files. Who is in the midst of reading it fails."""
    grave = _beside(entry)
    with suppress(OSError):
        entry.rename(grave)
        if grave.is_dir() and not grave.is_symlink():
            shutil.rmtree(grave, ignore_errors=True)
        else:
            grave.unlink()


@dataclass(frozen=True)
class _Entry:
    path: Path
    used: float
    size: int


def _entries(folder: Path) -> Iterator[_Entry]:
    """Yield the folders on the shelves, temporary ones too; what vanishes meanwhile is left out."""
    for shelf in SHELVES:
        with suppress(OSError):
            for path in sorted((folder / shelf).iterdir()):
                with suppress(OSError):
                    size = sum(file.stat().st_size for file in path.iterdir())
                    yield _Entry(path, path.stat().st_mtime, size)


def _make_room(folder: Path, limit: int, newest: Path) -> None:
    """Sweep out what dead processes left, and the entries not used for longest until the rest is below the limit."""
    entries = []
    for entry in _entries(folder):
        if _NAME.fullmatch(entry.path.name):
            entries.append(entry)
        elif _TEMPORARY.fullmatch(entry.path.name) and entry.used < time.time() - _DEAD_SECONDS:
            shutil.rmtree(entry.path, ignore_errors=True)
    total = sum(entry.size for entry in entries)
    for entry in sorted(entries, key=lambda entry: entry.used):
        if total <= limit:
            return
        if entry.path != newest:
            _remove(entry.path)
            total -= entry.size

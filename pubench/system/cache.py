"""Caches arrays on disk that are expensive to compute, under keys made of everything that decides them.

    FOLDER/SECTION/KEY/NAME.npy, ..., description.json

An entry holds arrays in NumPy's own format, never pickled, and a description with the checksum of each. It appears
whole or not at all, is checked whenever it is read, and several processes may write, read and remove it at once. All
sections share one limit, as they share one disk: the entries that were not used for longest are removed first.
"""

import errno
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pubench.errors import ParameterError
from pubench.system.files import checksum, remove_at_once, remove_old_temporaries, temporary_folder
from pubench.system.paths import DEFAULT_CACHE_LIMIT, cache_folder, cache_limit
from pubench.types import Arrays, read_only

#: Where other results and data sets are cached; nothing else in the folder is read, counted or removed.
SECTIONS = ("arrays", "datasets")
_DESCRIPTION = "description.json"
#: Lower case, because some file systems ignore case; no dots and slashes, which could lead out of the folder.
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
#: No entry takes as long to write: a temporary folder this old belongs to a process that died.
_DEAD_SECONDS = 24 * 60 * 60
_DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, MemoryError, RecursionError)


def ignore_notice(sentence: str, /) -> None:
    """Ignore a notice."""


@dataclass(frozen=True)
class ArrayCache:
    """A cache of arrays; an instance is a `pubench.types.Cache` and can be sent to other processes.

    It can cost time, never the answer: whatever is wrong with the folder, `make` is called instead.

    Attributes:
        folder: where it is; made when needed.
        limit_bytes: the size that all sections together may have; 0 caches nothing.
        notify: called with a sentence when an entry was damaged or could not be written.
        section: the part of the folder in which entries are read and written, one of `SECTIONS`.
    """

    folder: Path
    limit_bytes: int = DEFAULT_CACHE_LIMIT
    notify: Callable[[str], None] = ignore_notice
    section: str = SECTIONS[0]

    def __post_init__(self) -> None:
        if self.section not in SECTIONS:
            raise ParameterError(
                f"There is no section '{self.section}' in a cache; there are {', '.join(SECTIONS)}."
            )

    def __call__(self, key: str, make: Callable[[], Arrays], /) -> Arrays:
        """Return the arrays cached under `key`, or those that `make` returns, which are cached then; read-only.

        Raises:
            ParameterError: `key` or a name is not made of lower-case letters, digits, - and _, or an array holds
                Python objects. Exceptions of `make` pass through.
        """
        entry = self._entry(key)
        cached = self._read(entry)
        if cached is not None:
            return cached
        arrays = {name: read_only(np.asarray(array)) for name, array in make().items()}
        for name, array in arrays.items():
            _check_name(name)
            if array.dtype.hasobject:
                raise ParameterError(f"Array '{name}' holds Python objects; only plain arrays can be cached.")
        self._write(entry, arrays)
        return arrays

    def get(self, key: str, max_bytes: int) -> Arrays | None:
        """Return the arrays cached under `key`, read-only; None if there are none or they take more bytes on disk."""
        entry = self._entry(key)
        try:
            size = sum(file.stat().st_size for file in entry.iterdir())
        except OSError:
            return None
        return self._read(entry) if size <= max_bytes else None

    @property
    def used_bytes(self) -> int:
        """The size of all sections together; what cannot be read counts 0."""
        return sum(entry.size for entry in _entries(self.folder))

    def _entry(self, key: str) -> Path:
        _check_name(key)
        return self.folder / self.section / key

    def _read(self, entry: Path) -> Arrays | None:
        for attempt in (1, 2):
            try:
                return _read(entry)
            except _DAMAGE as error:
                if not os.path.lexists(entry):  # it was never written, or was removed meanwhile
                    return None
                if attempt == 2:  # at the first it may have been removed and written again by another process
                    reason = getattr(error, "strerror", None) or error
                    self.notify(f"The cache entry {entry} is damaged ({reason}) and was made again.")
                    remove_at_once(entry)
        return None

    def _write(self, entry: Path, arrays: Arrays) -> None:
        size = sum(array.nbytes for array in arrays.values())
        if size > self.limit_bytes:
            if self.limit_bytes:
                self.notify(
                    f"A result of {size / 1e6:,.1f} MB was not cached: the cache may hold at most "
                    f"{self.limit_bytes / 1e6:,.1f} MB; PUBENCH_CACHE_LIMIT raises that."
                )
            return
        try:
            _write(entry, arrays)
        except OSError as error:
            self.notify(f"A result could not be cached in {entry.parent}: {error.strerror or error}.")
        else:
            _evict(self.folder, self.limit_bytes, newest=entry)


def machine_cache(notify: Callable[[str], None] = ignore_notice) -> ArrayCache:
    """Return the cache of this machine, in the folder `PUBENCH_CACHE`, with the limit `PUBENCH_CACHE_LIMIT`."""
    return ArrayCache(cache_folder(), cache_limit(), notify)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ParameterError(
            f"'{name}' cannot name a cache entry; use up to 64 lower-case letters, digits, - and _."
        )


def _write(entry: Path, arrays: Arrays) -> None:
    """Write an entry; one of the same key that another process wrote first has the same content, and stays."""
    entry.parent.mkdir(parents=True, exist_ok=True)
    with temporary_folder(entry) as temporary:
        checksums = {}
        for name, array in arrays.items():
            np.save(temporary / f"{name}.npy", array, allow_pickle=False)
            checksums[name] = _checksum(temporary / f"{name}.npy")
        (temporary / _DESCRIPTION).write_text(json.dumps({"checksums": checksums}), encoding="utf-8")
        try:
            temporary.rename(entry)
        except OSError as error:
            # Whether the entry exists now is no proof that it did: it may have been removed again.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) and not entry.is_dir():
                raise


def _read(entry: Path) -> Arrays:
    """Return an entry's arrays; every byte is checked before it is interpreted. Raises one of `_DAMAGE`."""
    description = json.loads((entry / _DESCRIPTION).read_text(encoding="utf-8"))
    arrays = {}
    for name, expected in description["checksums"].items():
        _check_name(name)
        path = entry / f"{name}.npy"
        if _checksum(path) != expected:
            raise ValueError(f"{path.name} has changed")
        arrays[name] = read_only(np.load(path, allow_pickle=False))
    with suppress(OSError):  # a read-only folder can be used as well
        os.utime(entry)  # it was used just now
    return arrays


def _checksum(path: Path) -> str:
    return checksum(path, "blake2b")


@dataclass(frozen=True)
class _Entry:
    path: Path
    used: float
    size: int


def _entries(folder: Path) -> Iterator[_Entry]:
    """Yield the folders in the sections, temporary ones too; what vanishes meanwhile is left out."""
    for section in SECTIONS:
        with suppress(OSError):
            for path in sorted((folder / section).iterdir()):
                with suppress(OSError):
                    size = sum(file.stat().st_size for file in path.iterdir())
                    yield _Entry(path, path.stat().st_mtime, size)


def _evict(folder: Path, limit_bytes: int, *, newest: Path) -> None:
    """Remove the entries that were not used for longest until the rest is below the limit, but never the newest."""
    for section in SECTIONS:
        remove_old_temporaries(folder / section, _DEAD_SECONDS)
    entries = [entry for entry in _entries(folder) if _NAME.fullmatch(entry.path.name)]
    total = sum(entry.size for entry in entries)
    for entry in sorted(entries, key=lambda entry: entry.used):
        if total <= limit_bytes:
            return
        if entry.path != newest:
            remove_at_once(entry.path)
            total -= entry.size

"""Cache keys made of content: equal values have equal keys, on every machine."""

import struct
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from pubench.errors import ParameterError

#: Raised with every change of how keys are made or cache entries are written, so that no old entry is used.
_FORMAT = 1
#: Arrays that are not contiguous in memory are copied in blocks of this size.
_BLOCK_BYTES = 2**20


def content_key(*parts: object) -> str:
    """Return 32 hex digits made of the parts: equal parts give equal digits, on every machine, and others do not.

    Parts are None, bools, ints, floats, strings, NumPy arrays, and tuples, lists and mappings (with strings as keys, in
    any order) of these. Types and groupings count: 1, 1.0, "1", True, (1,) and [1] are six different parts. An array
    is not copied, unless it is not contiguous, and then a block at a time.

    Raises:
        ParameterError: a part is of another type, whose equality may mean something else.
    """
    digest = blake2b(digest_size=16)
    _add(digest, (_FORMAT, *parts))
    return digest.hexdigest()


def _add(digest: blake2b, part: object) -> None:
    """Add one part as a letter for its type, its length and its content, so that no two parts give the same bytes."""
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
                f"A key cannot be made of a {type(part).__name__}; turn it into text, numbers or arrays."
            )


def _add_array(digest: blake2b, array: npt.NDArray[Any]) -> None:
    if array.dtype.hasobject or isinstance(array, np.ma.MaskedArray):
        raise ParameterError("A key cannot be made of a masked array or an array of Python objects.")
    header = repr((np.lib.format.dtype_to_descr(array.dtype), array.shape))
    _frame(digest, b"a", header.encode())  # which implies the number of bytes that follow
    for block in _blocks(array):
        digest.update(block.reshape(-1).view(np.uint8).data)


def _blocks(array: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    """Yield an array's values in order: in one block if that takes no copy, else in copies of some rows."""
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

"""Parses Universal Binary JSON, as XGBoost writes it, into Python values, and writes it: https://ubjson.org."""

from dataclasses import dataclass
from struct import Struct
from typing import Any

import numpy as np

from pubench_plugins.learners.model_files import expect

#: Type marker -> code of one number, for `struct` and for NumPy.
_NUMBERS = {b"i": ">b", b"U": ">B", b"I": ">h", b"l": ">i", b"L": ">q", b"d": ">f", b"D": ">d"}
_STRUCTS = {marker: Struct(code) for marker, code in _NUMBERS.items()}
_MARKERS = {np.dtype(code).str: marker for marker, code in _NUMBERS.items()}
_CONSTANTS = {b"T": True, b"F": False, b"Z": None}
_DEPTH = 32


def parse(data: bytes) -> Any:
    """Return the one value in `data`: objects as dict, lists as list or, of one type, as NumPy array.

    Raises ValueError where `data` ends early, continues after the value, nests too deep or repeats a key.
    """
    reader = _UbjsonReader(data)
    value = reader.value(reader.take(1), 0)
    expect(reader.position == len(data), "nothing should follow its content")
    return value


def write(value: Any) -> bytes:
    """Return a value as Universal Binary JSON: a dict, a list, a text, a whole number, or a NumPy array of numbers.

    An array is written with the type that it has.
    """
    parts: list[bytes] = []
    _write(value, parts)
    return b"".join(parts)


def _write(value: Any, parts: list[bytes]) -> None:
    match value:
        case dict():
            parts.append(b"{")
            for key, item in value.items():
                parts.append(_sized(key))
                _write(item, parts)
            parts.append(b"}")
        case list():
            parts.append(b"[#" + _length(len(value)))
            for item in value:
                _write(item, parts)
        case np.ndarray():
            kind = value.dtype.newbyteorder(">")
            parts += [b"[$", _MARKERS[kind.str], b"#", _length(len(value)), value.astype(kind).tobytes()]
        case str():
            parts.append(b"S" + _sized(value))
        case _:
            parts.append(_length(value))


def _sized(text: str) -> bytes:
    encoded = text.encode()
    return _length(len(encoded)) + encoded


def _length(number: int) -> bytes:
    return b"L" + number.to_bytes(8, "big", signed=True)


@dataclass
class _UbjsonReader:
    data: bytes
    position: int = 0

    def take(self, size: int) -> bytes:
        expect(0 <= size <= len(self.data) - self.position, "it should not end here")
        self.position += size
        return self.data[self.position - size : self.position]

    def value(self, marker: bytes, depth: int) -> Any:
        expect(depth < _DEPTH, "it should not nest so deep")
        if marker in _NUMBERS:
            return self.number(marker)
        if marker in _CONSTANTS:
            return _CONSTANTS[marker]
        if marker == b"S":
            return self.text(self.take(1))
        if marker == b"[":
            return self.list(depth)
        expect(marker == b"{", "it should hold known types")
        return self.object(depth)

    def number(self, marker: bytes) -> Any:
        return _STRUCTS[marker].unpack(self.take(_STRUCTS[marker].size))[0]

    def numbers(self, marker: bytes, count: int) -> np.ndarray[tuple[int], np.dtype[Any]]:
        kind = np.dtype(_NUMBERS[marker])
        return np.frombuffer(self.take(kind.itemsize * count), kind)

    def count(self, marker: bytes) -> int:
        number = self.number(marker) if marker in _NUMBERS else None
        expect(type(number) is int and number >= 0, "a length should be a whole number")
        assert isinstance(number, int)  # noqa: S101 - for mypy: the line above checks it
        return number

    def text(self, marker: bytes) -> str:
        return self.take(self.count(marker)).decode()

    def list(self, depth: int) -> Any:
        marker = self.take(1)
        if marker == b"$":
            kind = self.take(1)
            expect(self.take(1) == b"#", "a list of one type should have a length")
            return self.numbers(kind, self.count(self.take(1)))
        if marker == b"#":
            return [self.value(self.take(1), depth + 1) for _ in range(self.count(self.take(1)))]
        values = []
        while marker != b"]":
            values.append(self.value(marker, depth + 1))
            marker = self.take(1)
        return values

    def object(self, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        marker = self.take(1)
        while marker != b"}":
            key = self.text(marker)
            expect(key not in values, "a key should not come twice")
            values[key] = self.value(self.take(1), depth + 1)
            marker = self.take(1)
        return values

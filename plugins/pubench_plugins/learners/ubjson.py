"""Universal Binary JSON, as XGBoost writes it, into Python values: https://ubjson.org."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pubench_plugins.learners.model_files import expect

#: Type marker -> big-endian NumPy type of one number.
_NUMBERS = {b"i": ">i1", b"U": ">u1", b"I": ">i2", b"l": ">i4", b"L": ">i8", b"d": ">f4", b"D": ">f8"}
_CONSTANTS = {b"T": True, b"F": False, b"Z": None}
_DEPTH = 32


def parse(data: bytes) -> Any:
    """Return the one value in `data`: objects as dict, lists as list or, of one type, as NumPy array.

    Raises ValueError where `data` ends early, goes on behind the value, nests too deep or repeats a key.
    """
    reader = _Reader(data)
    value = reader.value(reader.take(1), 0)
    expect(reader.position == len(data), "nothing should follow its content")
    return value


@dataclass
class _Reader:
    data: bytes
    position: int = 0

    def take(self, size: int) -> bytes:
        expect(0 <= size <= len(self.data) - self.position, "it should not end here")
        self.position += size
        return self.data[self.position - size : self.position]

    def value(self, marker: bytes, depth: int) -> Any:
        expect(depth < _DEPTH, "it should not nest so deep")
        if marker in _NUMBERS:
            return self.numbers(marker, 1)[0].item()
        if marker in _CONSTANTS:
            return _CONSTANTS[marker]
        if marker == b"S":
            return self.text(self.take(1))
        if marker == b"[":
            return self.list(depth)
        expect(marker == b"{", "it should hold known types")
        return self.object(depth)

    def numbers(self, marker: bytes, count: int) -> np.ndarray[tuple[int], np.dtype[Any]]:
        kind = np.dtype(_NUMBERS[marker])
        return np.frombuffer(self.take(kind.itemsize * count), kind)

    def count(self, marker: bytes) -> int:
        number = self.value(marker, 0) if marker in _NUMBERS else None
        expect(type(number) is int and number >= 0, "a length should be a whole number")
        assert isinstance(number, int)  # noqa: S101 - tells mypy what the line above made sure of
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

"""Changed copies of a file: bytes, numbers and words are replaced, and parts are left out or come twice."""

import re
from collections.abc import Iterator

import numpy as np

#: What a number is replaced with: other spellings, ends of ranges, and what is no number.
_WORDS = (
    b"", b" ", b"0", b"-0", b"+5", b"-1", b"1_0", b"0x10", b"1.5", b"257", b"2147483647", b"4294967296", b"99999999999999999999",
    b"1e300", b"-1e300", b"1e999", b"1e-320", b"nan", b"NaN", b"Infinity", b"true", b"null", b"[]", b"{}", b'"a"', b'"\\ud800"',
)  # fmt: skip
_NUMBER = re.compile(rb"-?[0-9][0-9.e+-]*")
_MOST_BYTES = 200


def mutations(content: bytes, seed: int, count: int) -> Iterator[bytes]:
    """Yield changed copies of a content, the same for the same seed."""
    generator = np.random.default_rng(seed)
    changes = (_bytes, _numbers, _parts)
    for _ in range(count):
        changed = content
        for _ in range(generator.integers(1, 4)):
            changed = changes[generator.integers(len(changes))](changed, generator)
        yield changed


def _bytes(content: bytes, generator: np.random.Generator) -> bytes:
    changed = bytearray(content)
    for place in generator.integers(0, max(1, len(content)), 3 if content else 0):
        changed[place] = generator.integers(256)
    return bytes(changed)


def _numbers(content: bytes, generator: np.random.Generator) -> bytes:
    found = list(_NUMBER.finditer(content))
    if not found:
        return content
    place = found[generator.integers(len(found))]
    return content[: place.start()] + _WORDS[generator.integers(len(_WORDS))] + content[place.end() :]


def _parts(content: bytes, generator: np.random.Generator) -> bytes:
    start, end, place = np.sort(generator.integers(0, len(content) + 1, 3)).tolist()
    part = content[start : min(end, start + _MOST_BYTES)]
    if generator.integers(2):
        return content[:place] + part + content[place:]
    return content[:start] + content[start + len(part) :]

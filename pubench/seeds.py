"""Randomness: a root seed and a path of names give a stream; all generators are made here.

    Seed(7).child("fold", 2).child("member", 13).generator()

A stream depends on its path alone, never on what was drawn before or elsewhere: member 13 is the same whether it is
trained alone, among others or on another machine.
"""

from dataclasses import dataclass
from hashlib import blake2b
from operator import index

import numpy as np

from pubench.errors import ParameterError

Name = str | int


def _spawn_key(path: tuple[Name, ...]) -> tuple[int, ...]:
    # A digest of the typed, length-prefixed names: ("ab", "c") and ("a", "bc"), or 1 and "1", must differ.
    digest = blake2b(digest_size=16)
    for name in path:
        data = f"{type(name).__name__}:{name}".encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return tuple(int(word) for word in np.frombuffer(digest.digest(), dtype="<u4"))


@dataclass(frozen=True)
class Seed:
    """A node of the seed tree: hashable, comparable, and small to send to another process."""

    root: int
    path: tuple[Name, ...] = ()

    def __post_init__(self) -> None:
        if self.root < 0:
            raise ParameterError(f"A seed is a whole number from 0 up; got {self.root}.")

    def child(self, *names: Name) -> "Seed":
        """Return the node below this one along `names`; NumPy's integers count as Python's."""
        return Seed(
            self.root, (*self.path, *(name if isinstance(name, str) else index(name) for name in names))
        )

    def generator(self) -> np.random.Generator:
        """Return a fresh generator at the start of this node's stream."""
        return np.random.Generator(np.random.PCG64(self._sequence()))

    def integer(self) -> int:
        """Return a number in [0, 2**31) for a library that wants an integer seed."""
        return int(self._sequence().generate_state(1, np.uint32)[0] >> 1)

    def _sequence(self) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.root, spawn_key=_spawn_key(self.path))

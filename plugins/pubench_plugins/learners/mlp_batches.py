"""Batches of rows for nets, drawn for each tagging from its own seed.

A batch has a quarter of either class at least. The weights of its rows keep the expectation of the gradient: without
this most batches would have no positive at one in a thousand rows.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from pubench import FloatVector, IndexVector, Seed, Tags

#: Number of batches that are drawn together.
TOGETHER = 50
#: The least share of either class in a batch.
_LEAST = 0.25


class Class(NamedTuple):
    """The examples of one class.

    Attributes:
        rows: the row of each example.
        ends: cumulative sums of their weights.
    """

    rows: IndexVector
    ends: FloatVector

    @property
    def mass(self) -> float:
        """The sum of the weights."""
        return float(self.ends[-1])

    def draws(self, size: int, seed: Seed) -> Iterator[IndexVector]:
        """Yield `size` rows again and again; each row is drawn in proportion to its weight, as evenly as possible."""
        generator = seed.generator()
        strata = min(len(self.rows), 2**16)
        # A few rows take many rounds for a single yield: they are drawn together.
        rounds = -(-(2**12) // strata)
        drawn = np.empty(0, np.int64)
        while True:
            while len(drawn) < size:
                order = generator.permuted(np.tile(np.arange(strata), (rounds, 1)), axis=1)
                places = order + generator.random((rounds, strata))
                found = np.searchsorted(self.ends, places.ravel() * (self.mass / strata), side="right")
                drawn = np.concatenate([drawn, self.rows[np.minimum(found, len(self.rows) - 1)]])
            yield drawn[:size]
            drawn = drawn[size:]

    def sample(self, most: int, seed: Seed) -> tuple[IndexVector, FloatVector]:
        """Return all rows and their weights, or `most` drawn rows, which share the mass equally."""
        if len(self.rows) <= most:
            return self.rows, np.diff(self.ends, prepend=0.0)
        return next(self.draws(most, seed)), np.full(most, self.mass / most)


class Classes(NamedTuple):
    """The examples of a tagging, positive and negative; a row with a soft tag is in both."""

    positive: Class
    negative: Class

    @classmethod
    def of(cls, tags: Tags) -> "Classes":
        """Return the examples of these tags."""
        examples = tags.examples()
        weight = np.ones(len(examples.rows)) if examples.weight is None else examples.weight
        return cls(
            *(
                Class(examples.rows[chosen], np.cumsum(weight[chosen]))
                for chosen in (examples.positive, ~examples.positive)
            )
        )

    @property
    def rarer(self) -> float:
        """The mass of the rarer class: what there is to learn from."""
        return min(self.positive.mass, self.negative.mass)

    @property
    def share(self) -> float:
        """The share of positives."""
        return self.positive.mass / (self.positive.mass + self.negative.mass)


class Batches:
    """Batches of each tagging; positives come first.

    Attributes:
        target: shape (n_nets, batch, 1): 1 for positives, else 0.
        weight: shape (n_nets, batch, 1): of the rows' losses, so that their sum is expected to be the sum over all examples
            divided by the mass of the rarer class.
    """

    def __init__(self, taggings: Sequence[Classes], size: int, seeds: Sequence[Seed]) -> None:
        self.target = np.zeros((len(taggings), size, 1), np.float32)
        self.weight = np.empty_like(self.target)
        self._draws: list[tuple[int, Iterator[IndexVector], Iterator[IndexVector]]] = []
        for number, (classes, seed) in enumerate(zip(taggings, seeds, strict=True)):
            positive = round(size * min(max(classes.share, _LEAST), 1 - _LEAST))
            self.target[number, :positive] = 1
            self.weight[number, :positive] = classes.positive.mass / classes.rarer / positive
            self.weight[number, positive:] = classes.negative.mass / classes.rarer / (size - positive)
            self._draws.append(
                (
                    positive,
                    classes.positive.draws(TOGETHER * positive, seed.child("positive")),
                    classes.negative.draws(TOGETHER * (size - positive), seed.child("negative")),
                )
            )

    def rows(self) -> IndexVector:
        """Return the rows of the next `TOGETHER` batches: shape (TOGETHER, n_nets, batch)."""
        drawn = np.empty((TOGETHER, *self.target.shape[:2]), np.int64)
        for number, (count, positive, negative) in enumerate(self._draws):
            drawn[:, number, :count] = next(positive).reshape(TOGETHER, -1)
            drawn[:, number, count:] = next(negative).reshape(TOGETHER, -1)
        return drawn

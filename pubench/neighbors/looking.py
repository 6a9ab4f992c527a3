"""Two looks around every query: a short one that settles most, and a full one for the rest; or brute force at once."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench.neighbors.brute import Centred, rank_by_products
from pubench.neighbors.kernels import WIDTH, Bounds, Leaves, Queries, Task, rank_positives, settle_near
from pubench.threads import in_order
from pubench.types import BoolVector, FloatVector, IndexVector

#: Cells near a group of queries that a first look looks into.
_NEAR = 48
#: Queries that go through the leaves together: so often is a leaf used once it is in the cache.
_TOGETHER = 2048
#: Positives listed at least: with fewer, too many queries would be looked around again for more.
_LISTED = 4

#: Groups there are at least, unless they would be smaller than the other number.
_GROUPS, _SMALLEST_GROUP = 8, 128
#: Queries around which is tried what the others are like, no more than one of so many.
_PROBED, _RARELY = 128, 16
#: Points that leave this share of the rows to be looked at cost more than they save, if rows have more columns than points.
_TOO_MANY = 0.2
#: A first look settles too few where this share of the queries has positives near.
_MOSTLY_NEAR = 0.6
#: Queries in a block of brute force.
_IN_A_BLOCK = 256
#: The share of progress at which most queries are settled.
_SETTLED = 0.3

Progress: TypeAlias = Callable[[float], None]
#: Ranks around a group of queries, listing so many positives: (count, rows, ranks, ...) as `rank_positives`.
Rank: TypeAlias = Callable[[IndexVector, int], tuple[Any, ...]]


class Entries(NamedTuple):
    """Ranks of positives, one per place in vectors of equal length."""

    query: IndexVector
    fold: IndexVector
    rank: IndexVector
    positive: IndexVector


@dataclass(frozen=True, eq=False)
class Index:
    """What is searched: all rows, the labelled ones again by themselves, how far points can be off, the mean row and a scale."""

    leaves: Leaves
    positives: Leaves
    bounds: Bounds
    mean: FloatVector
    factor: float


@dataclass(frozen=True, eq=False)
class Look:
    """What is looked for: the positives among the first `k_max`, in each of `folds` folds.

    Attributes:
        index: what is searched.
        ask: gives some of the queries, by their numbers.
        held_out: shape (n_rows,), uint64; bit f is set where fold f does without the row.
        folds: the number of folds, 1 to 64.
        k_max: the last rank of interest.
    """

    index: Index
    ask: Callable[[IndexVector], Queries]
    held_out: npt.NDArray[np.uint64]
    folds: int
    k_max: int

    def around(self, order: IndexVector, pool: ThreadPoolExecutor, progress: Progress) -> Entries:
        """Return the ranks around the queries in `order`, in which those that stand together lie close together."""
        looked, near, listed = self._probe(order)
        if looked > _TOO_MANY and self.index.leaves.values.shape[1] > WIDTH:
            rows = Centred.of(self.index.leaves, self.index.mean, self.index.factor)
            positives = Centred.of(self.index.positives, self.index.mean, self.index.factor)
            by_products = partial(self._by_products, rows, positives)
            return self._ranked(order, _IN_A_BLOCK, self._most, by_products, pool, progress)
        if near <= _MOSTLY_NEAR:
            order = np.concatenate([order[:0], *self._may_be_near(order, pool, progress)])
            progress = partial(_from, progress, _SETTLED)
        return self._ranked(order, _TOGETHER, listed, self._by_points, pool, progress)

    def _probe(self, order: IndexVector) -> tuple[float, float, int]:
        """Return what a few queries are like.

        Returns:
            (looked, near, listed): the share of rows that must be looked at, the share of queries that have positives
            near, and how many of the nearest positives to list so that hardly a query needs more.
        """
        few = order[:: max(_RARELY, len(order) // _PROBED)]
        if not len(few):
            return 0.0, 0.0, 1
        count, _, _, looked = self._by_points(few, self._most)
        listed = min(self._most, max(_LISTED, 2 * int(count.max())))
        return looked / (len(few) * len(self.held_out)), float(np.mean(count > 0)), listed

    def _may_be_near(
        self, order: IndexVector, pool: ThreadPoolExecutor, progress: Progress
    ) -> Iterator[IndexVector]:
        """Yield the queries that may have a positive among their nearest rows; the others have none."""
        groups = _groups(order, _TOGETHER)

        def look(group: IndexVector) -> BoolVector:
            may_be: BoolVector = settle_near(*self._arguments(group, 1))
            return may_be

        for number, may_be in enumerate(in_order(pool, look, groups)):
            yield groups[number][may_be]
            progress(_SETTLED * (number + 1) / len(groups))

    def _ranked(
        self,
        order: IndexVector,
        together: int,
        listed: int,
        rank: Rank,
        pool: ThreadPoolExecutor,
        progress: Progress,
    ) -> Entries:
        groups = _groups(order, together)
        found = [Entries(*(order[:0],) * 4)]
        look = partial(self._entries, rank, listed)
        for number, entries in enumerate(in_order(pool, look, groups)):
            found.append(entries)
            progress((number + 1) / len(groups))
        return _together(found)

    def _entries(self, rank: Rank, listed: int, group: IndexVector) -> Entries:
        """Rank around one group, listing so many positives of each query, and more where that runs short.

        Without folds `k_max` positives are never short: the last of them has all others before it. A fold that does
        without some of them may have room for more.
        """
        count, rows, ranks = rank(group, listed)[:3]
        enough = self._positives if self.held_out.any() else self._most
        short = (count == listed) & (listed < enough)
        ranks[short] = 0
        query, fold, place = np.nonzero(ranks)
        entries = Entries(group[query], fold, ranks[query, fold, place], rows[query, place])
        if not short.any():
            return entries
        return _together([entries, self._entries(rank, min(2 * listed, self._positives), group[short])])

    def _by_points(self, group: IndexVector, listed: int) -> tuple[Any, ...]:
        ranked: tuple[Any, ...] = rank_positives(*self._arguments(group, listed))
        return ranked

    def _by_products(
        self, rows: Centred, positives: Centred, group: IndexVector, listed: int
    ) -> tuple[Any, ...]:
        task = Task(self.k_max, listed, 0, self.folds)
        return rank_by_products(self.held_out, self.ask(group), rows, positives, task)

    def _arguments(self, group: IndexVector, listed: int) -> tuple[Any, ...]:
        index, task = self.index, Task(self.k_max, listed, _NEAR, self.folds)
        return self.held_out, self.ask(group), index.leaves, index.positives, index.bounds, task

    @property
    def _most(self) -> int:
        """How many positives can be among the first `k_max`, where no fold does without some."""
        return min(self.k_max, self._positives)

    @property
    def _positives(self) -> int:
        return int((self.index.positives.rows >= 0).sum())


def _groups(order: IndexVector, size: int) -> list[IndexVector]:
    """Return runs of so many queries, or fewer where there are few, so that every thread gets its share."""
    size = min(size, max(_SMALLEST_GROUP, -(-len(order) // _GROUPS)))
    return [order[start : start + size] for start in range(0, len(order), size)]


def _together(parts: list[Entries]) -> Entries:
    return Entries(*(np.concatenate(vectors) for vectors in zip(*parts, strict=True)))


def _from(progress: Progress, start: float, share: float) -> None:
    progress(start + (1 - start) * share)

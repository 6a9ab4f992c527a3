"""What a search is asked and what it answers, whichever way it goes."""

import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench.threads import in_order
from pubench.types import FloatMatrix, IndexVector

#: Positives listed at least: with fewer, too many queries would be looked around again for more.
LISTED = 4
#: Groups there are at least, unless they would be smaller than the other number.
_GROUPS, _SMALLEST_GROUP = 8, 256

#: Told now and then which share is done, in [0, 1]; what it raises ends the search.
Progress: TypeAlias = Callable[[float], None]
#: (count, rows, ranks) around n queries: how many of the listed positives are among the first `k_max` rows in some fold;
#: which they are; and their ranks in each fold, shape (n, folds, listed), 0 where there is none.
Ranked: TypeAlias = tuple[IndexVector, IndexVector, npt.NDArray[Any]]
#: Ranks around a group of queries, listing so many of the nearest positives.
Rank: TypeAlias = Callable[[IndexVector, int], Ranked]


class Aim(NamedTuple):
    """What is looked for: the positives among the first `k_max`, in each of `folds` folds.

    Attributes:
        held_out: shape (n_rows,), uint64; bit f is set where fold f does without the row.
        folds: the number of folds, 1 to 64.
        k_max: the last rank of interest.
    """

    held_out: npt.NDArray[np.uint64]
    folds: int
    k_max: int


class Entries(NamedTuple):
    """Ranks of positives, one per place in vectors of equal length."""

    query: IndexVector
    fold: IndexVector
    rank: IndexVector
    positive: IndexVector


class Engine(Protocol):
    """Rows and the labelled ones among them, ready to be searched."""

    def of_rows(self, rows: IndexVector, aim: Aim, progress: Progress) -> Entries:
        """Return the ranks around some of the unlabeled rows, by their numbers, in no particular order."""

    def of_new(self, X: FloatMatrix, aim: Aim, progress: Progress) -> Entries:
        """Return the ranks around other rows; queries are counted as in `X`."""


@dataclass(frozen=True)
class Ranking:
    """Goes through queries group by group, side by side.

    Attributes:
        aim: what is looked for.
        positives: how many there are.
    """

    aim: Aim
    positives: int

    @property
    def most(self) -> int:
        """How many positives can be among the first `k_max`, where no fold does without some."""
        return min(self.aim.k_max, self.positives)

    @property
    def likely(self) -> int:
        """How many positives to list so that hardly a query needs more, if they stand anywhere."""
        expected = self.aim.k_max * self.positives / len(self.aim.held_out)
        return min(self.most, LISTED + 2 * math.ceil(expected))

    def around(
        self, groups: list[IndexVector], listed: int, rank: Rank, pool: Executor, progress: Progress
    ) -> Entries:
        """Return the ranks around the queries, listing so many of the nearest positives at first."""
        return gathered(partial(self._entries, rank, listed), groups, pool, progress)

    def _entries(self, rank: Rank, listed: int, group: IndexVector) -> Entries:
        """Rank around one group, listing so many positives of each query, and more where that runs short.

        Without folds `k_max` positives are never short: the last of them has all others before it. A fold that does
        without some of them may have room for more.
        """
        count, rows, ranks = rank(group, listed)
        enough = self.positives if self.aim.held_out.any() else self.most
        short = (count == listed) & (listed < enough)
        ranks[short] = 0
        query, fold, place = np.nonzero(ranks)
        entries = Entries(group[query], fold, ranks[query, fold, place], rows[query, place])
        if not short.any():
            return entries
        return _joined([entries, self._entries(rank, min(2 * listed, self.positives), group[short])])


def in_groups(order: IndexVector, size: int) -> list[IndexVector]:
    """Return runs of so many queries, or fewer where there are few, so that every thread gets its share."""
    size = min(size, max(_SMALLEST_GROUP, -(-len(order) // _GROUPS)))
    return [order[start : start + size] for start in range(0, len(order), size)]


def tell(progress: Progress, start: float, length: float, share: float) -> None:
    """Tell of a part of the work, which begins at `start` and has this length."""
    progress(start + length * share)


def gathered(
    look: Callable[[IndexVector], Entries], groups: list[IndexVector], pool: Executor, progress: Progress
) -> Entries:
    """Return what there is around all groups, looked around side by side."""
    found = []
    for number, entries in enumerate(in_order(pool, look, groups)):
        found.append(entries)
        progress((number + 1) / len(groups))
    return _joined(found)


def _joined(parts: list[Entries]) -> Entries:
    nothing = Entries(*(np.zeros(0, dtype=np.int64),) * 4)
    return Entries(*(np.concatenate(vectors) for vectors in zip(nothing, *parts, strict=True)))

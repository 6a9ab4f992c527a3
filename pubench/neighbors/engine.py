"""The request and the entries of a search, and what all engines share: groups of queries, searched side by side."""

import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench.system.threads import map_in_order
from pubench.types import FloatMatrix, IndexVector

#: Candidates listed at least: with fewer, too many queries would have to be searched again.
LISTED = 4
#: The number of groups is at least the first number, unless groups would be smaller than the second.
_GROUPS, _SMALLEST_GROUP = 8, 256

#: Called now and then with the share that is done, in [0, 1]; what it raises ends the search.
Progress: TypeAlias = Callable[[float], None]
#: (count, rows, ranks) around n queries: the number of candidates among the first `k_max` rows in some fold;
#: which they are; and their ranks in each fold, shape (n, folds, listed), 0 where there is none.
Ranked: TypeAlias = tuple[IndexVector, IndexVector, npt.NDArray[Any]]
#: Ranks around a group of queries, with this number of candidates for each.
Rank: TypeAlias = Callable[[IndexVector, int], Ranked]


class RankRequest(NamedTuple):
    """What a search is for: the positives among the first `k_max`, in each of `folds` folds.

    Attributes:
        held_out: shape (n_rows,), uint64; bit f is set where fold f holds the row out.
        folds: the number of folds, 1 to 64.
        k_max: the last rank of interest.
    """

    held_out: npt.NDArray[np.uint64]
    folds: int
    k_max: int


class Entries(NamedTuple):
    """Ranks of positives, as vectors of equal length."""

    query: IndexVector
    fold: IndexVector
    rank: IndexVector
    positive: IndexVector


class Engine(Protocol):
    """Rows and the labelled ones among them, ready to be searched."""

    def of_rows(self, rows: IndexVector, request: RankRequest, progress: Progress) -> Entries:
        """Return the ranks around some of the unlabeled rows, by their numbers, in no particular order."""

    def of_new(self, X: FloatMatrix, request: RankRequest, progress: Progress) -> Entries:
        """Return the ranks around other rows; queries are counted as in `X`."""


@dataclass(frozen=True)
class Ranking:
    """Ranks positives around groups of queries, side by side.

    Attributes:
        request: what is searched for.
        positives: their number.
    """

    request: RankRequest
    positives: int

    @property
    def most(self) -> int:
        """The largest number of positives among the first `k_max`, if no fold holds any out."""
        return min(self.request.k_max, self.positives)

    @property
    def likely(self) -> int:
        """The number of candidates that is enough for nearly every query, if positives are spread evenly."""
        expected = self.request.k_max * self.positives / len(self.request.held_out)
        return min(self.most, LISTED + 2 * math.ceil(expected))

    def around(
        self, groups: list[IndexVector], listed: int, rank: Rank, pool: Executor, progress: Progress
    ) -> Entries:
        """Return the ranks around the queries, with `listed` candidates for each at first."""
        return gather(partial(self._entries, rank, listed), groups, pool, progress)

    def _entries(self, rank: Rank, listed: int, group: IndexVector) -> Entries:
        """Rank around one group with `listed` candidates for each query, and with more where all of them have a rank.

        Without folds `k_max` candidates are always enough: the last of them has all others before it. A fold that holds
        some of them out may have ranks for more.
        """
        count, rows, ranks = rank(group, listed)
        enough = self.positives if self.request.held_out.any() else self.most
        short = (count == listed) & (listed < enough)
        ranks[short] = 0
        query, fold, place = np.nonzero(ranks)
        entries = Entries(group[query], fold, ranks[query, fold, place], rows[query, place])
        if not short.any():
            return entries
        return _joined([entries, self._entries(rank, min(2 * listed, self.positives), group[short])])


def in_groups(order: IndexVector, size: int) -> list[IndexVector]:
    """Return runs of at most `size` queries, and of fewer where there are few, so that every thread gets its share."""
    size = min(size, max(_SMALLEST_GROUP, -(-len(order) // _GROUPS)))
    return [order[start : start + size] for start in range(0, len(order), size)]


def report_part(progress: Progress, start: float, length: float, share: float) -> None:
    """Report the progress of a part of the work that begins at `start` and has this length."""
    progress(start + length * share)


def gather(
    rank: Callable[[IndexVector], Entries], groups: list[IndexVector], pool: Executor, progress: Progress
) -> Entries:
    """Return the entries of all groups, searched side by side."""
    found = []
    for number, entries in enumerate(map_in_order(pool, rank, groups)):
        found.append(entries)
        progress((number + 1) / len(groups))
    return _joined(found)


def _joined(parts: list[Entries]) -> Entries:
    nothing = Entries(*(np.zeros(0, dtype=np.int64),) * 4)
    return Entries(*(np.concatenate(vectors) for vectors in zip(nothing, *parts, strict=True)))

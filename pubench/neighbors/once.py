"""Equal rows are looked around once: the neighbours of one are those of all of them, but for themselves."""

from dataclasses import dataclass
from typing import Optional

import numpy as np

from pubench.neighbors.engine import Aim, Engine, Entries, Progress
from pubench.types import BoolVector, FloatMatrix, IndexVector

#: If there are so many rows for each distinct one, equal ones are looked around once: with fewer it saves little.
_OFTEN = 1.25
#: Runs of rows of a large table in which equal ones show, whether they stand together or anywhere.
_RUNS, _RUN = 64, 64
#: Differences of numbers beyond this have squares above 0; only those of float64 can be smaller.
_TINY = 1e-140
#: Pairs of rows that are compared together.
_BLOCK = 16_384


@dataclass(frozen=True, eq=False)
class Once:
    """An `Engine` that asks another one about each distinct row.

    Attributes:
        engine: searches all rows.
        distinct: shape (n_distinct, n_features); the rows that differ.
        same: shape (n_rows,); which of them a row is.
        blurred: whether some of them may be so near each other that the squared distance is 0.
    """

    engine: Engine
    distinct: FloatMatrix
    same: IndexVector
    blurred: bool

    @classmethod
    def over(cls, engine: Engine, X: FloatMatrix) -> Optional["Once"]:
        """Return an engine for the rows that `engine` searches, None where too few of them are equal."""
        if len(X) > _RUNS * _RUN:
            starts = np.linspace(0, len(X) - _RUN, _RUNS).astype(np.int64)
            some = X[(starts[:, None] + np.arange(_RUN)).ravel()]
            if len(distinct_rows(some)[0]) == len(some):
                return None
        first, same = distinct_rows(X)
        if len(X) < _OFTEN * len(first):
            return None
        distinct = X[first]
        return cls(engine, distinct, same, bool(((distinct != 0) & (np.abs(distinct) < _TINY)).any()))

    def of_rows(self, rows: IndexVector, aim: Aim, progress: Progress) -> Entries:
        """Return the ranks around some of the rows.

        A row that stands for its equals is asked for as if it were new: then all of them are its neighbours, at no
        distance. Each of them is not its own: what stands after it there is one rank nearer to it. So one more rank is
        looked at.
        """
        asked, which = np.unique(self.same[rows], return_inverse=True)
        found = self.engine.of_new(self.distinct[asked], aim._replace(k_max=aim.k_max + 1), progress)
        entry, query = _of_each(rows, which, found.query)
        after = self._apart(asked[found.query], self.same[found.positive])[entry]
        fold, rank, positive = found.fold[entry], found.rank[entry], found.positive[entry]
        after |= positive > query
        rank = rank - after
        held_out = (aim.held_out[query] >> fold.astype(np.uint64)) & np.uint64(1)
        counts = (rank <= aim.k_max) & (held_out == 0)
        return Entries(query[counts], fold[counts], rank[counts], positive[counts])

    def of_new(self, X: FloatMatrix, aim: Aim, progress: Progress) -> Entries:
        """Return the ranks around other rows."""
        return self.engine.of_new(X, aim, progress)

    def _apart(self, a: IndexVector, b: IndexVector) -> BoolVector:
        """Return whether distinct rows have a distance above 0."""
        apart = a != b
        if self.blurred:
            for start in range(0, len(a), _BLOCK):
                here = slice(start, start + _BLOCK)
                apart[here] = np.square(self.distinct[a[here]] - self.distinct[b[here]]).any(axis=1)
        return apart


def _of_each(rows: IndexVector, which: IndexVector, query: IndexVector) -> tuple[IndexVector, IndexVector]:
    """Give each row the entries of the query that stands for it.

    Args:
        rows: shape (n,).
        which: shape (n,); the number of the query.
        query: shape (n_entries,); the queries of the entries.

    Returns:
        (entry, row): the places of entries, and the rows that they are now entries of.
    """
    order = np.argsort(query, kind="stable")
    length = np.bincount(query, minlength=int(which.max(initial=-1)) + 1)
    start = np.cumsum(length) - length
    row = np.repeat(np.arange(len(rows)), length[which])
    before = np.cumsum(length[which]) - length[which]
    return order[np.arange(len(row)) - before[row] + start[which][row]], rows[row]


def distinct_rows(X: FloatMatrix) -> tuple[IndexVector, IndexVector]:
    """Return (first, same): where each distinct row stands first, and for each row the place of its equal there."""
    # Rows that are alone with their sum have no equal, which is seen sooner and needs less memory.
    _, which, count = np.unique(X.sum(axis=1, dtype=np.float64), return_inverse=True, return_counts=True)
    alone, others = np.flatnonzero(count[which] == 1), np.flatnonzero(count[which] > 1)
    few = X[others] + X.dtype.type(0)  # so that 0 is not -0
    whole = few.view(np.dtype((np.void, few.dtype.itemsize * few.shape[1]))).ravel()
    _, first, equal = np.unique(whole, return_index=True, return_inverse=True)
    same = np.empty(len(X), dtype=np.int64)
    same[alone], same[others] = np.arange(len(alone)), len(alone) + equal
    return np.concatenate([alone, others[first]]), same

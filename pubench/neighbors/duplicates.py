"""Duplicate rows are searched once: equal rows have the same neighbours, but for themselves."""

from dataclasses import dataclass
from typing import Optional

import numpy as np

from pubench.neighbors.engine import Engine, Entries, Progress, RankRequest
from pubench.types import BoolVector, FloatMatrix, IndexVector

#: Duplicates are searched once if there are at least this many rows for each distinct one: with fewer it saves little.
_OFTEN = 1.25
#: Number and length of the runs of rows of a large table that are searched for duplicates.
_RUNS, _RUN = 64, 64
#: Differences of numbers beyond this have squares above 0; only those of float64 can be smaller.
_TINY = 1e-140
#: Pairs of rows that are compared together.
_BLOCK = 16_384


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """An `Engine` that searches around each distinct row once, by another engine.

    Attributes:
        engine: searches all rows.
        distinct: shape (n_distinct, n_features); the rows that differ.
        same: shape (n_rows,); the number of the distinct row that a row equals.
        may_underflow: whether two of them may be so near each other that their squared distance is 0.
    """

    engine: Engine
    distinct: FloatMatrix
    same: IndexVector
    may_underflow: bool

    @classmethod
    def over(cls, engine: Engine, X: FloatMatrix) -> Optional["DistinctRows"]:
        """Return an engine for the rows that `engine` searches, None where too few of them are equal."""
        if len(X) > _RUNS * _RUN:
            starts = np.linspace(0, len(X) - _RUN, _RUNS).astype(np.int64)
            sample = X[(starts[:, None] + np.arange(_RUN)).ravel()]
            if len(distinct_rows(sample)[0]) == len(sample):
                return None
        first, same = distinct_rows(X)
        if len(X) < _OFTEN * len(first):
            return None
        distinct = X[first]
        return cls(engine, distinct, same, bool(((distinct != 0) & (np.abs(distinct) < _TINY)).any()))

    def of_rows(self, rows: IndexVector, request: RankRequest, progress: Progress) -> Entries:
        """Return the ranks around some of the rows.

        The distinct row is searched around as if it were new: then all rows that equal it are its neighbours, at distance
        0. But no row is its own neighbour: what follows it in that order is one rank nearer to it. So one more rank is
        searched.
        """
        distinct, which = np.unique(self.same[rows], return_inverse=True)
        found = self.engine.of_new(
            self.distinct[distinct], request._replace(k_max=request.k_max + 1), progress
        )
        entry, query = _expand(rows, which, found.query)
        after = self._differ(distinct[found.query], self.same[found.positive])[entry]
        fold, rank, positive = found.fold[entry], found.rank[entry], found.positive[entry]
        after |= positive > query
        rank = rank - after
        held_out = (request.held_out[query] >> fold.astype(np.uint64)) & np.uint64(1)
        counts = (rank <= request.k_max) & (held_out == 0)
        return Entries(query[counts], fold[counts], rank[counts], positive[counts])

    def of_new(self, X: FloatMatrix, request: RankRequest, progress: Progress) -> Entries:
        """Return the ranks around other rows."""
        return self.engine.of_new(X, request, progress)

    def _differ(self, a: IndexVector, b: IndexVector) -> BoolVector:
        """Return whether distinct rows have a distance above 0."""
        differ = a != b
        if self.may_underflow:
            for start in range(0, len(a), _BLOCK):
                here = slice(start, start + _BLOCK)
                differ[here] = np.square(self.distinct[a[here]] - self.distinct[b[here]]).any(axis=1)
        return differ


def _expand(rows: IndexVector, which: IndexVector, query: IndexVector) -> tuple[IndexVector, IndexVector]:
    """Copy the entries of each query to all rows that equal it.

    Args:
        rows: shape (n,).
        which: shape (n,); the number of the query.
        query: shape (n_entries,); the queries of the entries.

    Returns:
        (entry, row): positions in `query`, and the rows that they are copied to.
    """
    order = np.argsort(query, kind="stable")
    length = np.bincount(query, minlength=int(which.max(initial=-1)) + 1)
    start = np.cumsum(length) - length
    row = np.repeat(np.arange(len(rows)), length[which])
    before = np.cumsum(length[which]) - length[which]
    return order[np.arange(len(row)) - before[row] + start[which][row]], rows[row]


def distinct_rows(X: FloatMatrix) -> tuple[IndexVector, IndexVector]:
    """Return (first, same): the first row of each distinct one, and for each row the position of its equal in `first`."""
    # Rows whose sum is unique have no equal: that is faster and needs less memory than comparing them.
    _, which, count = np.unique(X.sum(axis=1, dtype=np.float64), return_inverse=True, return_counts=True)
    alone, others = np.flatnonzero(count[which] == 1), np.flatnonzero(count[which] > 1)
    rest = X[others] + X.dtype.type(0)  # so that 0 is not -0
    whole = rest.view(np.dtype((np.void, rest.dtype.itemsize * rest.shape[1]))).ravel()
    _, first, equal = np.unique(whole, return_index=True, return_inverse=True)
    same = np.empty(len(X), dtype=np.int64)
    same[alone], same[others] = np.arange(len(alone)), len(alone) + equal
    return np.concatenate([alone, others[first]]), same

"""Every row against every other by the exact distance: the fastest way in small tables of few columns."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench.neighbors.candidates import is_held_out
from pubench.neighbors.compilation import kernel
from pubench.neighbors.engine import Entries, Progress, Ranking, RankRequest, gather, in_groups
from pubench.neighbors.partition import refuse_extreme
from pubench.system.machine import cores
from pubench.system.threads import INLINE
from pubench.types import BoolVector, FloatMatrix, IndexVector

#: Rows whose squares are summed before those of the next ones: they and a column of them stay in a first-level cache.
_BLOCK = 512
#: Queries in a group.
_TOGETHER = 256
#: Queries, shape (n, n_features), and their row numbers, -1 for rows that are not among those searched.
DirectQueries: TypeAlias = tuple[npt.NDArray[np.float64], IndexVector]


@dataclass(frozen=True, eq=False)
class Direct:
    """An `Engine` that computes every distance.

    Attributes:
        columns: shape (n_features, n_rows), float64.
        labelled: shape (n_rows,).
        n_threads: number of threads; all cores when None.
    """

    columns: npt.NDArray[np.float64]
    labelled: BoolVector
    n_threads: int | None

    @classmethod
    def over(cls, X: FloatMatrix, s: BoolVector, n_threads: int | None) -> "Direct":
        """Search these rows; `s` says which are labelled.

        Raises:
            DataError: squares of the values are beyond float64.
        """
        refuse_extreme(float(np.abs(X).max()))
        return cls(np.array(X.T, dtype=np.float64, order="C"), s, n_threads)

    def of_rows(self, rows: IndexVector, request: RankRequest, progress: Progress) -> Entries:
        """Return the ranks around some of the rows."""
        values = np.ascontiguousarray(self.columns.T)
        return self._around(rows, lambda group: (values[group], group), request, progress)

    def of_new(self, X: FloatMatrix, request: RankRequest, progress: Progress) -> Entries:
        """Return the ranks around other rows."""

        def queries_of(group: IndexVector) -> DirectQueries:
            return X[group].astype(np.float64), np.full(len(group), -1)

        return self._around(np.arange(len(X)), queries_of, request, progress)

    def _around(
        self,
        order: IndexVector,
        queries_of: Callable[[IndexVector], DirectQueries],
        request: RankRequest,
        progress: Progress,
    ) -> Entries:
        most = Ranking(request, int(self.labelled.sum())).most
        table = DirectTable(self.columns, self.labelled, request.held_out, request.folds, request.k_max)

        def rank(group: IndexVector) -> Entries:
            entries = np.empty((4, len(group) * request.folds * most), dtype=np.int64)
            query, fold, rank, positive = entries[:, : _rank(table, *queries_of(group), entries)]
            return Entries(group[query], fold, rank, positive)

        groups = in_groups(order, _TOGETHER)
        with ThreadPoolExecutor(self.n_threads or cores()) if len(groups) > 1 else INLINE as pool:
            return gather(rank, groups, pool, progress)


class DirectTable(NamedTuple):
    """The rows and the request in the form that compiled code takes; see `Direct` and `RankRequest`."""

    columns: Any
    labelled: Any
    held_out: Any
    folds: int
    k_max: int


@kernel()
def _rank(table: DirectTable, queries: Any, own: Any, entries: Any) -> int:
    """Write (query, fold, rank, positive) of the positives around some queries, and return their number."""
    positives = np.flatnonzero(table.labelled)
    squares = np.empty(len(table.labelled))
    count = 0
    for i in range(len(queries)):
        _square(queries[i], table.columns, squares)
        if own[i] >= 0:
            squares[own[i]] = np.nan  # compares false with every square
        for fold in range(table.folds):
            if own[i] >= 0 and is_held_out(table.held_out[own[i]], fold):
                continue
            # DistinctRows one is not among the first, positives at its square, whose numbers are larger, are not either.
            full, limit = False, np.inf
            for row in positives:
                if (full and squares[row] >= limit) or is_held_out(table.held_out[row], fold):
                    continue
                rank = 1 + _nearer(row, squares, table.held_out, fold)
                if rank > table.k_max:
                    full, limit = True, squares[row]
                else:
                    entries[:, count] = i, fold, rank, row
                    count += 1
    return count


@kernel()
def _square(query: Any, columns: Any, squares: Any) -> None:
    """Write the squared distances of all rows: differences, squares and their sum in float64, in column order."""
    width, n_rows = columns.shape
    for start in range(0, n_rows, _BLOCK):
        stop = min(start + _BLOCK, n_rows)
        here = squares[start:stop]
        here[:] = 0.0
        for j in range(0, width - 3, 4):  # four at a time: sums are loaded and stored less often
            a, b = columns[j, start:stop], columns[j + 1, start:stop]
            c, d = columns[j + 2, start:stop], columns[j + 3, start:stop]
            at_a, at_b, at_c, at_d = query[j], query[j + 1], query[j + 2], query[j + 3]
            for x in range(stop - start):
                total = here[x] + (a[x] - at_a) * (a[x] - at_a)
                total += (b[x] - at_b) * (b[x] - at_b)
                total += (c[x] - at_c) * (c[x] - at_c)
                here[x] = total + (d[x] - at_d) * (d[x] - at_d)
        for j in range(width - width % 4, width):
            a, at_a = columns[j, start:stop], query[j]
            for x in range(stop - start):
                here[x] += (a[x] - at_a) * (a[x] - at_a)


@kernel()
def _nearer(row: Any, squares: Any, held_out: Any, fold: int) -> int:
    """Return the number of rows of a fold before a row: nearer ones, and equally near ones of smaller numbers."""
    count = 0
    for x in range(row):
        count += (squares[x] <= squares[row]) & (not is_held_out(held_out[x], fold))
    for x in range(row + 1, len(squares)):
        count += (squares[x] < squares[row]) & (not is_held_out(held_out[x], fold))
    return count

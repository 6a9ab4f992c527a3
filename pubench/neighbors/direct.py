"""Every row against every other by the exact distance: in small tables of few columns nothing else is as fast."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from pubench.machine import cores
from pubench.neighbors.engine import Aim, Entries, Progress, Ranking, gathered, in_groups
from pubench.neighbors.partition import refuse_extreme
from pubench.threads import AT_ONCE
from pubench.types import BoolVector, FloatMatrix, IndexVector

#: Rows whose squares are summed before those of the next ones: they and a column of them stay in a first-level cache.
_BLOCK = 512
#: Queries that are looked around together.
_TOGETHER = 256
#: Queries, shape (n, n_features), and their row numbers, -1 for rows that are not among those searched.
Asked: TypeAlias = tuple[npt.NDArray[np.float64], IndexVector]


@dataclass(frozen=True, eq=False)
class Direct:
    """An `Engine` that computes every distance.

    Attributes:
        columns: shape (n_features, n_rows), float64.
        labelled: shape (n_rows,).
        n_threads: how many threads may work at once; all cores when None.
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

    def of_rows(self, rows: IndexVector, aim: Aim, progress: Progress) -> Entries:
        """Return the ranks around some of the rows."""
        values = np.ascontiguousarray(self.columns.T)
        return self._around(rows, lambda group: (values[group], group), aim, progress)

    def of_new(self, X: FloatMatrix, aim: Aim, progress: Progress) -> Entries:
        """Return the ranks around other rows."""

        def ask(group: IndexVector) -> Asked:
            return X[group].astype(np.float64), np.full(len(group), -1)

        return self._around(np.arange(len(X)), ask, aim, progress)

    def _around(
        self, order: IndexVector, ask: Callable[[IndexVector], Asked], aim: Aim, progress: Progress
    ) -> Entries:
        most = Ranking(aim, int(self.labelled.sum())).most
        table = Table(self.columns, self.labelled, aim.held_out, aim.folds, aim.k_max)

        def look(group: IndexVector) -> Entries:
            entries = np.empty((4, len(group) * aim.folds * most), dtype=np.int64)
            query, fold, rank, positive = entries[:, : _rank(table, *ask(group), entries)]
            return Entries(group[query], fold, rank, positive)

        groups = in_groups(order, _TOGETHER)
        with ThreadPoolExecutor(self.n_threads or cores()) if len(groups) > 1 else AT_ONCE as pool:
            return gathered(look, groups, pool, progress)


class Table(NamedTuple):
    """What is searched, and for what; see `Direct` and `Aim`."""

    columns: Any
    labelled: Any
    held_out: Any
    folds: int
    k_max: int


@njit(nogil=True, cache=True)
def _rank(table: Table, queries: Any, own: Any, entries: Any) -> int:
    """Write (query, fold, rank, positive) of the positives around some queries, and return how many there are."""
    positives = np.flatnonzero(table.labelled)
    squares = np.empty(len(table.labelled))
    count = 0
    for i in range(len(queries)):
        _square(queries[i], table.columns, squares)
        if own[i] >= 0:
            squares[own[i]] = np.nan  # which is neither nearer than another row nor as near
        for fold in range(table.folds):
            if own[i] >= 0 and _is_out(table.held_out[own[i]], fold):
                continue
            # Once one is not among the first, positives at its square, whose numbers are larger, are not either.
            full, beyond = False, np.inf
            for row in positives:
                if (full and squares[row] >= beyond) or _is_out(table.held_out[row], fold):
                    continue
                rank = 1 + _nearer(row, squares, table.held_out, fold)
                if rank > table.k_max:
                    full, beyond = True, squares[row]
                else:
                    entries[:, count] = i, fold, rank, row
                    count += 1
    return count


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def _nearer(row: int, squares: Any, held_out: Any, fold: int) -> int:
    """Return how many rows of a fold stand before a row: nearer ones, and equally near ones of smaller numbers."""
    count = 0
    for x in range(row):
        count += (squares[x] <= squares[row]) & (not _is_out(held_out[x], fold))
    for x in range(row + 1, len(squares)):
        count += (squares[x] < squares[row]) & (not _is_out(held_out[x], fold))
    return count


@njit(nogil=True, cache=True, forceinline=True)
def _is_out(mask: Any, fold: int) -> bool:
    """Whether a fold does without a row of this mask; not that of `kernels`, whose changes numba's cache would not see."""
    return bool((mask >> np.uint64(fold)) & np.uint64(1))

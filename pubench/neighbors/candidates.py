"""The nearest positives of each query, whose ranks a search counts: shared by all kernels.

A list of candidates holds the positives nearest to a query, nearest first. They cut the distances from it into
intervals; counting the rows in each interval gives the ranks. Rows are compared by `exact_square`, in float64.
"""

from typing import Any, NamedTuple

import numpy as np

from pubench.neighbors.compilation import kernel


class Queries(NamedTuple):
    """Rows to be ranked around, which lie close together.

    Attributes:
        rows: shape (n,), int64; their row numbers, -1 for rows that are not among those searched.
        values: shape (n, n_features); the rows as they were given.
        points: shape (n, WIDTH), float32; the rows as points (`pubench.neighbors.partition`).
        errors: shape (n,), float64; the absolute error of a distance to another point.
    """

    rows: Any
    values: Any
    points: Any
    errors: Any


class SearchTask(NamedTuple):
    """The request in the form that compiled code takes.

    Attributes:
        k_max: the last rank of interest.
        listed: the number of candidates of each query: its nearest positives, which are ranked.
        cells: the number of cells near a group of queries that the first pass reads.
        folds: the number of folds, at least 1.
    """

    k_max: int
    listed: int
    cells: int
    folds: int


class Bounds(NamedTuple):
    """Error bounds of computed squares.

    Attributes:
        scale: squares between points are those between rows times this.
        growth: relative error of a distance between points, above the query's own error.
        blur: relative error of `quick_square` against `exact_square`.
    """

    scale: float
    growth: float
    blur: float


class Candidates(NamedTuple):
    """The state of a search; i is a query, j a position in its list of nearest positives.

    Attributes:
        count: shape (n,); the number of positives of the list that may be among the first `k_max`.
        squares, rows: shape (n, listed); exact squares and row numbers of the positives, nearest first.
        certain, possible: shape (n, listed); a row of a quick square below the first stands before this positive; one
            above the second does not.
        nearer: shape (n, listed); rows counted so far between positives j - 1 and j.
        held_out: shape (n, folds, listed); the number of them that each fold holds out.
        searched: shape (n, folds), bool; the query is not held out itself.
    """

    count: Any
    squares: Any
    rows: Any
    certain: Any
    possible: Any
    nearer: Any
    held_out: Any
    searched: Any


@kernel(_nrt=False)
def exact_square(a: Any, b: Any) -> float:
    """Return the squared Euclidean distance: differences, squares and their sum in float64, in column order."""
    total = 0.0
    for j in range(len(a)):
        difference = np.float64(a[j]) - np.float64(b[j])
        total += difference * difference
    return total


@kernel(_nrt=False, fastmath=True)
def quick_square(a: Any, b: Any) -> float:
    """Return `exact_square` with the sum in any order, which changes it by up to `Bounds.blur`."""
    total = 0.0
    for j in range(len(a)):
        difference = np.float64(a[j]) - np.float64(b[j])
        total += difference * difference
    return total


@kernel(_nrt=False, forceinline=True)
def precedes(square: float, row: int, other_square: float, other_row: int) -> bool:
    """Whether a row is nearer than another one; equal distances go by row number."""
    return square < other_square or (square == other_square and row < other_row)


@kernel(_nrt=False)
def is_held_out(mask: Any, fold: int) -> bool:
    """Return whether a fold holds out a row of this mask."""
    return bool((mask >> np.uint64(fold)) & np.uint64(1))


@kernel(_nrt=False)
def insert(square: float, row: int, squares: Any, rows: Any, count: int) -> int:
    """Insert a row into a sorted list of `count`, drop the last one if it is full, and return the new count."""
    position = count
    while position > 0 and precedes(square, row, squares[position - 1], rows[position - 1]):
        position -= 1
    if position == len(rows):
        return count
    count = min(count + 1, len(rows))
    for later in range(count - 1, position, -1):
        squares[later] = squares[later - 1]
        rows[later] = rows[later - 1]
    squares[position] = square
    rows[position] = row
    return count


@kernel()
def empty_candidates(held_out: Any, queries: Queries, task: SearchTask) -> Candidates:
    """Return the state at the start: no candidate is listed."""
    n, listed = len(queries.rows), task.listed
    searched = np.ones((n, task.folds), np.bool_)
    for i in range(n):
        for fold in range(task.folds):
            if queries.rows[i] >= 0 and is_held_out(held_out[queries.rows[i]], fold):
                searched[i, fold] = False
    return Candidates(
        np.zeros(n, np.int64),
        np.empty((n, listed)),
        np.full((n, listed), -1, np.int64),
        np.empty((n, listed)),
        np.empty((n, listed)),
        np.zeros((n, listed), np.int64),
        np.zeros((n, task.folds, listed), np.int64),
        searched,
    )


@kernel(_nrt=False, forceinline=True)
def count_row(position: int, mask: Any, i: int, candidates: Candidates) -> None:
    """Count a row that stands before this position, and the folds that hold it out."""
    candidates.nearer[i, position] += 1
    fold = 0
    while mask:
        if mask & np.uint64(1):
            candidates.held_out[i, fold, position] += 1
        mask >>= np.uint64(1)
        fold += 1


@kernel(_nrt=False, forceinline=True)
def shorten(i: int, candidates: Candidates, k_max: int) -> None:
    """Drop the positives that no fold can have among its `k_max` nearest rows any more.

    Ranks grow along the list, so that those which stay are the first ones.
    """
    most = 0
    for fold in range(candidates.searched.shape[1]):
        before = 0
        for j in range(candidates.count[i]):
            before += candidates.nearer[i, j] - candidates.held_out[i, fold, j]
            if before >= k_max or not candidates.searched[i, fold]:
                break
            most = max(most, j + 1)
    candidates.count[i] = most


@kernel(_nrt=False, forceinline=True)
def none_precedes(first: int, i: int, candidates: Candidates) -> bool:
    """Whether rows from number `first` on cannot stand before the last open positive of query i, whatever their distance.

    Nothing stands before a positive that equals the query but equal rows of smaller numbers: where many rows are equal,
    this saves reading most of them.
    """
    last = candidates.count[i] - 1
    return candidates.squares[i, last] == 0 and first > candidates.rows[i, last]


@kernel()
def final_ranks(held_out: Any, candidates: Candidates, k_max: int) -> Any:
    """Return the rank of each listed positive in each fold, from 1; 0 where the fold has no such rank."""
    n, folds, listed = candidates.held_out.shape
    ranks = np.zeros((n, folds, listed), np.int64)
    for i in range(n):
        for fold in range(folds):
            before = 0
            for j in range(candidates.count[i]):
                before += candidates.nearer[i, j] - candidates.held_out[i, fold, j]
                counts = candidates.searched[i, fold] and not is_held_out(
                    held_out[candidates.rows[i, j]], fold
                )
                if counts and before < k_max:
                    ranks[i, fold, j] = before + 1
    return ranks

"""Exact search for the labelled positives among the nearest rows of every row.

Distances are Euclidean, between the rows as given, in float64: squared differences summed in column order. A row is
not its own neighbour; rows at equal distance are ordered by row number. Everything else is about speed and changes no
result: points in float32 and codes of a byte only say which rows need not be read.
"""

from collections.abc import Sequence
from functools import partial
from operator import index

import numpy as np
import numpy.typing as npt

from pubench.errors import DataError, ParameterError
from pubench.neighbors.all_distances import Direct
from pubench.neighbors.blocked_products import Brute, are_coarse
from pubench.neighbors.duplicates import DistinctRows
from pubench.neighbors.engine import Engine, Entries, Progress, RankRequest, report_part
from pubench.neighbors.indexed import Indexed
from pubench.neighbors.neighbor_ranks import PositiveNeighbors
from pubench.types import BoolVector, FloatMatrix, IndexVector, as_labels, ignore_progress

#: Up to this number of rows, and of values, computing every distance is faster than products of matrices.
_FEWEST, _FEWEST_VALUES = 512, 102_400
#: Up to this number of rows, finding duplicates takes longer than it saves.
_HARDLY_ANY = 128
#: Up to this number of rows, brute force takes no longer than building an index.
_FEW = 6000
#: One bit of a mask per fold.
_FOLDS_AT_ONCE = 64


class PositiveSearch:
    """All rows and the labelled ones among them, ready to be searched.

    Args:
        X: shape (n_rows, n_features), finite, float32 or float64.
        s: shape (n_rows,), bool; the labelled positives, at least one.
        n_threads: number of threads; all cores when None.

    Raises:
        DataError: a value is missing or infinite, s does not fit X or labels nothing.
    """

    def __init__(self, X: npt.ArrayLike, s: npt.ArrayLike, *, n_threads: int | None = None) -> None:
        rows = _as_matrix(X)
        self._s = as_labels(s, "s").copy()  # the caller may change it later
        if len(self._s) != len(rows):
            raise DataError(f"s has {len(self._s)} values for {len(rows)} rows.")
        if not self._s.any():
            raise DataError("No row is labelled positive; at least one is needed.")
        if n_threads is not None and n_threads < 1:
            raise ParameterError(f"n_threads is a whole number from 1 up; got {n_threads}.")
        engine: Engine = _fastest(rows).over(rows, self._s, n_threads)
        self._engine = engine if len(rows) <= _HARDLY_ANY else DistinctRows.over(engine, rows) or engine
        self._columns = rows.shape[1]

    def of_rows(
        self,
        k_max: int,
        folds: Sequence[IndexVector] | None = None,
        progress: Progress = ignore_progress,
        asked: BoolVector | None = None,
    ) -> tuple[PositiveNeighbors, ...]:
        """Return the neighbours of the unlabeled rows, one result per fold, or one over all rows.

        A fold is the ascending numbers of the rows that take part in it: the others are neither queries
        nor neighbours, as if they did not exist. Its result numbers rows and positives by their position in the fold. All
        folds share one search, which costs little more than that of one, but for tiny tables. Rows that are not
        `asked` for are neighbours, and have none themselves.
        """
        k_max = min(_checked_k_max(k_max), len(self._s))
        checked = [np.arange(len(self._s))] if folds is None else [self._checked_fold(fold) for fold in folds]
        unlabeled = ~self._s if asked is None else ~self._s & as_labels(asked, "asked")
        results: list[PositiveNeighbors] = []
        for start in range(0, len(checked), _FOLDS_AT_ONCE):
            part = checked[start : start + _FOLDS_AT_ONCE]
            part_progress = partial(report_part, progress, start / len(checked), len(part) / len(checked))
            results += self._of_folds(k_max, part, part_progress, unlabeled)
        return tuple(results)

    def of_new(self, X: npt.ArrayLike, k_max: int, progress: Progress = ignore_progress) -> PositiveNeighbors:
        """Return the neighbours of other rows among those of this search, labelled or not; none is left out."""
        k_max = min(_checked_k_max(k_max), len(self._s))
        new = _as_matrix(X)
        if new.shape[1] != self._columns:
            raise DataError(f"New rows have {new.shape[1]} columns; those searched have {self._columns}.")
        request = RankRequest(np.zeros(len(self._s), dtype=np.uint64), 1, k_max)
        entries = self._engine.of_new(new, request, progress)
        progress(1.0)
        return _collected(entries, len(new), k_max)

    def _of_folds(
        self, k_max: int, folds: list[IndexVector], progress: Progress, asked: BoolVector
    ) -> list[PositiveNeighbors]:
        request = RankRequest(_masks(folds, len(self._s)), len(folds), k_max)
        found = self._engine.of_rows(np.flatnonzero(asked), request, progress)
        progress(1.0)
        return [_of_fold(found, number, fold, k_max) for number, fold in enumerate(folds)]

    def _checked_fold(self, fold: IndexVector) -> IndexVector:
        rows = np.asarray(fold)
        if rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise DataError("A fold is a vector of row numbers.")
        rows = rows.astype(np.int64)
        if np.any(np.diff(rows, prepend=-1) <= 0) or np.any(rows >= len(self._s)):
            raise DataError(
                f"The rows of a fold are ascending, unique and below {len(self._s)}, the number of rows."
            )
        if not self._s[rows].any():
            raise DataError("A fold has no labelled positive; at least one is needed.")
        return rows


def positive_neighbors(
    X: npt.ArrayLike,
    s: npt.ArrayLike,
    k_max: int = 50,
    *,
    n_threads: int | None = None,
    progress: Progress = ignore_progress,
) -> PositiveNeighbors:
    """Find the labelled positives among the `k_max` nearest rows of every unlabeled row, exactly.

    Args:
        X: shape (n_rows, n_features), finite; distances are Euclidean, so scale it first (`pubench.Embedding`).
        s: shape (n_rows,); 1 for a labelled positive, 0 for an unlabeled row.
        k_max: the last rank of interest; one search serves every k up to it.
        n_threads: number of threads; all cores when None.
        progress: called now and then with the share that is done, in [0, 1]; what it raises ends the search.

    Raises:
        DataError: a value is missing or infinite, s does not fit X or labels nothing.
        ParameterError: k_max is below 1.
    """
    return PositiveSearch(X, s, n_threads=n_threads).of_rows(k_max, None, progress)[0]


def positive_neighbors_of_folds(
    X: npt.ArrayLike,
    s: npt.ArrayLike,
    folds: Sequence[IndexVector],
    k_max: int = 50,
    *,
    n_threads: int | None = None,
    progress: Progress = ignore_progress,
    asked: BoolVector | None = None,
) -> tuple[PositiveNeighbors, ...]:
    """Return `positive_neighbors(X[rows], s[rows], k_max)` for each fold's ascending `rows`, from one search.

    Arguments and errors are those of `positive_neighbors`. Rows that are not `asked` for, shape (n_rows,), bool, get
    no positives, as if none were near.
    """
    return PositiveSearch(X, s, n_threads=n_threads).of_rows(k_max, folds, progress, asked)


def positive_neighbors_of_new(
    X: npt.ArrayLike,
    s: npt.ArrayLike,
    new: npt.ArrayLike,
    k_max: int = 50,
    *,
    n_threads: int | None = None,
    progress: Progress = ignore_progress,
) -> PositiveNeighbors:
    """Find the labelled positives among the `k_max` rows of `X` that are nearest to each of the `new` rows, exactly.

    A new row that equals one of `X` has it as its neighbour. Arguments and errors are those of `positive_neighbors`.
    """
    return PositiveSearch(X, s, n_threads=n_threads).of_new(new, k_max, progress)


def _as_matrix(X: npt.ArrayLike) -> FloatMatrix:
    rows = np.asarray(X)
    if rows.dtype.kind not in "biuf":
        raise DataError(f"Neighbours are searched for in a table of numbers; got {rows.dtype}.")
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float64)
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise DataError(
            f"Neighbours are searched for in a table of rows and columns; got shape {rows.shape}."
        )
    rows = np.ascontiguousarray(rows)
    if not np.isfinite(rows).all():
        raise DataError(
            "A value is missing or infinite; impute and scale first, for instance by pubench.Embedding."
        )
    return rows


def _fastest(rows: FloatMatrix) -> type[Direct | Brute | Indexed]:
    """Return the engine that is the fastest, as measured by `benchmarks/neighbors.py`."""
    if len(rows) <= _FEWEST and (rows.size <= _FEWEST_VALUES or are_coarse(rows)):
        return Direct
    return Brute if len(rows) <= _FEW else Indexed


def _checked_k_max(k_max: int) -> int:
    try:
        whole = index(k_max)
    except TypeError:
        whole = 0
    if whole < 1:
        raise ParameterError(f"k_max is a whole number from 1 up; got {k_max!r}.")
    return whole


def _masks(folds: list[IndexVector], n_rows: int) -> npt.NDArray[np.uint64]:
    """Return one mask per row: bit f is set where fold f holds it out."""
    masks = np.zeros(n_rows, dtype=np.uint64)
    for number, fold in enumerate(folds):
        out = np.ones(n_rows, dtype=np.bool_)
        out[fold] = False
        masks |= out.astype(np.uint64) << np.uint64(number)
    return masks


def _of_fold(found: Entries, number: int, fold: IndexVector, k_max: int) -> PositiveNeighbors:
    """Return the entries of one fold, numbered by position in it."""
    here = found.fold == number
    position = np.zeros(fold[-1] + 1, dtype=np.int64)
    position[fold] = np.arange(len(fold))
    entries = Entries(
        position[found.query[here]], found.fold[here], found.rank[here], position[found.positive[here]]
    )
    return _collected(entries, len(fold), min(k_max, max(len(fold) - 1, 1)))


def _collected(entries: Entries, n_rows: int, k_max: int) -> PositiveNeighbors:
    order = np.argsort(entries.query * (k_max + 1) + entries.rank, kind="stable")  # most are in order: fast
    starts = np.concatenate([[0], np.cumsum(np.bincount(entries.query, minlength=n_rows))])
    return PositiveNeighbors(starts, entries.rank[order].astype(np.int32), entries.positive[order], k_max)

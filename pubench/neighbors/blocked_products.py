"""Blocked brute force: every row against every other by matrix products, where an index excludes nothing or costs more.

In very many dimensions all rows are about equally far: points exclude nothing, and products of blocks are the fastest way
to all distances. In a small table they are computed before an index would be built. They only bound: what is close to a
decision is decided by the exact distance, as everywhere. Where rows of a small table lie in clusters so far apart that
rounding of products around a common middle hides near rows, each group of queries gets products around its own middle.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from scipy.spatial.distance import cdist

from pubench.neighbors.candidates import Candidates, Queries, SearchTask, empty_candidates, final_ranks
from pubench.neighbors.duplicates import distinct_rows
from pubench.neighbors.engine import Entries, Progress, Ranked, Ranking, RankRequest, in_groups
from pubench.neighbors.partition import Frame, quick_blur, refuse_far
from pubench.neighbors.product_kernels import (
    LARGEST_PRODUCT,
    Products,
    Rows,
    bound_products,
    count_products,
    list_products,
)
from pubench.system.machine import cores
from pubench.system.threads import thread_pool
from pubench.types import BoolVector, FloatMatrix, FloatVector, IndexVector

#: Rows per block of products: with some hundred queries about what a second-level cache holds.
_BLOCK = 1024
#: Queries in a group.
TOGETHER = 256
#: One in this many products is enough to estimate a quantile of all.
_SPARSE = 4
#: Rows, and other rows, from which the distance between near rows is estimated.
_PROBED, _PROBED_AGAINST = 8, 64
#: If products may be off by more than this share of the square to a near row, rows are cut into clusters.
_TOO_COARSE, _MOST_CLUSTERS = 0.5, 64
#: Multiplications that take less time than starting threads; what each product costs besides, in multiplications.
_AT_ONCE, _BESIDES = 65_000_000, 50

#: Returns the queries of these numbers.
QueriesOf: TypeAlias = Callable[[IndexVector], Queries]


@dataclass(frozen=True, eq=False)
class Centred:
    """Some rows less the middle, times a power of 2, and their squared lengths.

    Attributes:
        values: shape (n, n_features).
        squares: shape (n,), float64.
    """

    values: FloatMatrix
    squares: FloatVector

    @classmethod
    def of(cls, values: FloatMatrix, frame: Frame, dtype: np.dtype[Any]) -> "Centred":
        """Subtract the middle and scale, in float64, then go over to another type.

        Raises:
            DataError: a value is so far from the rest that float32 cannot hold its square.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            centred = frame.of(values).astype(dtype)
        refuse_far(centred)
        return cls(centred, np.einsum("ij,ij->i", centred, centred, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class SearchedRows:
    """Rows as they were given and centred in a frame."""

    rows: Rows
    frame: Frame
    centred: Centred

    @classmethod
    def of(cls, rows: Rows, frame: Frame) -> "SearchedRows":
        """Centre the rows."""
        return cls(rows, frame, Centred.of(rows.values, frame, rows.values.dtype))

    def around(self, middle: FloatVector) -> "SearchedRows":
        """Return the same rows, centred elsewhere."""
        return SearchedRows.of(self.rows, replace(self.frame, middle=middle))

    def products(self, queries: Centred) -> Iterator[Products]:
        """Yield the products of one block of rows after the other; see `pubench.neighbors.product_kernels.Products`.

        Their values are valid until the next iteration: all use the same memory, because allocating it took longer than
        the products of a few columns.
        """
        values, columns, frame = self.centred.values, self.centred.values.shape[1], self.frame
        halves = (self.centred.squares / 2).astype(values.dtype)
        unit, blur = float(np.finfo(values.dtype).eps) / 2, quick_blur(columns)
        rounding = 4 * 2.0**-53 * columns**0.5 * frame.largest * frame.factor
        buffer = np.empty(len(queries.values) * min(_BLOCK, len(values)), dtype=values.dtype)
        for start in range(0, len(values), _BLOCK):
            block = slice(start, min(start + _BLOCK, len(values)))
            shape = len(queries.values), block.stop - start
            products = buffer[: shape[0] * shape[1]].reshape(shape)
            np.matmul(queries.values, values[block].T, out=products)
            np.subtract(halves[block], products, out=products)
            # Rounding the differences from the middle moves a row by half a unit, like four more columns at most.
            yield Products(
                products, start, queries.squares, unit, columns + 4, rounding, frame.factor**2, blur
            )


@dataclass(frozen=True, eq=False)
class Brute:
    """An `Engine` without an index.

    Attributes:
        rows: all rows.
        positives: the labelled ones among them.
        n_threads: number of threads; all cores when None.
    """

    rows: SearchedRows
    positives: SearchedRows
    n_threads: int | None

    @classmethod
    def over(cls, X: FloatMatrix, s: BoolVector, n_threads: int | None) -> "Brute":
        """Search these rows; `s` says which are labelled.

        Raises:
            DataError: as `Frame` and `Centred` do.
        """
        frame, labelled = Frame.around(X), np.flatnonzero(s)
        X = X.copy()  # the caller may change it later
        _, same = distinct_rows(X)
        rows, positives = Rows(np.arange(len(X)), X, same), Rows(labelled, X[labelled], same[labelled])
        return cls(SearchedRows.of(rows, frame), SearchedRows.of(positives, frame), n_threads)

    def of_rows(self, rows: IndexVector, request: RankRequest, progress: Progress) -> Entries:
        """Return the ranks around some of the rows."""
        values = self.rows.rows.values

        def queries_of(group: IndexVector) -> Queries:
            return _without_points(group, values[group])

        return self._around(rows, values, queries_of, request, progress)

    def of_new(self, X: FloatMatrix, request: RankRequest, progress: Progress) -> Entries:
        """Return the ranks around other rows."""

        def queries_of(group: IndexVector) -> Queries:
            return _without_points(np.full(len(group), -1), X[group])

        return self._around(np.arange(len(X)), X, queries_of, request, progress)

    def _around(
        self,
        order: IndexVector,
        values: FloatMatrix,
        queries_of: QueriesOf,
        request: RankRequest,
        progress: Progress,
    ) -> Entries:
        """Rank around the queries in `order`, numbers of `values`.

        Where they lie in clusters far apart, each cluster is searched by itself, with products around its middle.
        """
        clusters = _clusters(values[order].astype(self.rows.rows.values.dtype, copy=False))
        rank_group = rank_by_products if len(clusters) == 1 else rank_within
        ranking = Ranking(request, len(self.positives.rows.numbers))
        n_rows, columns = self.rows.rows.values.shape
        at_once = len(order) * n_rows * (columns + _BESIDES) <= _AT_ONCE
        groups = [group for cluster in clusters for group in in_groups(order[cluster], TOGETHER)]
        with thread_pool(0 if at_once else self.n_threads or cores()) as pool:
            rank = partial(rank_group, queries_of, request, self.rows, self.positives)
            return ranking.around(groups, ranking.likely, rank, pool, progress)


def _clusters(values: FloatMatrix) -> list[IndexVector]:
    """Return the positions of rows in clusters, cut at the widest gap until products are accurate enough."""
    coarse, fine = [np.arange(len(values))], list[IndexVector]()
    while coarse:
        rows = coarse.pop()
        if len(coarse) + len(fine) + 1 >= _MOST_CLUSTERS or not are_coarse(values[rows]):
            fine.append(rows)
            continue
        column = values[rows, np.argmax(np.ptp(values[rows], axis=0))]
        order = np.argsort(column)
        cut = int(np.argmax(np.diff(column[order]))) + 1
        coarse += [rows[np.sort(order[:cut])], rows[np.sort(order[cut:])]]
    return fine


def are_coarse(values: FloatMatrix) -> bool:
    """Whether products of most of these rows, of their type, are off by more than rows near each other differ."""
    if len(values) < _PROBED:
        return False
    sample = values[:: -(-len(values) // _PROBED_AGAINST)].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # such rows are refused later
        sample -= sample.mean(
            axis=0
        )  # not the median, which lies in the largest cluster, far from the others
        few = sample[:: len(sample) // _PROBED]
        squares = cdist(few, sample, "sqeuclidean")
        nearest = squares.min(axis=1, where=squares > 0, initial=np.inf)
        off = 4 * values.shape[1] * np.finfo(values.dtype).eps * np.square(few).sum(axis=1)
        return bool(np.mean(off > _TOO_COARSE * nearest) > 0.5)


def _without_points(numbers: IndexVector, values: FloatMatrix) -> Queries:
    return Queries(numbers, values, np.empty((0, 0), dtype=np.float32), np.empty(0))


def rank_by_products(
    queries_of: QueriesOf,
    request: RankRequest,
    rows: SearchedRows,
    positives: SearchedRows,
    group: IndexVector,
    listed: int,
) -> Ranked:
    """Rank the nearest positives of each query, as many as are to be listed, among all rows."""
    queries = queries_of(group)
    centred = Centred.of(queries.values, rows.frame, rows.rows.values.dtype)
    candidates: Candidates = empty_candidates(
        request.held_out, queries, SearchTask(request.k_max, listed, 0, request.folds)
    )
    for products in positives.products(centred):
        limits = _limits(products.values, listed if products.first == 0 else 0)
        list_products(products, limits, queries, positives.rows, candidates)
    for products in rows.products(centred):
        if products.first == 0:
            bound_products(products, candidates)
        count_products(request.held_out, products, queries, rows.rows, request.k_max, candidates)
    return candidates.count, candidates.rows, final_ranks(request.held_out, candidates, request.k_max)


def rank_within(
    queries_of: QueriesOf,
    request: RankRequest,
    rows: SearchedRows,
    positives: SearchedRows,
    group: IndexVector,
    listed: int,
) -> Ranked:
    """As `rank_by_products`, but with products around the middle of the queries."""
    middle = queries_of(group).values.mean(axis=0, dtype=np.float64)
    return rank_by_products(queries_of, request, rows.around(middle), positives.around(middle), group, listed)


def _limits(products: FloatMatrix, count: int) -> FloatVector:
    """Return, for each query, a limit that about `count` of its products are below, or all; estimated on a sample."""
    if not 0 < count < products.shape[1]:
        return np.full(len(products), LARGEST_PRODUCT if count else -LARGEST_PRODUCT)
    sample = products[:, ::_SPARSE]
    last = min(count // _SPARSE, sample.shape[1] - 1)
    return np.partition(sample, last, axis=1)[:, last].astype(np.float64)

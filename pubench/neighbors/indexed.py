"""Search by an index, in two passes: a short one that is enough for most queries, and a full one for the rest.

Where a probe shows that the index excludes too little, all queries go to blocked brute force.
"""

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pubench.neighbors.blocked_products import TOGETHER, QueriesOf, SearchedRows, rank_by_products
from pubench.neighbors.candidates import Queries, SearchTask
from pubench.neighbors.duplicates import distinct_rows
from pubench.neighbors.engine import (
    LISTED,
    Entries,
    Progress,
    Rank,
    Ranked,
    Ranking,
    RankRequest,
    in_groups,
    report_part,
)
from pubench.neighbors.grids import build_leaves
from pubench.neighbors.leaf_codes import WIDTH, Leaves
from pubench.neighbors.leaf_kernels import may_have_positives, rank_positives
from pubench.neighbors.partition import Rotation, order_by_nearness
from pubench.neighbors.product_kernels import Rows
from pubench.system.machine import cores
from pubench.system.threads import map_in_order, thread_pool
from pubench.types import BoolVector, FloatMatrix, IndexVector

#: Cells near a group of queries that the first pass reads.
_NEAR = 48
#: Queries that go through the leaves together: once a leaf is in the processor's cache, all of them use it.
_TOGETHER = 2048

#: Queries in a probe, at most one in `_RARELY` of all; fewer where rows are wide and each costs more.
_PROBED, _RARELY, _PROBED_IF_WIDE = 128, 16, 32
#: Points cost more than they save if more than this share of the rows must be read, and rows are wider than points.
_TOO_MANY = 0.2
#: The first pass is skipped if more than this share of the queries has positives near.
_MOSTLY_NEAR = 0.6
#: The progress at which the first pass ends.
_FIRST_PASS = 0.3


@dataclass(frozen=True, eq=False)
class Index:
    """What is searched: all rows, the labelled ones again by themselves, as points that a rotation gives."""

    leaves: Leaves
    positives: Leaves
    rotation: Rotation


@dataclass(frozen=True, eq=False)
class IndexSearch:
    """A search of an index.

    Attributes:
        index: what is searched.
        queries_of: returns the queries of these numbers.
        request: what is searched for.
    """

    index: Index
    queries_of: QueriesOf
    request: RankRequest

    def around(self, order: IndexVector, pool: Executor, progress: Progress) -> Entries:
        """Return the ranks around the queries in `order`, in which neighbouring queries lie close together."""
        ranking = Ranking(self.request, int((self.index.positives.rows >= 0).sum()))
        inspected, near, listed = self._probe(order, ranking.most)
        if inspected > _TOO_MANY and self._wide:
            groups = in_groups(order, TOGETHER)
            return ranking.around(groups, ranking.likely, self._by_products(), pool, progress)
        if near <= _MOSTLY_NEAR:
            order = np.concatenate([order[:0], *self._may_be_near(order, pool, progress)])
            progress = partial(report_part, progress, _FIRST_PASS, 1 - _FIRST_PASS)
        return ranking.around(in_groups(order, _TOGETHER), listed, self._by_points, pool, progress)

    def _probe(self, order: IndexVector, most: int) -> tuple[float, float, int]:
        """Search around a few queries, which have at most `most` positives among their first rows.

        Returns:
            (inspected, near, listed): the share of rows that must be read, the share of queries that have positives near,
            and the number of candidates that is enough for nearly every query.
        """
        few = order[:: max(_RARELY, len(order) // (_PROBED_IF_WIDE if self._wide else _PROBED))]
        if not len(few):
            return 0.0, 0.0, 1
        count, _, _, inspected = rank_positives(*self._arguments(few, most))
        listed = min(most, max(LISTED, 2 * int(count.max())))
        return inspected / (len(few) * len(self.request.held_out)), float(np.mean(count > 0)), listed

    def _may_be_near(self, order: IndexVector, pool: Executor, progress: Progress) -> Iterator[IndexVector]:
        """Yield the queries that may have a positive among their nearest rows; the others have none."""
        groups = in_groups(order, _TOGETHER)

        def probe(group: IndexVector) -> BoolVector:
            may_be: BoolVector = may_have_positives(*self._arguments(group, 1))
            return may_be

        for number, may_be in enumerate(map_in_order(pool, probe, groups)):
            yield groups[number][may_be]
            progress(_FIRST_PASS * (number + 1) / len(groups))

    def _by_points(self, group: IndexVector, listed: int) -> Ranked:
        count, rows, ranks, _ = rank_positives(*self._arguments(group, listed))
        return count, rows, ranks

    def _by_products(self) -> Rank:
        frame = self.index.rotation.frame
        rows, positives = (
            SearchedRows.of(_rows(leaves), frame) for leaves in (self.index.leaves, self.index.positives)
        )
        return partial(rank_by_products, self.queries_of, self.request, rows, positives)

    @property
    def _wide(self) -> bool:
        """Whether rows have more columns than points have coordinates."""
        return bool(self.index.leaves.values.shape[1] > WIDTH)

    def _arguments(self, group: IndexVector, listed: int) -> tuple[Any, ...]:
        index, task = self.index, SearchTask(self.request.k_max, listed, _NEAR, self.request.folds)
        bounds = index.rotation.bounds
        return self.request.held_out, self.queries_of(group), index.leaves, index.positives, bounds, task


def _rows(leaves: Leaves) -> Rows:
    """Return the rows of leaves, without the empty slots, which are the last ones."""
    n = int((leaves.rows >= 0).sum())
    return Rows(leaves.rows[:n], leaves.values[:n], distinct_rows(leaves.values[:n])[1])


@dataclass(frozen=True, eq=False)
class Indexed:
    """An `Engine` that reads few rows.

    Attributes:
        index: all rows and the labelled ones.
        n_threads: number of threads.
    """

    index: Index
    n_threads: int

    @classmethod
    def over(cls, X: FloatMatrix, s: BoolVector, n_threads: int | None) -> "Indexed":
        """Index these rows; `s` says which are labelled; all cores when `n_threads` is None.

        Raises:
            DataError: as `Rotation` does.
        """
        n_threads = n_threads or cores()
        with thread_pool(n_threads) as pool:
            rotation = Rotation.along_variance(X)
            points = rotation.points(X, pool)
            positives = build_leaves(X, points, np.flatnonzero(s), pool)
            leaves = build_leaves(X, points, np.arange(len(X)), pool)
        return cls(Index(leaves, positives, rotation), n_threads)

    def of_rows(self, rows: IndexVector, request: RankRequest, progress: Progress) -> Entries:
        """Return the ranks around some of the rows."""
        leaves, rotation = self.index.leaves, self.index.rotation
        asked = np.zeros(len(request.held_out), dtype=np.bool_)
        asked[rows] = True
        slots = np.flatnonzero(leaves.rows >= 0)
        slots = slots[asked[leaves.rows[slots]]]

        def queries_of(group: IndexVector) -> Queries:
            values = leaves.values[group]
            near = rotation.of(values)
            return Queries(leaves.rows[group], values, near, rotation.errors(near))

        with thread_pool(self.n_threads) as pool:
            found = IndexSearch(self.index, queries_of, request).around(slots, pool, progress)
        return found._replace(query=leaves.rows[found.query])

    def of_new(self, X: FloatMatrix, request: RankRequest, progress: Progress) -> Entries:
        """Return the ranks around other rows."""
        rotation = self.index.rotation
        with thread_pool(self.n_threads) as pool:
            points = rotation.points(X, pool)

            def queries_of(group: IndexVector) -> Queries:
                near = points[group]
                return Queries(np.full(len(group), -1), X[group], near, rotation.errors(near))

            return IndexSearch(self.index, queries_of, request).around(
                order_by_nearness(points, pool), pool, progress
            )

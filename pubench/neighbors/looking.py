"""Two looks around every query: a short one that settles most, and a full one for the rest; or brute force at once."""

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pubench.neighbors.brute import TOGETHER, Ask, Searched, rank_by_products
from pubench.neighbors.engine import LISTED, Aim, Entries, Progress, Rank, Ranked, Ranking, in_groups, tell
from pubench.neighbors.kernels import WIDTH, Leaves, Rows, Task, rank_positives, settle_near
from pubench.neighbors.once import distinct_rows
from pubench.neighbors.partition import Rotation
from pubench.threads import in_order
from pubench.types import BoolVector, IndexVector

#: Cells near a group of queries that a first look looks into.
_NEAR = 48
#: Queries that go through the leaves together: so often is a leaf used once it is in the cache.
_TOGETHER = 2048

#: Queries around which is tried what the others are like, no more than one of so many; fewer where each costs more.
_PROBED, _RARELY, _PROBED_IF_WIDE = 128, 16, 32
#: Points that leave this share of the rows to be looked at cost more than they save, if rows have more columns than points.
_TOO_MANY = 0.2
#: A first look settles too few where this share of the queries has positives near.
_MOSTLY_NEAR = 0.6
#: The share of progress at which most queries are settled.
_SETTLED = 0.3


@dataclass(frozen=True, eq=False)
class Index:
    """What is searched: all rows, the labelled ones again by themselves, as points that a rotation gives."""

    leaves: Leaves
    positives: Leaves
    rotation: Rotation


@dataclass(frozen=True, eq=False)
class Look:
    """A search for what is aimed at.

    Attributes:
        index: what is searched.
        ask: gives some of the queries, by their numbers.
        aim: what is looked for.
    """

    index: Index
    ask: Ask
    aim: Aim

    def around(self, order: IndexVector, pool: Executor, progress: Progress) -> Entries:
        """Return the ranks around the queries in `order`, in which those that stand together lie close together."""
        ranking = Ranking(self.aim, int((self.index.positives.rows >= 0).sum()))
        looked, near, listed = self._probe(order, ranking.most)
        if looked > _TOO_MANY and self._wide:
            groups = in_groups(order, TOGETHER)
            return ranking.around(groups, ranking.likely, self._by_products(), pool, progress)
        if near <= _MOSTLY_NEAR:
            order = np.concatenate([order[:0], *self._may_be_near(order, pool, progress)])
            progress = partial(tell, progress, _SETTLED, 1 - _SETTLED)
        return ranking.around(in_groups(order, _TOGETHER), listed, self._by_points, pool, progress)

    def _probe(self, order: IndexVector, most: int) -> tuple[float, float, int]:
        """Return what a few queries are like, that have `most` positives among their first rows at most.

        Returns:
            (looked, near, listed): the share of rows that must be looked at, the share of queries that have positives
            near, and how many of the nearest positives to list so that hardly a query needs more.
        """
        few = order[:: max(_RARELY, len(order) // (_PROBED_IF_WIDE if self._wide else _PROBED))]
        if not len(few):
            return 0.0, 0.0, 1
        count, _, _, looked = rank_positives(*self._arguments(few, most))
        listed = min(most, max(LISTED, 2 * int(count.max())))
        return looked / (len(few) * len(self.aim.held_out)), float(np.mean(count > 0)), listed

    def _may_be_near(self, order: IndexVector, pool: Executor, progress: Progress) -> Iterator[IndexVector]:
        """Yield the queries that may have a positive among their nearest rows; the others have none."""
        groups = in_groups(order, _TOGETHER)

        def look(group: IndexVector) -> BoolVector:
            may_be: BoolVector = settle_near(*self._arguments(group, 1))
            return may_be

        for number, may_be in enumerate(in_order(pool, look, groups)):
            yield groups[number][may_be]
            progress(_SETTLED * (number + 1) / len(groups))

    def _by_points(self, group: IndexVector, listed: int) -> Ranked:
        count, rows, ranks, _ = rank_positives(*self._arguments(group, listed))
        return count, rows, ranks

    def _by_products(self) -> Rank:
        frame = self.index.rotation.frame
        rows, positives = (
            Searched.of(_rows(leaves), frame) for leaves in (self.index.leaves, self.index.positives)
        )
        return partial(rank_by_products, self.ask, self.aim, rows, positives)

    @property
    def _wide(self) -> bool:
        """Whether rows have more columns than points have coordinates."""
        return bool(self.index.leaves.values.shape[1] > WIDTH)

    def _arguments(self, group: IndexVector, listed: int) -> tuple[Any, ...]:
        index, task = self.index, Task(self.aim.k_max, listed, _NEAR, self.aim.folds)
        bounds = index.rotation.bounds
        return self.aim.held_out, self.ask(group), index.leaves, index.positives, bounds, task


def _rows(leaves: Leaves) -> Rows:
    """Return the rows of leaves, without the slots that only fill up, which are the last ones."""
    n = int((leaves.rows >= 0).sum())
    return Rows(leaves.rows[:n], leaves.values[:n], distinct_rows(leaves.values[:n])[1])

"""Search by an index: points that lie together in leaves, so that most need not be looked at."""

from dataclasses import dataclass

import numpy as np

from pubench.machine import cores
from pubench.neighbors.engine import Aim, Entries, Progress
from pubench.neighbors.grids import grow_leaves
from pubench.neighbors.kernels import Queries
from pubench.neighbors.looking import Index, Look
from pubench.neighbors.partition import Rotation, order_by_nearness
from pubench.threads import working
from pubench.types import BoolVector, FloatMatrix, IndexVector


@dataclass(frozen=True, eq=False)
class Indexed:
    """An `Engine` that looks at few rows.

    Attributes:
        index: all rows and the labelled ones.
        n_threads: how many threads may work at once.
    """

    index: Index
    n_threads: int

    @classmethod
    def over(cls, X: FloatMatrix, s: BoolVector, n_threads: int | None) -> "Indexed":
        """Index these rows; `s` says which are labelled; None are all cores.

        Raises:
            DataError: as `Rotation` does.
        """
        n_threads = n_threads or cores()
        with working(n_threads) as pool:
            rotation = Rotation.along_variance(X)
            points = rotation.points(X, pool)
            positives = grow_leaves(X, points, np.flatnonzero(s), pool)
            leaves = grow_leaves(X, points, np.arange(len(X)), pool)
        return cls(Index(leaves, positives, rotation), n_threads)

    def of_rows(self, rows: IndexVector, aim: Aim, progress: Progress) -> Entries:
        """Return the ranks around some of the rows."""
        leaves, rotation = self.index.leaves, self.index.rotation
        asked = np.zeros(len(aim.held_out), dtype=np.bool_)
        asked[rows] = True
        slots = np.flatnonzero(leaves.rows >= 0)
        slots = slots[asked[leaves.rows[slots]]]

        def ask(group: IndexVector) -> Queries:
            values = leaves.values[group]
            near = rotation.of(values)
            return Queries(leaves.rows[group], values, near, rotation.errors(near))

        with working(self.n_threads) as pool:
            found = Look(self.index, ask, aim).around(slots, pool, progress)
        return found._replace(query=leaves.rows[found.query])

    def of_new(self, X: FloatMatrix, aim: Aim, progress: Progress) -> Entries:
        """Return the ranks around other rows."""
        rotation = self.index.rotation
        with working(self.n_threads) as pool:
            points = rotation.points(X, pool)

            def ask(group: IndexVector) -> Queries:
                near = points[group]
                return Queries(np.full(len(group), -1), X[group], near, rotation.errors(near))

            return Look(self.index, ask, aim).around(order_by_nearness(points, pool), pool, progress)

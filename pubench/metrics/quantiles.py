"""Scores as ranks among those of training rows, so that scores of different scales are comparable.

A model's scores of rows it was trained on are stored as quantiles. A new score has its rank among these, which depends on
that score alone.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from pubench.system.json_documents import Node
from pubench.types import FloatVector, Table

#: Levels at even distances.
EVEN: FloatVector = np.linspace(0, 1, 1025)
#: Levels that are denser towards the top, where positives are: scores within the last thousandth differ too.
TOWARDS_TOP: FloatVector = np.unique(np.concatenate([EVEN, 1 - np.geomspace(1e-5, 1e-2, 256)]))
#: The largest number of rows from which quantiles are taken.
_REFERENCE_ROWS = 100_000


def reference_rows(X: Table) -> Table:
    """Return all rows of `X`, or an even sample of at most 100,000."""
    step = -(-X.n_rows // _REFERENCE_ROWS)
    return X if step == 1 else X.take(np.arange(0, X.n_rows, step))


@dataclass(frozen=True, eq=False)
class Quantiles:
    """Quantiles of a model's scores.

    Attributes:
        values: ascending, one per level.
        levels: ascending in [0, 1].
    """

    values: FloatVector
    levels: FloatVector

    @classmethod
    def of(cls, scores: FloatVector, levels: FloatVector = EVEN) -> Self:
        """Take the quantiles of these scores."""
        return cls(np.quantile(scores, levels), levels)

    @classmethod
    def from_json(cls, node: Node, levels: FloatVector) -> Self:
        """Read `values` back, from a list that may come from anywhere.

        Raises:
            DataError: it holds no quantiles of these levels.
        """
        values = node.ascending(strictly=False)
        if values.shape != levels.shape:
            raise node.error(f"list of {len(levels)} quantiles")
        return cls(values, levels)

    @classmethod
    def list_from_json(cls, node: Node, levels: FloatVector, count: int) -> tuple[Self, ...]:
        """Read the quantiles of `count` models back; raises as `from_json`."""
        items = node.items()
        if len(items) != count:
            raise node.error(f"list of quantiles for each of {count} models")
        return tuple(cls.from_json(item, levels) for item in items)

    def at(self, levels: FloatVector) -> FloatVector:
        """Return the score at each level, interpolated between levels."""
        return np.interp(levels, self.levels, self.values)

    def steps(self, scores: FloatVector) -> FloatVector:
        """Return for each score the share of the values below it, equal ones half; right for even levels."""
        below = np.searchsorted(self.values, scores, "left")
        above = np.searchsorted(self.values, scores, "right")
        return np.asarray((below + above) / (2 * len(self.values)))

    def log_odds(self, scores: FloatVector, least: float) -> FloatVector:
        """Return log(r / (1 - r)) of each score's rank r: ranks at the top differ by as much as they matter there.

        Ranks nearer to 0 or 1 than `least` count as this near.
        """
        levels = np.clip(self.ranks(scores), least, 1 - least)
        return np.log(levels / (1 - levels))

    def ranks(self, scores: FloatVector) -> FloatVector:
        """Return the level of each score, interpolated between values, so that scores there keep their order."""
        values, at = np.unique(self.values, return_inverse=True)
        levels = np.bincount(at, weights=self.levels) / np.bincount(
            at
        )  # equal values share the middle of theirs
        return np.interp(scores, values, levels)

"""Scores as ranks among those of training rows: what makes scores of different scales comparable.

A model's scores on rows it was trained on are kept as quantiles. A new score has its rank among these, which depends on
that score alone.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from pubench.errors import DataError
from pubench.types import FloatVector, Json, Table

#: Levels at even distances.
EVEN: FloatVector = np.linspace(0, 1, 1025)
#: Levels that are closer and closer towards the top, where positives are: in the last thousandth too, scores differ.
TOWARDS_TOP: FloatVector = np.unique(np.concatenate([EVEN, 1 - np.geomspace(1e-5, 1e-2, 256)]))
#: Quantiles are taken from at most so many rows.
_REFERENCE_ROWS = 100_000


def reference_rows(X: Table) -> Table:
    """Return all rows of `X`, or of many every so many-th, 100,000 at most."""
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
    def from_json(cls, written: Json, levels: FloatVector, place: object) -> Self:
        """Read `values` back, from a list that may come from anywhere.

        Raises:
            DataError: it holds no quantiles of these levels; `place` is where it stands.
        """
        try:
            values = np.array(written, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            values = np.empty(0)
        if values.shape != levels.shape or not np.isfinite(values).all() or not np.all(np.diff(values) >= 0):
            raise DataError(f"{place} holds quantiles that are none; it is damaged.")
        return cls(values, levels)

    def steps(self, scores: FloatVector) -> FloatVector:
        """Return for each score the share of the values below it, equal ones half; right for even levels."""
        below = np.searchsorted(self.values, scores, "left")
        above = np.searchsorted(self.values, scores, "right")
        return np.asarray((below + above) / (2 * len(self.values)))

    def ranks(self, scores: FloatVector) -> FloatVector:
        """Return the level of each score, between values interpolated: scores that differ there keep their order."""
        values, at = np.unique(self.values, return_inverse=True)
        levels = np.bincount(at, weights=self.levels) / np.bincount(
            at
        )  # equal values share the middle of theirs
        return np.interp(scores, values, levels)

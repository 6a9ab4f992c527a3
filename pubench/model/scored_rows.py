"""Rows of a file with their scores, and the best of them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from pubench.types import BoolVector, FloatVector, IndexVector, Table

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows of a file and their scores.

    Attributes:
        rows: row numbers, from 1.
        scores: a score per row.
        is_own: whether the model was trained on the row.
        is_labelled: whether it is known to be labelled.
        X: the features of the rows.
        ids: the ids of the rows; None if rows are named by their numbers.
    """

    rows: IndexVector
    scores: FloatVector
    is_own: BoolVector
    is_labelled: BoolVector
    X: Table
    ids: "pyarrow.ChunkedArray | None"

    def take(self, positions: IndexVector) -> Self:
        """Return the rows at the given positions, in the given order."""
        ids = None if self.ids is None else self.ids.take(positions)
        return type(self)(
            self.rows[positions],
            self.scores[positions],
            self.is_own[positions],
            self.is_labelled[positions],
            self.X.take(positions),
            ids,
        )

    def joined(self, other: Self) -> Self:
        """Return these rows followed by the other rows."""
        return type(self)(
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.is_own, other.is_own]),
            np.concatenate([self.is_labelled, other.is_labelled]),
            Table(np.concatenate([self.X.values, other.X.values]), self.X.features),
            _joined_ids(self.ids, other.ids),
        )


def _joined_ids(
    first: "pyarrow.ChunkedArray | None", second: "pyarrow.ChunkedArray | None"
) -> "pyarrow.ChunkedArray | None":
    from pyarrow import chunked_array  # noqa: PLC0415 - heavy imports happen when used

    if first is None or second is None:
        return None
    return chunked_array([*first.chunks, *second.chunks], first.type)


def best_rows(rows: ScoredRows, count: int) -> ScoredRows:
    """Return the `count` rows of the highest scores, highest first; of equal scores, the first rows of the file."""
    positions = np.arange(len(rows.scores))
    if len(positions) > count:
        lowest = np.partition(rows.scores, -count)[-count]
        positions = np.flatnonzero(rows.scores >= lowest)
    order = np.lexsort((rows.rows[positions], -rows.scores[positions]))
    return rows.take(positions[order[:count]])

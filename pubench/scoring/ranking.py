"""Scored rows, and the best of them in bounded memory."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from pubench.types import FloatVector, IndexVector, Table

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Some rows of a file and their scores.

    Attributes:
        rows: their numbers, from 1.
        scores: one each.
        X: their features.
        ids: their ids; None where rows are called by their numbers.
    """

    rows: IndexVector
    scores: FloatVector
    X: Table
    ids: "pyarrow.ChunkedArray | None"

    def take(self, places: IndexVector) -> Self:
        """Return the rows at the given places, in the given order."""
        ids = None if self.ids is None else self.ids.take(places)
        return type(self)(self.rows[places], self.scores[places], self.X.take(places), ids)

    def joined(self, other: Self) -> Self:
        """Return these rows and the others behind them."""
        return type(self)(
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.scores, other.scores]),
            Table(np.concatenate([self.X.values, other.X.values]), self.X.features),
            _joined(self.ids, other.ids),
        )


def _joined(
    first: "pyarrow.ChunkedArray | None", second: "pyarrow.ChunkedArray | None"
) -> "pyarrow.ChunkedArray | None":
    from pyarrow import chunked_array  # noqa: PLC0415 - heavy imports happen when used

    if first is None or second is None:
        return None
    return chunked_array([*first.chunks, *second.chunks], first.type)


def best(rows: ScoredRows, count: int) -> ScoredRows:
    """Return the `count` rows of the highest scores, the highest first; of equal ones the first rows of the file."""
    places = np.arange(len(rows.scores))
    if len(places) > count:
        bar = np.partition(rows.scores, -count)[-count]
        places = np.flatnonzero(rows.scores >= bar)
    order = np.lexsort((rows.rows[places], -rows.scores[places]))
    return rows.take(places[order[:count]])

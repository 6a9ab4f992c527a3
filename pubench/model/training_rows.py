"""The rows that a model was trained on, by fingerprint, and their scores by models that were not trained on them.

People score the file they trained on: its unlabeled rows are the call list. A model recognises these rows by their features,
returns the stored scores instead of its own, and knows which of them are labelled.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from pubench.api.method import FittedMethod
from pubench.errors import DataError
from pubench.types import BoolVector, FloatVector, Resources, Scores, Table

_ROWS, _SCORES, _LABELLED = "rows.npy", "scores.npy", "labelled.npy"
#: Odd constants of splitmix64, a mixing function whose outputs collide as seldom as random numbers do.
_STEP, _MIX_1, _MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_Hashes = npt.NDArray[np.uint64]


class KnownRows(NamedTuple):
    """What is known of the rows of a table.

    Attributes:
        scores: shape (n_rows,): the stored scores, NaN for rows that the model was not trained on.
        labelled: shape (n_rows,): whether the row is a labelled training row.
    """

    scores: FloatVector
    labelled: BoolVector


@dataclass(frozen=True, eq=False)
class OwnRows:
    """Scores of training rows; rows of equal features have one entry, the mean of theirs.

    Attributes:
        rows: fingerprints, ascending, without repetition.
        scores: shape (n_entries,), finite.
        labelled: shape (n_entries,): whether all rows of these features were labelled. None in models of older versions.
    """

    rows: _Hashes
    scores: FloatVector
    labelled: BoolVector | None = None

    @classmethod
    def of(cls, X: Table, scores: FloatVector, s: BoolVector) -> Self:
        """Remember the score of each row of a table, and whether it is labelled."""
        rows, entry = np.unique(fingerprints(X), return_inverse=True)
        count = np.bincount(entry)
        return cls(rows, np.bincount(entry, weights=scores) / count, np.bincount(entry, weights=s) == count)

    def look_up(self, X: Table) -> KnownRows:
        """Return what is known of each row of a table."""
        wanted = fingerprints(X)
        at = np.minimum(np.searchsorted(self.rows, wanted), len(self.rows) - 1)
        known = self.rows[at] == wanted
        labelled = (
            np.zeros(len(known), dtype=np.bool_) if self.labelled is None else known & self.labelled[at]
        )
        return KnownRows(np.where(known, self.scores[at], np.nan), labelled)

    def save(self, folder: Path) -> None:
        """Write the arrays into a folder, which exists."""
        np.save(folder / _ROWS, self.rows, allow_pickle=False)
        np.save(folder / _SCORES, self.scores, allow_pickle=False)
        if self.labelled is not None:
            np.save(folder / _LABELLED, self.labelled, allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read back what `save` wrote; raises `DataError` for anything else."""
        rows, scores = _read(folder / _ROWS, np.uint64), _read(folder / _SCORES, np.float64)
        path = folder / _LABELLED
        labelled = _read(path, np.bool_) if path.exists() else None
        is_sound = len(rows) == len(scores) > 0 and bool(np.all(rows[1:] > rows[:-1]))
        is_sound = is_sound and (labelled is None or len(labelled) == len(rows))
        if not is_sound or not np.isfinite(scores).all():
            raise DataError(
                f"{folder} does not hold the scores of a model's training rows; fit the model again."
            )
        return cls(rows, scores, labelled)


@dataclass(frozen=True, eq=False)
class HonestScores:
    """Scores, of training rows by models that were not trained on them.

    Attributes:
        scores: a score per row.
        is_own: which rows are training rows.
        is_labelled: which of these are labelled.
    """

    scores: Scores
    is_own: BoolVector
    is_labelled: BoolVector


def honest_scores(
    fitted: FittedMethod, own_rows: OwnRows | None, X: Table, resources: Resources
) -> HonestScores:
    """Return a model's score per row of `X`, of rows in `own_rows` the stored one."""
    scores = fitted.score(X, resources)
    if own_rows is None:
        none = np.zeros(X.n_rows, dtype=np.bool_)
        return HonestScores(scores, none, none)
    own, is_labelled = own_rows.look_up(X)
    is_own = ~np.isnan(own)
    return HonestScores(Scores(np.where(is_own, own, scores.values)), is_own, is_labelled)


def fingerprints(X: Table) -> _Hashes:
    """Return a number per row that equal rows share, and others with a chance of 1 in 10**19; features count in order."""
    mixed = np.full(X.n_rows, _STEP, dtype=np.uint64)
    for column in X.values.T:
        values = column.astype(np.float64) + 0.0  # -0.0 becomes 0.0
        values[np.isnan(values)] = np.nan  # one of the many representations of NaN
        mixed = _mix(mixed * np.uint64(_MIX_1) + values.view(np.uint64))
    return mixed


def _mix(z: _Hashes) -> _Hashes:
    z = z + np.uint64(_STEP)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(_MIX_1)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(_MIX_2)
    return z ^ (z >> np.uint64(31))


def _read(path: Path, dtype: type[np.generic]) -> npt.NDArray[Any]:
    """Return a vector from a file; mapped first, so that a header can not claim more than the file holds."""
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{path} is not an array, or it is damaged; copy the saved model again.") from error
    if not isinstance(found, np.ndarray) or found.ndim != 1 or found.dtype != dtype:
        raise DataError(f"{path} holds another array than it should; copy the saved model again.")
    return np.array(found)

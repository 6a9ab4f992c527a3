"""From scores of the training rows to the score from which on a row counts as positive."""

from numbers import Real
from typing import Any

import numpy as np

from pubench.errors import ParameterError
from pubench.types import FloatVector


def wanted_positives(threshold: Any, expected: float, n_rows: int) -> float:
    """Return how many of the training rows should be predicted positive.

    Args:
        threshold: "expected", or a share of the training rows between 0 and 1.
        expected: what "expected" stands for.
        n_rows: how many training rows there are.

    Raises:
        ParameterError: `threshold` is something else.
    """
    if isinstance(threshold, str) and threshold == "expected":
        return expected
    if isinstance(threshold, Real) and 0 < float(threshold) < 1:
        return float(threshold) * n_rows
    raise ParameterError(
        f"'threshold' is 'expected' or a share of the training rows between 0 and 1; got {threshold!r}."
    )


def threshold_for(scores: FloatVector, wanted: float) -> float:
    """Return a threshold that as many scores reach as are wanted; with ties, as near to that as can be.

    At least one score reaches it. It lies halfway to the next score below, so that rounding moves no row across.
    """
    values, counts = np.unique(scores, return_counts=True)
    reaching = np.cumsum(counts[::-1])[::-1]  # of the rows, those with at least this value
    place = int(np.argmin(np.abs(reaching - wanted)))
    if place == 0:
        return float(values[0])
    below, value = float(values[place - 1]), float(values[place])
    halfway = below / 2 + value / 2  # their difference may overflow
    return halfway if below < halfway else value

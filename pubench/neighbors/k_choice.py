"""Chooses k from E_k, the expected number of positives: the smallest k at which its rise has ended.

The paper reads k off a picture of E_k: where the rise ends and the plateau begins. Written down, the rule is:

1. E_k is smoothed: the median of the five values around k.
2. The level is the highest smoothed value from k = 10 on.
3. k is the smallest one from 10 on whose smoothed value is at least 95% of the level.

Below 10 neighbours Cred_k takes so few values that one neighbour decides a tag. So a curve that is flat or only falls
gives 10, one that only rises gives a k near its end, and a plateau gives its beginning.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pubench.errors import DataError
from pubench.types import FloatVector, read_only

#: Fewer neighbours than this are not chosen.
SMALLEST_K = 10
#: A rise has ended where this share of the level is reached.
REACHED = 0.95
_SMOOTHED_OVER = 5


@dataclass(frozen=True, eq=False)
class KChoice:
    """A chosen k, and the curve that it was chosen from.

    Attributes:
        k: the choice.
        expected: shape (k_max,), E_1..E_kmax.
        smoothed: shape (k_max,), the curve that the rule reads.
        level: of the plateau.
    """

    k: int
    expected: FloatVector
    smoothed: FloatVector
    level: float

    @property
    def rule(self) -> str:
        """Return the rule in one sentence."""
        return f"k = {self.k}: the smallest one from {SMALLEST_K} on at which E_k has reached {REACHED:.0%} of its highest value."


def choose_k(expected: npt.ArrayLike) -> KChoice:
    """Choose k from E_1..E_kmax by the rule above; with fewer than 10 values, the last one.

    Raises:
        DataError: there is no value, or one is not finite.
    """
    curve = np.asarray(expected, dtype=np.float64)
    if curve.ndim != 1 or not curve.size or not np.all(np.isfinite(curve)):
        raise DataError("k is chosen from E_1, E_2, ...: at least one value, each finite.")
    smoothed = _running_median(curve)
    first = min(SMALLEST_K, len(curve)) - 1
    level = float(smoothed[first:].max())
    k = first + int(np.argmax(smoothed[first:] >= REACHED * level)) + 1
    return KChoice(k, read_only(curve), read_only(smoothed), level)


def _running_median(values: FloatVector) -> FloatVector:
    around = np.pad(
        values, _SMOOTHED_OVER // 2, constant_values=np.nan
    )  # at the ends, of the values that exist
    windows = np.lib.stride_tricks.sliding_window_view(around, _SMOOTHED_OVER)
    return np.asarray(np.nanmedian(windows, axis=1), dtype=np.float64)

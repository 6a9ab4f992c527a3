"""Scalings: how one numeric column is put on a scale that can be compared with those of other columns.

Each is fitted on the sorted values of a column that varies. So the order of the rows does not matter, to the last
bit; and sorting costs no more than finding quartiles.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import frexp, sqrt
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from pubench.errors import DataError
from pubench.types import FloatVector, IndexVector, read_only

#: No embedded value is larger. Squared distances over ten thousand such columns still fit into float32; a row
#: so far away is far away from everything, however far it is.
LIMIT = 1e15
#: The interquartile range of a normal distribution with standard deviation 1.
_NORMAL_IQR = 1.3489795003921634
#: A column of more distinct values keeps so many of them. Ranks in between are off by less than 3 / 1024, and a
#: saved model stays small.
_KNOTS = 1024
#: Within these powers of two squares of deviations neither overflow nor vanish, nor do sums of them.
_LOW_EXPONENT, _HIGH_EXPONENT = -100, 500


@dataclass(frozen=True)
class Affine:
    """x -> (x * unit - origin) / width - shift.

    Attributes:
        unit: a power of two that tames extreme magnitudes.
        origin: a value in the middle of the column, not its mean: far from 0 the mean of values that differ little
            would lie between two floats, and its rounding would count as spread.
        width: how far one unit of the result is; above 0.
        shift: what is left of the mean or median, in units of the result.
    """

    unit: float
    origin: float
    width: float
    shift: float

    def __call__(self, values: FloatVector) -> FloatVector:
        """Return the scaled values, a new vector."""
        scaled = values * self.unit
        scaled -= self.origin
        scaled /= self.width
        scaled -= self.shift
        return scaled


@dataclass(frozen=True, eq=False)
class Ranked:
    """x -> its place among the fitted values: linear between the knots, constant beyond the first and the last.

    Attributes:
        unit: a power of two that tames extreme magnitudes.
        knots: strictly ascending, times `unit` already.
        places: one for each knot, ascending.
    """

    unit: float
    knots: FloatVector
    places: FloatVector

    def __post_init__(self) -> None:
        object.__setattr__(self, "knots", read_only(self.knots))
        object.__setattr__(self, "places", read_only(self.places))

    def __call__(self, values: FloatVector) -> FloatVector:
        """Return the places of the values, a new vector."""
        values = values * self.unit
        order = (
            values.argsort()
        )  # interpolation in ascending order, with the sorting, takes two thirds of the time
        placed = np.empty_like(values)
        placed[order] = np.interp(values[order], self.knots, self.places)
        return placed


Scale: TypeAlias = Affine | Ranked


def fit_scale(scaling: str, values: FloatVector) -> Scale:
    """Fit the scaling of that name on ascending, finite values that are not all equal."""
    exponent = frexp(max(abs(values[0]), abs(values[-1])))[1]
    if _LOW_EXPONENT < exponent < _HIGH_EXPONENT:
        return SCALINGS[scaling](1.0, values)
    unit = 2.0 ** -max(exponent, -1000)
    return SCALINGS[scaling](unit, values * unit)


def quantile_of(values: FloatVector, share: float) -> float:
    """Return a quantile of ascending values, linear between neighbours; 0.5 is the median."""
    position = share * (len(values) - 1)
    below = int(position)
    above = min(below + 1, len(values) - 1)
    weight = position - below
    return float(values[below] * (1 - weight) + values[above] * weight)


def _standard(unit: float, values: FloatVector) -> Scale:
    """Mean 0 and standard deviation 1."""
    origin = float(values[len(values) // 2])
    moved = values - origin
    width = float(moved.std())
    return Affine(unit, origin, width, float(moved.mean()) / width)


def _robust(unit: float, values: FloatVector) -> Scale:
    """Median 0 and the interquartile range of a standard normal distribution, which few large values do not move.

    With that factor the column weighs as much as one that falls back to its standard deviation, because half of its
    values are equal.
    """
    origin = float(values[len(values) // 2])
    moved = values - origin
    spread = quantile_of(moved, 0.75) - quantile_of(moved, 0.25)
    width = spread / _NORMAL_IQR or float(moved.std())
    return Affine(unit, origin, width, quantile_of(moved, 0.5) / width)


def _quantile(unit: float, values: FloatVector) -> Scale:
    """Ranks, spread evenly around 0 with variance 1 where no values are equal; equal ones get their mean rank.

    The factor does not depend on ties: a column that is nearly always 0 would otherwise dominate by its exceptions.
    """
    n = len(values)
    starts = np.flatnonzero(np.diff(values, prepend=-np.inf))
    ends = np.append(starts[1:], n)
    kept = _knots(starts, ends)
    mean_ranks = (starts[kept] + ends[kept]) / (2 * n)
    # n equally likely places, 1/n apart, have variance (1 - 1/n^2) / 12.
    return Ranked(unit, values[starts[kept]], (mean_ranks - 0.5) * sqrt(12 / (1 - 1 / n**2)))


def _knots(starts: IndexVector, ends: IndexVector) -> IndexVector:
    """Return which groups of equal values are kept: all, or some at even distances in rank."""
    if len(starts) <= _KNOTS:
        return np.arange(len(starts))
    n = ends[-1]
    wanted = np.linspace(0, n - 1, _KNOTS).astype(np.int64)
    kept = np.unique(np.searchsorted(ends, wanted, side="right"))
    # A large group is always met. Its neighbours are kept too, else values beside it would be drawn to its mean rank.
    large = kept[(ends - starts)[kept] > n // _KNOTS]
    beside = np.concatenate([kept, large - 1, large + 1])
    return np.unique(beside[(beside >= 0) & (beside < len(starts))])


def _none(unit: float, values: FloatVector) -> Scale:
    """Leave values as they are. Raises `DataError` where distances would not fit into float32."""
    if max(abs(values[0]), abs(values[-1])) > LIMIT * unit:
        raise DataError(f"A value is beyond {LIMIT:.0e}, too large without scaling; choose another scaling.")
    return Affine(unit, 0.0, unit, 0.0)


#: By name, in the order in which they are explained to people.
SCALINGS: Mapping[str, Callable[[float, FloatVector], Scale]] = MappingProxyType(
    {"standard": _standard, "robust": _robust, "quantile": _quantile, "none": _none}
)

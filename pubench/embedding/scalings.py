"""Scalings: put a numeric column on a scale that can be compared with those of other columns.

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
from pubench.system.json_documents import Node
from pubench.types import FloatVector, IndexVector, Json, read_only

#: The largest embedded value. Squared distances over ten thousand such columns still fit into float32, and a row so
#: far away is far away from every other row in any case.
LIMIT = 1e15
#: The interquartile range of a normal distribution with standard deviation 1.
_NORMAL_IQR = 1.3489795003921634
#: Maximum number of distinct values of a column that are saved. Ranks in between are off by less than 3 / 1024, and a
#: saved model stays small.
_KNOTS = 1024
#: Within these powers of two squares of deviations neither overflow nor vanish, nor do sums of them.
_LOW_EXPONENT, _HIGH_EXPONENT = -100, 500


@dataclass(frozen=True)
class Affine:
    """x -> (x * unit - origin) / width - shift.

    Attributes:
        unit: a power of two that prevents overflow with extreme magnitudes.
        origin: a value in the middle of the column, not its mean: far from 0 the mean of values that differ little
            would lie between two floats, and its rounding error would count as spread.
        width: the length of one unit of the result; above 0.
        shift: the rest of the mean or median, in units of the result.
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
    """x -> its rank among the fitted values, scaled: linear between the knots, constant outside of them.

    Attributes:
        unit: a power of two that prevents overflow with extreme magnitudes.
        knots: strictly ascending, times `unit` already.
        ranks: the scaled rank of each knot, ascending.
    """

    unit: float
    knots: FloatVector
    ranks: FloatVector

    def __post_init__(self) -> None:
        object.__setattr__(self, "knots", read_only(self.knots))
        object.__setattr__(self, "ranks", read_only(self.ranks))

    def __call__(self, values: FloatVector) -> FloatVector:
        """Return the scaled ranks of the values, a new vector."""
        values = values * self.unit
        order = values.argsort()  # np.interp is faster on ascending values, by more than sorting costs
        ranks = np.empty_like(values)
        ranks[order] = np.interp(values[order], self.knots, self.ranks)
        return ranks


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

    With that factor the column has the same weight as one that uses its standard deviation instead, because half of
    its values are equal.
    """
    origin = float(values[len(values) // 2])
    moved = values - origin
    spread = quantile_of(moved, 0.75) - quantile_of(moved, 0.25)
    width = spread / _NORMAL_IQR or float(moved.std())
    return Affine(unit, origin, width, quantile_of(moved, 0.5) / width)


def _quantile(unit: float, values: FloatVector) -> Scale:
    """Ranks, spread evenly around 0 with variance 1 where no values are equal; equal ones get their mean rank.

    The factor does not depend on ties: a column that is nearly always 0 would otherwise dominate all distances by its
    few other values.
    """
    n = len(values)
    starts = np.flatnonzero(np.diff(values, prepend=-np.inf))
    ends = np.append(starts[1:], n)
    groups = _knots(starts, ends)
    mean_ranks = (starts[groups] + ends[groups]) / (2 * n)
    # n equally likely values, 1/n apart, have variance (1 - 1/n^2) / 12.
    return Ranked(unit, values[starts[groups]], (mean_ranks - 0.5) * sqrt(12 / (1 - 1 / n**2)))


def _knots(starts: IndexVector, ends: IndexVector) -> IndexVector:
    """Return the numbers of the groups of equal values to use: all, or some at even distances in rank."""
    if len(starts) <= _KNOTS:
        return np.arange(len(starts))
    n = ends[-1]
    ranks = np.linspace(0, n - 1, _KNOTS).astype(np.int64)
    groups = np.unique(np.searchsorted(ends, ranks, side="right"))
    # Every large group is among these. Its neighbours are added, else values beside it would get nearly its mean rank.
    large = groups[(ends - starts)[groups] > n // _KNOTS]
    groups = np.concatenate([groups, large - 1, large + 1])
    return np.unique(groups[(groups >= 0) & (groups < len(starts))])


def _none(unit: float, values: FloatVector) -> Scale:
    """Leave values as they are. Raises `DataError` where distances would not fit into float32."""
    if max(abs(values[0]), abs(values[-1])) > LIMIT * unit:
        raise DataError(f"A value is beyond {LIMIT:.0e}, too large without scaling; choose another scaling.")
    return Affine(unit, 0.0, unit, 0.0)


#: By name, in the order of the documentation.
SCALINGS: Mapping[str, Callable[[float, FloatVector], Scale]] = MappingProxyType(
    {"standard": _standard, "robust": _robust, "quantile": _quantile, "none": _none}
)


def scale_to_json(scale: Scale | None) -> Json:
    """Return a fitted scale as a JSON object; None where the column never varied."""
    match scale:
        case None:
            return None
        case Affine():
            return dict(vars(scale))
        case Ranked(unit, knots, ranks):
            return {"unit": unit, "knots": knots.tolist(), "places": ranks.tolist()}


def scale_from_json(node: Node) -> Scale:
    """Return the scale that `scale_to_json` wrote; raises `DataError` for anything else."""
    unit = node["unit"].positive()
    if "knots" not in node:
        return Affine(unit, node["origin"].number(), node["width"].positive(), node["shift"].number())
    knots, ranks = node["knots"].ascending(strictly=True), node["places"].ascending(strictly=False)
    if len(knots) != len(ranks):
        raise node["places"].error("list as long as the knots")
    return Ranked(unit, knots, ranks)

"""Marginal distributions of columns: maps from a position among customers to a value.

A position is a number on the scale of a standard normal: -1 is low, 0 is in the middle, 2 is very high. Every kind of
column maps positions to values without decreasing, so that positions carry the correlations and the maps carry the
shapes: skewed amounts with zeros, counts, flags, codes.

The maps use sums, products, comparisons and tables alone, and round their result. Exponentials of whole arrays are
left out on purpose: those of numpy differ in the last bit between processors, and the data must not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import exp, inf
from statistics import NormalDist
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Vector: TypeAlias = npt.NDArray[np.float32]

_NORMAL = NormalDist()
_FARTHEST = 8.0  # positions beyond are cut to this; they are extremely rare
_KNOTS_PER_UNIT = 64  # chords of exp this short are off by less than a part in ten thousand
_LARGEST_COUNT = 400


class Marginal(Protocol):
    """Maps positions to values, never falling."""

    def values(self, position: Vector) -> Vector:
        """Return the values at these positions; a new array of the same shape."""


@dataclass(frozen=True)
class Level:
    """Normal around `middle` with deviation `spread`, cut off at `low` and `high`, in whole multiples of `step`."""

    middle: float
    spread: float
    low: float
    high: float
    step: float = 1.0

    def values(self, position: Vector) -> Vector:
        """Return the values at these positions."""
        raw = np.clip(position * np.float32(self.spread) + np.float32(self.middle), self.low, self.high)
        return _round(raw, self.step)


@dataclass(frozen=True)
class Amount:
    """Log-normal: `middle` at position 0, `sigma` on the log scale, in whole multiples of `step`, at most `high`.

    The share `zeros` of a standard normal population, its lower end, has nothing.
    """

    middle: float
    sigma: float
    zeros: float = 0.0
    high: float = inf
    step: float = 1.0

    def values(self, position: Vector) -> Vector:
        """Return the values at these positions."""
        amount = _round(np.minimum(_along(self._knots(), position), np.float32(self.high)), self.step)
        if self.zeros:
            amount[position < np.float32(_quantile(self.zeros))] = 0
        return amount

    def _knots(self) -> Vector:
        reach = int(_FARTHEST * _KNOTS_PER_UNIT)
        knots = (self.middle * exp(self.sigma * k / _KNOTS_PER_UNIT) for k in range(-reach, reach + 1))
        return np.fromiter(knots, dtype=np.float32)


@dataclass(frozen=True)
class Codes:
    """Codes `first`, `first` + 1, ... that take these shares of a standard normal population, lowest first."""

    shares: tuple[float, ...]
    first: int = 0

    def values(self, position: Vector) -> Vector:
        """Return the values at these positions."""
        return _steps(list(accumulate(self.shares[:-1])), position) + np.float32(self.first)


@dataclass(frozen=True)
class Count:
    """Negative binomial: variance is mean + mean^2 / size, so that a small `size` is a long tail; at least `least`."""

    mean: float
    size: float
    least: int = 0

    def values(self, position: Vector) -> Vector:
        """Return the values at these positions."""
        return np.maximum(_steps(self._cumulated(), position), np.float32(self.least))

    def _cumulated(self) -> list[float]:
        # P(k + 1) / P(k) = (k + size) / (k + 1) * mean / (mean + size), from P(0) = (size / (mean + size))^size.
        failure = self.mean / (self.mean + self.size)
        share = (1 - failure) ** self.size
        shares = [share]
        for k in range(_LARGEST_COUNT):
            share *= (k + self.size) / (k + 1) * failure
            shares.append(share)
        return [total for total in accumulate(shares) if total < 1 - 1e-9]


def flag(share: float) -> Codes:
    """Return the codes 0 and 1 of which 1 takes this share."""
    return Codes((1 - share, share))


def evenly(codes: int, first: int = 0) -> Codes:
    """Return codes of equal shares, `codes` of them."""
    return Codes((1 / codes,) * codes, first)


def _quantile(share: float) -> float:
    # Rounded, because logarithms inside differ in their last bit between C libraries.
    return round(_NORMAL.inv_cdf(share), 6)


def _steps(cumulated: Sequence[float], position: Vector) -> Vector:
    thresholds = np.array([_quantile(share) for share in cumulated], dtype=np.float32)
    return np.searchsorted(thresholds, position, side="right").astype(np.float32)


def _along(knots: Vector, position: Vector) -> Vector:
    index = np.clip((position + np.float32(_FARTHEST)) * np.float32(_KNOTS_PER_UNIT), 0, len(knots) - 2)
    knot = index.astype(np.int32)
    value: Vector = knots[knot]
    value += np.diff(knots)[knot] * (index - knot.astype(np.float32))
    return value


def _round(values: Vector, step: float) -> Vector:
    rounded: Vector = np.rint(values / np.float32(step))
    rounded *= np.float32(step)
    return rounded

"""From values to places on a picture, and which values to write beside an axis."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Maps [low, high] to [start, end], straight or logarithmic.

    Attributes:
        low, high: of the values; low < high, and 0 < low if logarithmic.
        start, end: of the places; end may lie before start, as a height does.
        log: logarithmic.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return the place of a value; values beyond the ends are put there."""
        inside = min(max(value, self.low), self.high)
        return self.start + (self.end - self.start) * self._share(inside)

    def _share(self, value: float) -> float:
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self, most: int = 6) -> list[float]:
        """Return round values within the range, ascending: at most about so many."""
        return _decades(self.low, self.high, most) if self.log else _round_steps(self.low, self.high, most)


def around(values: Sequence[float], *, share: float = 0.06) -> tuple[float, float]:
    """Return a range that holds the values with some air; never empty."""
    low, high = min(values), max(values)
    air = (high - low) * share or max(abs(high) * share, 1e-3)
    return low - air, high + air


def _round_steps(low: float, high: float, most: int) -> list[float]:
    rough = (high - low) / max(1, most)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _decades(low: float, high: float, most: int) -> list[float]:
    """Return powers of ten; steps of 1, 2, 5 where the range is short, every so many where it is long."""
    first, last = math.floor(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    powers = [10.0**i for i in range(first, last + 1)]
    fine, coarse = (
        [m * power for power in powers for m in steps if low * (1 - 1e-9) <= m * power <= high * (1 + 1e-9)]
        for steps in ((1, 2, 5), (1,))
    )
    if len(fine) <= most:
        return fine
    every = max(1, math.ceil(len(coarse) / most))
    return coarse[::-every][::-1]

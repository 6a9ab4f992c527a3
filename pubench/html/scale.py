"""Maps values to positions in a chart and chooses axis ticks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Maps [low, high] to [start, end], linearly or logarithmically.

    Attributes:
        low, high: range of the values; low < high, and 0 < low if `log`.
        start, end: range of the positions in pixels; end may be less than start, as on a vertical axis.
        log: the scale is logarithmic.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return the position of a value; values outside the range are clipped to it."""
        inside = min(max(value, self.low), self.high)
        return self.start + (self.end - self.start) * self._share(inside)

    def _share(self, value: float) -> float:
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self, n_ticks: int = 6) -> list[float]:
        """Return about `n_ticks` round values within the range, ascending, at most one more."""
        if self.log:
            return _log_ticks(self.low, self.high, n_ticks)
        return _linear_ticks(self.low, self.high, n_ticks)


def padded_range(values: Sequence[float], *, share: float = 0.06) -> tuple[float, float]:
    """Return a range that contains the values with a margin of `share` of it; never empty."""
    low, high = min(values), max(values)
    margin = (high - low) * share or max(abs(high) * share, 1e-3)
    return low - margin, high + margin


def _linear_ticks(low: float, high: float, n_ticks: int) -> list[float]:
    rough = (high - low) / max(1, n_ticks)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _log_ticks(low: float, high: float, n_ticks: int) -> list[float]:
    """Return powers of ten: with 2 and 5 times them where the range is short, every n-th one where it is long."""
    first, last = math.floor(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    powers = [10.0**i for i in range(first, last + 1)]
    fine, coarse = (
        [m * power for power in powers for m in steps if low * (1 - 1e-9) <= m * power <= high * (1 + 1e-9)]
        for steps in ((1, 2, 5), (1,))
    )
    if len(fine) <= n_ticks:
        return fine
    stride = max(1, math.ceil(len(coarse) / n_ticks))
    return coarse[::-stride][::-1]

"""The share of hidden positives that the best d unlabeled rows hold, with its uncertainty.

Under SCAR labelled positives are a random sample of all positives, so that the share of labelled rows which score above a
threshold estimates the share of hidden positives above it, in the paper's words the sensitivity alpha. Depth is
counted in unlabeled rows alone, because labelled rows are not on a call list: at depth p = d / n_U

    recall(p) = share of labelled rows above the threshold that the share p of the unlabeled rows exceeds
    lift(p) = recall(p) / p; precision(p) = hidden positives x recall(p) / d

Recall has a Beta distribution: Jeffreys' posterior of a share of n_L trials, wider by the error of the threshold. Depth
p of all unlabeled rows is depth p of the N that were judged only up to se(p) = sqrt(p (1 - p) (1/N - 1/n_U)), which moves
recall by half the difference between recall(p + se) and recall(p - se); that is added as a variance. A number of hidden positives
found among H is beta-binomial.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, betaln, gammaln

from pubench.metrics.aul import curve_of
from pubench.metrics.ranks import check_and_place
from pubench.types import FloatVector

#: Beta distributions of less information than one trial are cut off here.
_LEAST_TRIALS = 1.0


class Range(NamedTuple):
    """An estimate and the ends of its range: low <= estimate <= high."""

    estimate: float
    low: float
    high: float

    def scaled(self, factor: float) -> "Range":
        """Return all three times a factor of at least 0."""
        return Range(self.estimate * factor, self.low * factor, self.high * factor)


class Spread(NamedTuple):
    """The parameters of Beta distributions, one per depth."""

    a: FloatVector
    b: FloatVector

    def bounds(self, confidence: float) -> tuple[FloatVector, FloatVector]:
        """Return the central interval of each."""
        tail = (1 - confidence) / 2
        low, high = (betaincinv(self.a, self.b, level) for level in (tail, 1 - tail))
        return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class RecallCurve:
    """Recall over depth, as measured on rows that a model did not see.

    Attributes:
        share: shape (k,), ascending from 0 to 1: depth, as a share of the unlabeled rows.
        recall: shape (k,), ascending from 0 to 1: share of the labelled rows above; straight lines in between.
        n_labelled, n_unlabeled: number of rows that it was measured on.
    """

    share: FloatVector
    recall: FloatVector
    n_labelled: int
    n_unlabeled: int

    @classmethod
    def of(cls, s: npt.ArrayLike, scores: npt.ArrayLike) -> Self:
        """Measure recall on rows with labels `s`; labels, scores and errors are those of `aul_pu_score`."""
        placed = check_and_place(s, scores, None)
        curve = curve_of(placed)
        n, labelled = len(placed.ordered), placed.n_labelled
        unlabeled = np.rint(curve.share * n) - np.rint(curve.sensitivity * labelled)
        return cls(
            np.maximum.accumulate(unlabeled) / placed.n_unlabeled,
            curve.sensitivity,
            labelled,
            placed.n_unlabeled,
        )

    def at(self, share: FloatVector) -> FloatVector:
        """Return recall at these depths."""
        return np.interp(share, self.share, self.recall)

    def spread(self, share: FloatVector, n_unlabeled: int) -> Spread:
        """Return the distribution of recall at these depths of a list of `n_unlabeled` rows."""
        mean = (self.at(share) * self.n_labelled + 0.5) / (self.n_labelled + 1)
        return _beta(mean, self.n_labelled + 1, self._spread_of_depth(share, n_unlabeled))

    def spread_between(self, shallow: FloatVector, deep: FloatVector, n_unlabeled: int) -> Spread:
        """Return the distribution of the recall that lies between two depths."""
        found = self.at(deep) - self.at(shallow)
        mean = (found * self.n_labelled + 0.5) / (self.n_labelled + 1)
        moved = np.hypot(
            self._spread_of_depth(shallow, n_unlabeled), self._spread_of_depth(deep, n_unlabeled)
        )
        return _beta(mean, self.n_labelled + 1, np.minimum(moved, found))

    def _spread_of_depth(self, share: FloatVector, n_unlabeled: int) -> FloatVector:
        free = max(0.0, 1 / self.n_unlabeled - 1 / n_unlabeled)
        error = np.sqrt(share * (1 - share) * free)
        return np.asarray((self.at(share + error) - self.at(share - error)) / 2)


def _beta(mean: FloatVector, trials: float, moved: FloatVector) -> Spread:
    """Return the Beta distributions of this mean whose variance is that of a share of trials plus moved^2."""
    product = mean * (1 - mean)
    size = np.maximum(product / (product / (trials + 1) + moved**2) - 1, _LEAST_TRIALS)
    return Spread(mean * size, (1 - mean) * size)


def found_among(hidden: int, spread: tuple[float, float], tail: float) -> int:
    """Return the quantile at `tail` of the number of hidden positives found, which is beta-binomial.

    Args:
        hidden: number of hidden positives.
        spread: the parameters a and b of recall.
        tail: between 0 and 1.
    """
    a, b = spread
    k = np.arange(hidden + 1)
    ways = gammaln(hidden + 1) - gammaln(k + 1) - gammaln(hidden - k + 1)
    chance = np.cumsum(np.exp(ways + betaln(k + a, hidden - k + b) - betaln(a, b)))
    return int(min(np.searchsorted(chance, tail * chance[-1]), hidden))

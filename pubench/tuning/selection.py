"""Which trials to blend, and what a way to choose is worth: from out-of-fold scores and PU labels alone.

Greedy selection with replacement (Caruana et al., "Ensemble Selection from Libraries of Models", ICML 2004): begin with the
best trial, and add whichever improves AUL_PU most, again and again, until nothing does. A blend's score is the weighted
mean of the trials' ranks, since different methods have different scales.

What was selected on some rows looks good on them. So a way to choose is worth something only if it is better on rows that
did not choose: for each fold, choose on the other folds alone, and compare on this one with what the other way chooses
there. The mean difference must be above its standard error: of blends of pure noise two in five are above 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pubench.metrics.ranks import share_below
from pubench.tuning.inner import InnerFold
from pubench.tuning.judging import aul_of
from pubench.types import BoolVector, FloatVector, IndexVector, tell_nobody

#: A weight from 0 up for each candidate.
Weights: TypeAlias = tuple[int, ...]

_MOST_STEPS = 20
#: AUL_PU that differs by less is the same; sums of floats are not exact.
_LEAST = 1e-9
#: With fewer labelled rows behind it, a difference is left open.
_FEWEST = 10


@dataclass(frozen=True, eq=False)
class RankedFold:
    """What candidates make of the rows of one fold.

    Attributes:
        fold: the fold.
        rows: shape (n_labelled,), the numbers of its labelled rows.
        labelled: shape (n_candidates, n_labelled), the ranks that each gives them among the unlabeled rows: twice the
            number of these below, plus that of ties. They are whole, so that sums of them tie where they should.
        unlabeled: shape (n_candidates, n_unlabeled), the same for the unlabeled rows themselves.
    """

    fold: InnerFold
    rows: IndexVector
    labelled: npt.NDArray[np.float64]
    unlabeled: npt.NDArray[np.float64]
    _known: dict[Weights, float] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, fold: InnerFold, s: BoolVector, scores: Sequence[FloatVector]) -> "RankedFold":
        """Rank the scores of each candidate, of the fold's test rows in their order; `s` says which are labelled."""
        ranks = np.stack([2 * int((~s).sum()) * share_below(one[~s], one) for one in scores]).round()
        return cls(fold, fold.test[s], ranks[:, s], ranks[:, ~s])

    @property
    def n_candidates(self) -> int:
        """Number of candidates."""
        return len(self.labelled)

    def placements(self, weights: Weights) -> FloatVector:
        """Return the share of unlabeled rows that a blend puts below each labelled row, ties half."""
        vector = np.array(weights, dtype=np.float64)
        return share_below(vector @ self.unlabeled, vector @ self.labelled)

    def value(self, weights: Weights) -> float:
        """Return AUL_PU of a blend; computed once."""
        reduced = in_lowest_terms(weights)
        if reduced not in self._known:
            self._known[reduced] = aul_of(self.placements(reduced), self.fold)
        return self._known[reduced]


@dataclass(frozen=True, eq=False)
class Strategy:
    """A way to choose.

    Attributes:
        folds: what its candidates make of each fold.
        choose: folds -> the weights of candidates that it takes on seeing them.
    """

    folds: Sequence[RankedFold]
    choose: Callable[[Sequence[RankedFold]], Weights]


@dataclass(frozen=True)
class Gain:
    """How much better than another one a way to choose is, on rows that chose for neither.

    Attributes:
        difference: of AUL_PU, the mean over labelled rows.
        stderr: its standard error.
        n_labelled: how many these are.
    """

    difference: float
    stderr: float
    n_labelled: int

    @property
    def is_real(self) -> bool:
        """Whether the difference is positive by more than one standard error."""
        return self.n_labelled >= _FEWEST and self.difference > self.stderr

    @property
    def figures(self) -> str:
        """The difference and its standard error."""
        return f"{self.difference:+.4f} (standard error {self.stderr:.4f})"

    @property
    def evidence(self) -> str:
        """On which rows it was found."""
        return f"{self.n_labelled:,} labelled rows of folds that did not choose"


def in_lowest_terms(weights: Weights) -> Weights:
    """Return the smallest whole weights of the same proportions."""
    divisor = gcd(*weights) or 1
    return tuple(weight // divisor for weight in weights)


def mean_value(folds: Sequence[RankedFold], weights: Weights) -> float:
    """Return the mean AUL_PU of a blend over folds."""
    return float(np.mean([fold.value(weights) for fold in folds]))


def best_single(folds: Sequence[RankedFold]) -> Weights:
    """Return the weights of the best candidate alone; of equally good ones the first."""
    return _best_of(folds, _singles(folds[0].n_candidates))


def select(folds: Sequence[RankedFold]) -> Weights:
    """Return the weights of a blend, at least as good on these folds as every candidate alone, in lowest terms.

    Of equally good additions the first candidate's is taken.
    """
    singles = _singles(folds[0].n_candidates)
    chosen = _best_of(folds, singles)
    for _ in range(_MOST_STEPS - 1):
        added = _best_of(folds, [tuple(map(sum, zip(chosen, one, strict=True))) for one in singles])
        if mean_value(folds, added) <= mean_value(folds, chosen) + _LEAST:
            break
        chosen = added
    return in_lowest_terms(chosen)


def held_out_gain(
    ours: Strategy, theirs: Strategy, progress: Callable[[float], None] = tell_nobody
) -> Gain | None:
    """Return how much better ours is than theirs on folds that chose for neither; None with a single fold.

    Args:
        ours: one way to choose.
        theirs: another one, on the same folds; its candidates may be others.
        progress: is told the share of the work that is done.
    """
    rows, differences = [], []
    for number, (own, their) in enumerate(zip(ours.folds, theirs.folds, strict=True)):
        # Folds of another repeat hold the same rows.
        apart = [i for i, other in enumerate(ours.folds) if not np.isin(other.rows, own.rows).any()]
        if not apart:
            return None
        taken, rival = (
            fold.placements(way.choose([way.folds[i] for i in apart]))
            for fold, way in ((own, ours), (their, theirs))
        )
        rows.append(own.rows)
        differences.append((taken - rival) * (1 - own.fold.labelled_share))
        progress((number + 1) / len(ours.folds))
    return _gain(np.concatenate(rows), np.concatenate(differences))


def _gain(rows: IndexVector, differences: FloatVector) -> Gain:
    """Return the mean of paired differences; a row that several repeats have judged counts once."""
    _, at = np.unique(rows, return_inverse=True)
    each = np.bincount(at, weights=differences) / np.bincount(at)
    # One difference of 0 more than there is, as in `pubench.tuning.racing`: rare failures go unseen.
    spread = float(np.append(each, 0.0).std(ddof=1))
    return Gain(float(each.mean()), spread / float(np.sqrt(len(each))), len(each))


def _singles(count: int) -> list[Weights]:
    return [tuple(int(i == j) for j in range(count)) for i in range(count)]


def _best_of(folds: Sequence[RankedFold], options: Sequence[Weights]) -> Weights:
    values = [mean_value(folds, option) for option in options]
    return options[int(np.argmax(values))]

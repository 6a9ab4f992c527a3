"""Ensemble selection: which trials to blend, and what a strategy of choosing is worth on rows that did not choose.

Greedy selection with replacement (Caruana et al., "Ensemble Selection from Libraries of Models", ICML 2004): begin with the
best few trials, and repeatedly add the trial that improves AUL_PU most, until none does. The score of a blend is the weighted
mean of the log-odds of the ranks that its trials give, since different methods have different scales.

With few labelled rows the best trial is often the luckiest one. So the selection is repeated on bootstraps of the labelled
rows, and the weights of all repeats are added up: trials that win by chance share the weight, which protects where labels
are few. `benchmarks/choice_rules.py` compares this rule with others on tables that chose nothing.

What was selected on some rows looks good on these rows. What a strategy is worth is therefore measured on rows that did not
choose: for each fold, choose on the other folds alone, and compare on this fold with the choice of the other strategy.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pubench.crossfit.cross_fit import fold_aul
from pubench.crossfit.folds import InnerFold
from pubench.metrics.comparison import paired_mean
from pubench.metrics.ranks import share_below
from pubench.seeds import Seed
from pubench.types import BoolVector, FloatVector, IndexVector, ignore_progress

#: A weight for each candidate, 0 or more.
Weights: TypeAlias = tuple[int, ...]

#: Number of bootstraps of the labelled rows, of trials that each begins with, and of those that it may add.
_BAGS = 20
_INITIAL = 5
_STEPS = 10
#: A smaller improvement of AUL_PU ends a selection.
_MIN_IMPROVEMENT = 1e-6
#: A trial with a smaller share of the weight adds next to nothing, and costs as much as any.
_MIN_SHARE = 0.03
_MAX_PARTS = 8
#: Weights are whole numbers of this total, about.
_TOTAL_WEIGHT = 40
#: Labelled rows are placed among at most this number of unlabeled rows of a fold: selection compares on the same rows.
_MAX_UNLABELED = 4000


@dataclass(frozen=True, eq=False)
class RankedFold:
    """The ranks that candidates give the rows of one fold.

    Attributes:
        fold: the fold.
        rows: shape (n_labelled,), the numbers of its labelled rows.
        labelled: shape (n_candidates, n_labelled), the log-odds of the ranks of the labelled rows among the unlabeled rows, in
            millionths: whole numbers, so that sums of equal ones are equal.
        unlabeled: shape (n_candidates, n_unlabeled), the same for the unlabeled rows.
    """

    fold: InnerFold
    rows: IndexVector
    labelled: npt.NDArray[np.float64]
    unlabeled: npt.NDArray[np.float64]
    _placements: dict[Weights, FloatVector] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, fold: InnerFold, s: BoolVector, candidates: Sequence[FloatVector]) -> "RankedFold":
        """Rank the scores that candidates give the fold's test rows, in their order; `s` marks the labelled ones."""
        unlabeled = np.flatnonzero(~s)
        unlabeled = unlabeled[:: -(-len(unlabeled) // _MAX_UNLABELED)]
        kept = np.concatenate([np.flatnonzero(s), unlabeled])
        ranks = np.stack([share_below(scores[unlabeled], scores[kept]) for scores in candidates])
        least = 0.5 / len(unlabeled)
        ranks = np.clip(ranks, least, 1 - least)
        log_odds = np.round(1e6 * np.log(ranks / (1 - ranks)))
        n_labelled = int(s.sum())
        return cls(fold, fold.test[s], log_odds[:, :n_labelled], log_odds[:, n_labelled:])

    @property
    def n_candidates(self) -> int:
        """Number of candidates."""
        return len(self.labelled)

    def placements(self, weights: Weights) -> FloatVector:
        """Return for each labelled row the share of unlabeled rows that a blend puts below it, ties half; computed once."""
        reduced = in_lowest_terms(weights)
        if reduced not in self._placements:
            used = np.flatnonzero(reduced)
            vector = np.array(reduced, dtype=np.float64)[used]
            self._placements[reduced] = share_below(
                vector @ self.unlabeled[used], vector @ self.labelled[used]
            )
        return self._placements[reduced]

    def value(self, weights: Weights) -> float:
        """Return AUL_PU of a blend."""
        return fold_aul(self.placements(weights), self.fold)


@dataclass(frozen=True, eq=False)
class Strategy:
    """A way to choose among candidates.

    Attributes:
        folds: the ranks that its candidates give the rows of each fold.
        choose: folds -> the weights of the candidates that it chooses on these folds.
    """

    folds: Sequence[RankedFold]
    choose: Callable[[Sequence[RankedFold]], Weights]


@dataclass(frozen=True)
class Gain:
    """How much better than another one a strategy is, on rows that did not choose for either.

    Attributes:
        difference: of AUL_PU, the mean over labelled rows.
        stderr: its standard error.
        n_labelled: number of labelled rows.
    """

    difference: float
    stderr: float
    n_labelled: int

    @property
    def low(self) -> float:
        """The lower end of the 95% interval."""
        return self.difference - _NORMAL_975 * self.stderr

    @property
    def high(self) -> float:
        """The upper end of the 95% interval."""
        return self.difference + _NORMAL_975 * self.stderr


#: The quantile of the normal distribution that a 95% interval ends at.
_NORMAL_975 = 1.96


def in_lowest_terms(weights: Weights) -> Weights:
    """Return the smallest whole weights of the same proportions."""
    divisor = gcd(*weights) or 1
    return tuple(weight // divisor for weight in weights)


def mean_value(folds: Sequence[RankedFold], weights: Weights) -> float:
    """Return the mean AUL_PU of a blend over folds."""
    return float(np.mean([fold.value(weights) for fold in folds]))


def select_single(folds: Sequence[RankedFold]) -> Weights:
    """Return the weights of the best candidate alone; among equally good ones the first."""
    return _best_of(folds, _singles(folds[0].n_candidates))


def select_blend(folds: Sequence[RankedFold], seed: Seed, *, initial: int = _INITIAL) -> Weights:
    """Return the weights of a blend: greedy selections on bootstraps of the labelled rows, added up.

    Each begins with the `initial` best candidates, at most a third of all: an average before anything was selected protects
    where labels are few. Of equally good candidates only the first is among them.

    At most eight candidates have a weight, none a share below 3%. Among equally good additions the first candidate is taken.
    """
    n_labelled = sum(len(fold.rows) for fold in folds)
    total = np.zeros(folds[0].n_candidates)
    for bag in range(_BAGS):
        generator = seed.child("bag", bag).generator()
        counts = generator.multinomial(n_labelled, np.full(n_labelled, 1 / n_labelled))
        weights = np.array(_greedy(folds, counts, initial))
        total += weights / weights.sum()
    return _rounded(total / _BAGS)


def _greedy(folds: Sequence[RankedFold], counts: IndexVector, initial: int) -> Weights:
    """Return the weights of one greedy selection, in which labelled row i counts `counts[i]` times."""
    singles = _singles(folds[0].n_candidates)
    alone = np.array([_counted_value(folds, single, counts) for single in singles])
    _, first_of_equals = np.unique(-alone, return_index=True)  # the best first
    leading = first_of_equals[: max(1, min(initial, len(singles) // 3))]
    weights = tuple(int(i in leading) for i in range(len(singles)))
    best = _counted_value(folds, weights, counts)
    for _ in range(_STEPS):
        options = [tuple(map(sum, zip(weights, single, strict=True))) for single in singles]
        values = [_counted_value(folds, option, counts) for option in options]
        number = int(np.argmax(values))
        if values[number] <= best + _MIN_IMPROVEMENT:
            break
        weights, best = options[number], values[number]
    return weights


def _counted_value(folds: Sequence[RankedFold], weights: Weights, counts: IndexVector) -> float:
    placements = np.concatenate([fold.placements(weights) for fold in folds])
    return float(counts @ placements / counts.sum())


def _rounded(shares: FloatVector) -> Weights:
    """Return shares as whole weights in lowest terms; those too small to matter are 0."""
    least = max(np.sort(shares)[-_MAX_PARTS:][0], min(_MIN_SHARE, shares.max() / 2))
    kept = np.where(shares >= least, shares, 0.0)
    whole = np.maximum(np.round(_TOTAL_WEIGHT * kept / kept.sum()), kept > 0).astype(int)
    return in_lowest_terms(tuple(whole.tolist()))


def held_out_gain(
    strategy: Strategy, baseline: Strategy, progress: Callable[[float], None] = ignore_progress
) -> Gain | None:
    """Return how much better a strategy is than a baseline, on folds that chose for neither; None with a single fold.

    Args:
        strategy: a way to choose.
        baseline: another one, on the same folds; its candidates may differ.
        progress: is called with the share of the work that is done.
    """
    rows, differences = [], []
    for number, fold in enumerate(strategy.folds):
        # Folds of another repeat contain the same rows.
        others = [i for i, other in enumerate(strategy.folds) if not np.isin(other.rows, fold.rows).any()]
        if not others:
            return None
        placed, baseline_placed = (
            chooser.folds[number].placements(chooser.choose([chooser.folds[i] for i in others]))
            for chooser in (strategy, baseline)
        )
        rows.append(fold.rows)
        differences.append((placed - baseline_placed) * (1 - fold.fold.labelled_share))
        progress((number + 1) / len(strategy.folds))
    return _gain(np.concatenate(rows), np.concatenate(differences))


def _gain(rows: IndexVector, differences: FloatVector) -> Gain:
    """Return the mean of paired differences; a row that was judged in several repeats counts once."""
    _, index = np.unique(rows, return_inverse=True)
    paired = paired_mean(np.bincount(index, weights=differences) / np.bincount(index))
    return Gain(paired.mean, paired.stderr, paired.count)


def _singles(count: int) -> list[Weights]:
    return [tuple(int(i == j) for j in range(count)) for i in range(count)]


def _best_of(folds: Sequence[RankedFold], options: Sequence[Weights]) -> Weights:
    values = [mean_value(folds, option) for option in options]
    return options[int(np.argmax(values))]

"""How many positives are hidden among the unlabeled rows: from a prior that a person gives, or estimated, or withheld.

Two priors are easily confused (see `pubench.priors.estimate`). With n_L labelled of n rows, hidden positives are

- prior n - n_L for a single training set, where the prior is the share of positives among all rows;
- prior n_U for case-control data, where it is the share among the unlabeled rows.

An estimate from scores is an upper bound wherever classes overlap: no region then holds positives alone, and nothing in the
data tells a weak feature from a common class. `estimate_hidden` compares two bounds that differ in how: best bin looks at the
purest region, Elkan and Noto's e1 at the purity that positives have on average. They agree if the positives are about equally pure
wherever they lie, as they are where classes are apart. Where they disagree, no number is given.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pubench.errors import DataError, ParameterError
from pubench.metrics.intervals import FEW_LABELLED
from pubench.metrics.prior_corrected import Prior
from pubench.priors.best_bin import best_bin_prior
from pubench.priors.elkan import elkan_prior
from pubench.priors.estimate import PriorEstimate, check_labels_and_scores
from pubench.seeds import Seed
from pubench.types import BoolVector, FloatVector, Sampling

#: Two bounds agree if one has at most this many times the hidden positives of the other.
_AGREEMENT = 1.5
#: An interval whose ends are further apart than this factor decides nothing.
_WIDEST = 4.0


@dataclass(frozen=True)
class HiddenPositives:
    """The number of positives among unlabeled rows.

    Attributes:
        estimate: the number; low <= estimate <= high.
        low, high: the ends of its range; equal to the estimate where a single prior was given.
        source: where it comes from, in a few words.
    """

    estimate: float
    low: float
    high: float
    source: str

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.estimate <= self.high < math.inf:
            raise ParameterError(
                f"A number of hidden positives lies in its own range; got {self.estimate:g} in {self.low:g} to {self.high:g}."
            )

    @property
    def in_words(self) -> str:
        """The number with its range and where it comes from."""
        between = "" if self.low == self.high else f" ({self.low:,.0f} to {self.high:,.0f})"
        return f"{self.estimate:,.0f}{between} among the unlabeled rows, by {self.source}"

    def scaled(self, factor: float) -> "HiddenPositives":
        """Return the number among `factor` times as many unlabeled rows of the same population."""
        return HiddenPositives(self.estimate * factor, self.low * factor, self.high * factor, self.source)


@dataclass(frozen=True)
class Withheld:
    """A number that is not shown, because it would be a guess or can not be right.

    Attributes:
        reason: why, and what to do: one sentence.
    """

    reason: str

    @property
    def in_words(self) -> str:
        """That there is no number, and why."""
        return f"not known. {self.reason}"

    def scaled(self, factor: float) -> "Withheld":  # noqa: ARG002 - as for a number
        """Return itself: among other rows there is no number either."""
        return self


#: A number of hidden positives, or why there is none.
Hidden: TypeAlias = HiddenPositives | Withheld

NEEDS_A_PRIOR = Withheld("It needs a prior, the share of positives; give one or a range of them.")


def hidden_from_prior(
    prior: Prior, n_rows: int, n_labelled: int, *, sampling: Sampling = "single-training-set"
) -> HiddenPositives:
    """Return the number of hidden positives that a prior implies.

    Args:
        prior: the share of positives, taken as exact; or (low, central, high).
        n_rows: number of all rows, labelled ones included.
        n_labelled: number of labelled rows.
        sampling: what the prior is a share of; see the module's docstring.

    Raises:
        DataError: fewer positives than labelled rows would follow.
        ParameterError: the priors are not ascending shares between 0 and 1, or there is no unlabeled row.
    """
    priors = prior if isinstance(prior, tuple) else (prior, prior, prior)
    if not 0 < priors[0] <= priors[1] <= priors[2] < 1:
        raise ParameterError(f"A prior lies between 0 and 1, three of them in ascending order; got {prior}.")
    if not 0 <= n_labelled < n_rows:
        raise ParameterError(f"{n_labelled} of {n_rows} rows are labelled; some have to be unlabeled.")
    if sampling == "case-control":
        low, central, high = (share * (n_rows - n_labelled) for share in priors)
    else:
        low, central, high = (share * n_rows - n_labelled for share in priors)
    if low < 0:
        raise DataError(
            f"A prior of {priors[0]:g} is impossible: {n_labelled / n_rows:g} of the rows are labelled positive already."
        )
    shares = f"{priors[1]:g}" if low == high else f"{priors[0]:g} to {priors[2]:g}"
    return HiddenPositives(central, low, high, f"a prior of {shares}, as given")


def estimate_hidden(s: npt.ArrayLike, scores: npt.ArrayLike, seed: Seed, confidence: float = 0.95) -> Hidden:
    """Estimate the number of positives among the unlabeled ones of these rows, or say why it can not be told.

    The estimate is the smaller of two upper bounds that agree within a factor of 1.5. The range covers the intervals of both; since
    the smaller bound may be too high as well, its lower end is divided by that factor, too. Withheld are bounds that
    disagree, ranges wider than a factor of 4, numbers above half of the unlabeled rows, and estimates from fewer than
    20 labelled rows. `benchmarks/whom_to_call.py` shows how often the truth lies in the range.

    Args:
        s: which rows are labelled.
        scores: of the same rows, by models that were not trained on them.
        seed: of the intervals.
        confidence: of the intervals.

    Raises:
        DataError: there is no labelled or no unlabeled row, or a score is not finite.
        ParameterError: `confidence` is not between 0 and 1.
    """
    labels, values = check_labels_and_scores(s, scores)
    if labels.sum() < FEW_LABELLED:
        return Withheld(f"An estimate needs at least {FEW_LABELLED} labelled rows; give a prior.")
    bounds = (
        best_bin_prior(labels, values, seed, confidence),
        elkan_prior(labels, _chance_to_be_labelled(labels, values), seed, confidence),
    )
    return _agreed(bounds, len(labels), int(labels.sum()))


def _chance_to_be_labelled(s: BoolVector, scores: FloatVector) -> FloatVector:
    """Return P(s = 1 | score), never falling with the score; a score of any scale becomes what e1 needs."""
    from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415 - heavy imports happen when used

    _, place = np.unique(scores, return_inverse=True)
    fitted = IsotonicRegression(y_min=0.0, y_max=1.0).fit_transform(place.astype(np.float64), s.astype(float))
    return np.asarray(fitted, dtype=np.float64)


def _agreed(bounds: tuple[PriorEstimate, PriorEstimate], n_rows: int, n_labelled: int) -> Hidden:
    numbers = [
        (bound.prior * n_rows - n_labelled, bound.low * n_rows - n_labelled, bound.high * n_rows - n_labelled)
        for bound in bounds
    ]
    estimates = sorted(number[0] for number in numbers)
    low, high = min(number[1] for number in numbers), max(number[2] for number in numbers)
    apart = estimates[1] / estimates[0] if estimates[0] > 0 else np.inf
    low /= apart
    if apart > _AGREEMENT:
        return Withheld(
            f"Two estimates disagree ({estimates[0]:,.0f} and {estimates[1]:,.0f} hidden positives), as they do where "
            "positives and negatives overlap; give a prior."
        )
    if estimates[0] > (n_rows - n_labelled) / 2:
        return Withheld(
            f"The estimate, {estimates[0]:,.0f} hidden positives, is over half of the unlabeled rows; give a prior."
        )
    if low <= 0 or high > _WIDEST * low:
        return Withheld(
            f"The interval of the estimate, {max(low, 0):,.0f} to {high:,.0f} hidden positives, says too little; give a prior."
        )
    return HiddenPositives(estimates[0], max(low, 0.0), high, "best bin and e1, which agree")

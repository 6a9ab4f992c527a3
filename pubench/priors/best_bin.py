"""Best bin estimation: the purest top of a ranking bounds the share of positives from above.

For every threshold t, P(score >= t | unlabeled) >= pi_U P(score >= t | positive), with equality where no negative scores
above t. So pi_U is at most the ratio of the two, and the smallest ratio is the estimate: Garg et al. 2021 ("Mixture
Proportion Estimation and PU Learning: A Modern Approach"), after Blanchard et al. 2010. They search for it under an
additive bound on both shares (Dvoretzky, Kiefer, Wolfowitz), which says nothing about shares of a thousandth; here it
is the bound on their ratio, from the standard error of its logarithm.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pubench.priors.estimate import PriorEstimate, check_labels_and_scores, interval, prior_in_all
from pubench.seeds import Seed
from pubench.types import BoolVector, FloatVector

_DRAWS = 500
_THRESHOLDS = 512
#: Standard errors in a bound. The smallest of hundreds of ratios is selected: in simulations with 3 of them the error
#: of the estimate is up to three times that with 5 where classes are apart, and about the same where they overlap.
_STANDARD_ERRORS = 5.0


def best_bin_prior(
    s: npt.ArrayLike, scores: npt.ArrayLike, seed: Seed, confidence: float = 0.95
) -> PriorEstimate:
    """Estimate the share of positives among all rows from how labelled and unlabeled rows are ranked.

    Only the order of the scores counts. The estimate is right where the top of the ranking holds positives alone, and
    too high where it does not, by the share of negatives there.

    Args:
        s: which rows are labelled.
        scores: of the same rows, by models that were not trained on them.
        seed: of the interval, a bootstrap over labelled and unlabeled rows.
        confidence: of the interval.

    Raises:
        DataError: there is no labelled or no unlabeled row, or a score is not finite.
        ParameterError: `confidence` is not between 0 and 1.
    """
    labels, values = check_labels_and_scores(s, scores)
    bins = _Bins.of(labels, values)
    share = float(labels.mean())
    estimate = _smallest_ratio(bins.labelled[None], bins.unlabeled[None])[0]
    drawn = _smallest_ratio(*bins.redrawn(seed.child("bootstrap")))
    return interval(
        prior_in_all(float(estimate), share), share + (1 - share) * drawn, confidence, "best-bin", share
    )


@dataclass(frozen=True, eq=False)
class _Bins:
    """Rows counted between thresholds, from the highest scores down; the last bin holds the rows below all of them."""

    labelled: FloatVector
    unlabeled: FloatVector

    @classmethod
    def of(cls, s: BoolVector, scores: FloatVector) -> "_Bins":
        """Count rows between labelled scores, or quantiles of them where there are many."""
        known = np.unique(scores[s])
        if len(known) > _THRESHOLDS:
            known = np.unique(np.quantile(scores[s], np.linspace(0, 1, _THRESHOLDS), method="lower"))
        bin_of = len(known) - np.searchsorted(known, scores, "right")
        counted = [np.bincount(bin_of[rows], minlength=len(known) + 1) for rows in (s, ~s)]
        return cls(*(counts.astype(np.float64) for counts in counted))

    def redrawn(self, seed: Seed) -> tuple[FloatVector, FloatVector]:
        """Return the counts of resampled rows, of labelled and of unlabeled ones: shape (_DRAWS, n_bins) each."""
        generator = seed.generator()
        labelled, unlabeled = (
            generator.multinomial(int(counts.sum()), counts / counts.sum(), size=_DRAWS).astype(np.float64)
            for counts in (self.labelled, self.unlabeled)
        )
        return labelled, unlabeled


def _smallest_ratio(labelled: FloatVector, unlabeled: FloatVector) -> FloatVector:
    """Return, for each line of counts, the ratio of shares at the threshold where its upper bound is smallest."""
    positives, mixed = np.cumsum(labelled, axis=1)[:, :-1], np.cumsum(unlabeled, axis=1)[:, :-1]
    n_labelled, n_unlabeled = labelled.sum(axis=1)[:, None], unlabeled.sum(axis=1)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        recall = positives / n_labelled
        # One row more: that none was seen does not say that there is none.
        careful = (mixed + 1) / n_unlabeled / recall
        variance = 1 / positives - 1 / n_labelled + 1 / (mixed + 1) - 1 / (n_unlabeled + 1)
        spread = np.exp(_STANDARD_ERRORS * np.sqrt(np.maximum(variance, 0)))
        bound = np.where(positives > 0, careful * spread, np.inf)
        ratio = mixed / n_unlabeled / recall
    best = np.argmin(bound, axis=1)
    return np.asarray(np.minimum(ratio[np.arange(len(best)), best], 1.0))

"""Class priors and their estimates.

The share of positives has two definitions, and confusing them is a known error:

- among ALL rows, labelled ones included: pi, which `PriorEstimate.prior` is;
- among the UNLABELED rows alone: pi_U, which risks over U (nnPU, PU-AUC) need.

With a the labelled share of the rows, pi = a + (1 - a) pi_U. Labelled rows that were collected apart from the
unlabeled ones (case-control) change nothing in this: pi_U is then the population's share.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pubench.errors import DataError, ParameterError
from pubench.types import BoolVector, FloatVector, Scores, as_labels


@dataclass(frozen=True)
class PriorEstimate:
    """An estimated share of positives among all rows, labelled ones included.

    Attributes:
        prior: the estimate, in [labelled share, 1].
        low: the lower end of its interval.
        high: the upper end. The interval covers chance under SCAR, not the bias from overlapping classes: where no region
            holds positives alone, every estimator is too high.
        method: the name of the estimator.
    """

    prior: float
    low: float
    high: float
    method: str


def prior_in_unlabeled(prior: float, labelled_share: float) -> float:
    """Return the share of positives among unlabeled rows, (prior - a) / (1 - a), from that among all rows.

    Raises:
        ParameterError: a share is not between 0 and 1, the prior is below the labelled share, or every row is labelled.
    """
    _check_share("A labelled share", labelled_share)
    if labelled_share == 1:
        raise ParameterError("Every row is labelled; there is no share of positives among unlabeled rows.")
    _check_share("A prior", prior)
    if prior < labelled_share:
        raise ParameterError(
            f"A prior of {prior:g} is impossible: {labelled_share:g} of the rows are labelled positive already."
        )
    return (prior - labelled_share) / (1 - labelled_share)


def prior_in_all(prior_unlabeled: float, labelled_share: float) -> float:
    """Return the share of positives among all rows, a + (1 - a) pi_U, from that among unlabeled rows.

    Raises:
        ParameterError: a share is not between 0 and 1.
    """
    _check_share("A labelled share", labelled_share)
    _check_share("A prior", prior_unlabeled)
    return labelled_share + (1 - labelled_share) * prior_unlabeled


def check_labels_and_scores(s: npt.ArrayLike, scores: npt.ArrayLike) -> tuple[BoolVector, FloatVector]:
    """Return labels and scores of the same rows, some labelled and some not.

    Raises:
        DataError: they are something else.
    """
    labels, values = as_labels(s, "s"), Scores(np.asarray(scores)).values
    if len(labels) != len(values):
        raise DataError(f"s has {len(labels)} values for {len(values)} scores.")
    if labels.all() or not labels.any():
        raise DataError("An estimate of the prior needs labelled and unlabeled rows.")
    return labels, values


def interval(
    estimate: float, drawn: FloatVector, confidence: float, method: str, labelled_share: float
) -> PriorEstimate:
    """Return the estimate with the central `confidence` of the estimates that resampling gave.

    Raises:
        ParameterError: `confidence` is not between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise ParameterError(f"A confidence lies between 0 and 1, for instance 0.95; got {confidence:g}.")
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    low, prior, high = np.clip([min(low, estimate), estimate, max(high, estimate)], labelled_share, 1.0)
    return PriorEstimate(float(prior), float(low), float(high), method)


def _check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ParameterError(f"{name} lies between 0 and 1; got {value:g}.")

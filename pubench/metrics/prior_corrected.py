"""Where the share of positives enters: AUC from AUL and back, Theorem 1's bound, and metrics that need a prior.

The prior is unknown, so such a metric is always a band over several priors. A prior is given as one number, and the band is
computed from half and twice that number; or as three numbers (low, central, high).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from pubench.errors import DataError, ParameterError
from pubench.metrics.aul import curve_of
from pubench.metrics.ranks import Label, Placed, check_and_place
from pubench.types import Sampling

Prior: TypeAlias = float | tuple[float, float, float]


def auc_from_aul(aul: float, prior: float) -> float:
    """Return AUC = (AUL - prior/2) / (1 - prior), for a share `prior` of positives among all rows.

    From AUC - AUL = prior (AUC - 1/2) (the paper's section on AUL estimation). It is the plain formula: a result
    outside [0, 1] says that this AUL is impossible with this prior.

    Raises:
        ParameterError: `prior` is not in [0, 1).
    """
    _check_prior(prior)
    return (aul - prior / 2) / (1 - prior)


def aul_from_auc(auc: float, prior: float) -> float:
    """Return AUL = prior/2 + (1 - prior) AUC, the inverse of `auc_from_aul`.

    Raises:
        ParameterError: `prior` is not in [0, 1).
    """
    _check_prior(prior)
    return prior / 2 + (1 - prior) * auc


def sensitivity_bound(n: int, epsilon: float, prior: float, theta_o: float, gamma: float) -> float:
    """Return Theorem 1's bound on P(|true sensitivity - observed sensitivity| > epsilon) at one share p.

        4 exp(-2 n gamma^2) + 4 [1 - prior theta_o (1 - exp(-epsilon^2 / 18))]^n

    It is returned as it is. Above 1 it is vacuous: it then promises nothing. The second term needs
    n of about 18 ln(4) / (prior theta_o epsilon^2) rows to fall below 1. On a table like the paper's Bank1,
    prior theta_o = 0.0038 and n = 1,365,550:

    - epsilon = 0.05: 1.95, vacuous; below 1 from 2.63 million rows, below 0.05 from 8.30 million;
    - epsilon = 0.10: 0.22; below 1 from 0.66 million rows, below 0.05 from 2.08 million.

    So it shows that the error vanishes with n, and it is no error bar: for that see `aul_pu_interval`.

    Args:
        n: number of rows.
        epsilon: the difference in sensitivity, above 0.
        prior: theta_P, the share of positives, in (0, 1).
        theta_o: the share of positives that are labelled, in (0, 1].
        gamma: how fast the distribution of scores rises around the threshold, above 0; see Theorem 1.

    Raises:
        ParameterError: an argument is out of its range.
    """
    for name, value, high in (("prior", prior, 1.0), ("theta_o", theta_o, 1.0), ("gamma", gamma, 1.0)):
        if not 0 < value <= high:
            raise ParameterError(f"{name} must lie in (0, {high:g}]; got {value}.")
    if n < 1 or epsilon <= 0:
        raise ParameterError(f"n must be at least 1 and epsilon above 0; got {n} and {epsilon}.")
    miss = prior * theta_o * -math.expm1(-(epsilon**2) / 18)
    return 4 * math.exp(-2 * n * gamma**2) + 4 * math.exp(n * math.log1p(-miss))


def _check_prior(prior: float) -> None:
    if not 0 <= prior < 1:
        raise ParameterError(f"prior must lie in [0, 1); got {prior}.")


@dataclass(frozen=True)
class PriorBand:
    """A figure at three priors.

    Attributes:
        low: the smallest value over the three priors.
        central: the value at `prior`.
        high: the largest value over the three priors.
        prior_low: the smallest of the priors.
        prior: the prior that was given.
        prior_high: the largest of the priors.
    """

    low: float
    central: float
    high: float
    prior_low: float
    prior: float
    prior_high: float


def corrected_auc(
    s: npt.ArrayLike,
    scores: npt.ArrayLike,
    prior: Prior,
    *,
    sampling: Sampling,
    pos_label: Label | None = None,
) -> PriorBand:
    """Return the AUC of positives against negatives that the observed AUC and a prior imply, under SCAR.

    AUC = (AUC_PU - pi_U/2) / (1 - pi_U), with pi_U the share of positives among unlabeled rows. What `prior` means
    depends on how the table was collected, so pass it; confusing the two is a known error:

    - "single-training-set": one sample, some of whose positives were labelled. `prior` is the share of positives in
      the whole table, a of it labelled: pi_U = (prior - a) / (1 - a). A prior below a is impossible; the lower end
      of a band made from one number stops at a.
    - "case-control": labelled positives were collected apart from the unlabeled rows, which are the population.
      `prior` is the share of positives in that population: pi_U = prior.

    Values are cut to [0, 1]; an end at 1 says that this prior is too high for these scores.

    Raises:
        DataError: as `aul_pu_score`; or the prior is below the labelled share of a single training set.
        ParameterError: a prior or `sampling` is not one of those described.
    """
    if sampling not in get_args(Sampling):
        raise ParameterError(f"sampling must be 'single-training-set' or 'case-control'; got '{sampling}'.")
    placed = check_and_place(s, scores, pos_label)
    share = _labelled_share(placed)
    aul = placed.mean_placement
    if sampling == "single-training-set":
        return _band(_priors(prior, share), lambda pi: auc_from_aul(aul, pi))
    auc_pu = auc_from_aul(aul, share)
    return _band(_priors(prior), lambda pi: auc_from_aul(auc_pu, pi))


def recall_at(
    s: npt.ArrayLike, scores: npt.ArrayLike, share: float, *, pos_label: Label | None = None
) -> float:
    """Return the estimated recall when the best `share` of the rows is predicted positive; needs no prior.

    Under SCAR it is the sensitivity among labelled positives, read from the lift curve; ties at the threshold are
    taken in proportion.

    Raises:
        DataError: as `aul_pu_score`.
        ParameterError: `share` is not in (0, 1].
    """
    return _recall(check_and_place(s, scores, pos_label), share)


def lee_liu_score(
    s: npt.ArrayLike, scores: npt.ArrayLike, share: float, *, pos_label: Label | None = None
) -> float:
    """Return recall^2 / share, when the best `share` of the rows is predicted positive (Lee and Liu 2003).

    It is precision times recall over the prior, so it orders thresholds and models as that product does, and needs
    no prior. `share` for scores that know nothing; at most 1/share.

    Raises:
        DataError: as `aul_pu_score`.
        ParameterError: `share` is not in (0, 1].
    """
    return recall_at(s, scores, share, pos_label=pos_label) ** 2 / share


def precision_at(
    s: npt.ArrayLike, scores: npt.ArrayLike, share: float, prior: Prior, *, pos_label: Label | None = None
) -> PriorBand:
    """Return the estimated precision, prior recall / share, when the best `share` of the rows is predicted positive.

    For a single training set: `prior` is the share of positives in this table. Cut at 1: an end at 1 says that this
    prior is too high for these scores.

    Raises:
        DataError: as `aul_pu_score`; or the prior is below the labelled share.
        ParameterError: `share` is not in (0, 1], or a prior not in (0, 1).
    """
    placed = check_and_place(s, scores, pos_label)
    recall = _recall(placed, share)
    return _band(_priors(prior, _labelled_share(placed)), lambda pi: pi * recall / share)


class _Priors(NamedTuple):
    low: float
    central: float
    high: float


def _labelled_share(placed: Placed) -> float:
    return placed.n_labelled / len(placed.ordered)


def _recall(placed: Placed, share: float) -> float:
    if not 0 < share <= 1:
        raise ParameterError(f"share must lie in (0, 1]; got {share}.")
    curve = curve_of(placed)
    return float(np.interp(share, curve.share, curve.sensitivity))


def _priors(prior: Prior, labelled_share: float = 0.0) -> _Priors:
    if isinstance(prior, tuple):
        priors = _Priors(*prior)
    else:
        # Twice a prior above 1/2 is no share: go half of the way to 1 instead.
        low = max(prior / 2, min(prior, labelled_share))
        priors = _Priors(low, prior, min(2 * prior, (1 + prior) / 2))
    if not 0 < priors.low <= priors.central <= priors.high < 1:
        raise ParameterError(f"A prior lies between 0 and 1, three of them in ascending order; got {prior}.")
    if priors.low < labelled_share:
        raise DataError(
            f"A prior of {priors.low:g} is impossible: {labelled_share:g} of the rows are labelled positive already."
        )
    return priors


def _band(priors: _Priors, figure: Callable[[float], float]) -> PriorBand:
    values = [min(1.0, max(0.0, figure(prior))) for prior in priors]
    return PriorBand(min(values), values[1], max(values), *priors)

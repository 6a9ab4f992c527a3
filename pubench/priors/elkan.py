"""Elkan and Noto 2008: under SCAR P(s=1|x) = c P(y=1|x), and c = P(s=1|y=1) gives the number of positives."""

from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from pubench.errors import DataError, ParameterError
from pubench.priors.estimate import PriorEstimate, check_labels_and_scores, interval
from pubench.seeds import Seed

Estimator: TypeAlias = Literal["e1", "e2", "e3"]

_DRAWS = 400


def labelling_chance(s: npt.ArrayLike, g: npt.ArrayLike, estimator: Estimator = "e1") -> float:
    """Return c, the chance of a positive to be labelled, from out-of-fold scores g = P(s=1|x).

    - "e1": the mean of g over labelled rows. Exact where classes do not overlap, too low where they do.
    - "e2": the sum of g over labelled rows by the sum over all. As e1 where g is calibrated.
    - "e3": the largest g. Right where some row is surely positive; one row decides.

    Cut to [labelled share, 1], since there are neither fewer positives than labelled rows nor more than rows.

    Raises:
        DataError: `s` has no labelled or no unlabeled row, or `g` is not in [0, 1].
        ParameterError: there is no such estimator.
    """
    labels, scores = _probabilities(s, g)
    if estimator not in get_args(Estimator):
        known = ", ".join(get_args(Estimator))
        raise ParameterError(f"An estimator of Elkan and Noto is one of {known}; got '{estimator}'.")
    if estimator == "e1":
        c = scores[labels].mean()
    elif estimator == "e2":
        c = scores[labels].sum() / max(scores.sum(), np.finfo(np.float64).tiny)
    else:
        c = scores.max()
    return float(np.clip(c, labels.mean(), 1.0))


def elkan_prior(s: npt.ArrayLike, g: npt.ArrayLike, seed: Seed, confidence: float = 0.95) -> PriorEstimate:
    """Estimate the share of positives among all rows as labelled share / c, with c by e1.

    Args:
        s: which rows are labelled.
        g: P(s=1|x) of the same rows, by models that were not trained on them.
        seed: of the interval, a bootstrap over labelled rows.
        confidence: of the interval.

    Raises:
        DataError: as `labelling_chance`.
        ParameterError: `confidence` is not between 0 and 1.
    """
    labels, scores = _probabilities(s, g)
    share, known = float(labels.mean()), scores[labels]
    # Exponential weights are the Bayesian bootstrap; it needs no table of drawn rows.
    generator = seed.child("bootstrap").generator()
    drawn = np.array(
        [np.average(known, weights=generator.exponential(size=len(known))) for _ in range(_DRAWS)]
    )
    chance = labelling_chance(labels, scores)
    return interval(share / chance, share / np.clip(drawn, share, 1.0), confidence, "elkan", share)


def _probabilities(
    s: npt.ArrayLike, g: npt.ArrayLike
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    labels, scores = check_labels_and_scores(s, g)
    if scores.min() < 0 or scores.max() > 1:
        raise DataError("g is a chance to be labelled and lies in [0, 1]; found a value outside.")
    return labels, scores

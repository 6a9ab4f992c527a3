"""The intercept at which a model expects as many positives as there are."""

import numpy as np

from pubench import FloatVector


def intercept(raw: FloatVector, positive: FloatVector, weight: FloatVector | None) -> float:
    """Return what to add to the logarithms of odds `raw` so that the expected number of positives is the observed one.

    Boosters that do not start from the average, or give classes other weights, order rows well but predict another share.
    Newton's method on the intercept of a logistic regression, whose only feature, `raw`, has the coefficient 1.

    Args:
        raw: shape (n_rows,): the logarithms of odds that a model predicts for its training rows.
        positive: shape (n_rows,): their tags, shares of 0 to 1, neither all 0 nor all 1.
        weight: shape (n_rows,): their weights; None: all 1.
    """
    from scipy.special import expit, logit  # noqa: PLC0415 - heavy imports happen when used

    weight = np.ones(len(raw)) if weight is None else weight
    share = float(np.average(positive, weights=weight))
    shift = float(logit(share)) - float(np.average(raw, weights=weight))
    for _ in range(20):
        expected = expit(raw + shift)
        excess = float(np.average(expected, weights=weight)) - share
        step = excess / float(np.average(expected * (1 - expected), weights=weight))
        shift -= min(1.0, max(-1.0, step))
        if abs(step) < 1e-6:
            break
    return shift

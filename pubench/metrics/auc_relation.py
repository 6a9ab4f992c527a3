"""Results of the paper: the relation of AUL and AUC, and Theorem 1's bound."""

import math

from pubench.errors import ParameterError


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

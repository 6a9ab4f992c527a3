"""The paper's identities and Theorem 1."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubench.errors import ParameterError
from pubench.metrics.auc_relation import auc_from_aul, aul_from_auc, sensitivity_bound
from pubench.metrics.supervised import auc

BANK1_ROWS = 1_365_550
BANK1_LABELLED = 0.0038  # prior * theta_o


@given(st.floats(0, 1), st.floats(0, 0.9))
def test_auc_and_aul_are_each_others_inverse(area: float, prior: float) -> None:
    assert auc_from_aul(aul_from_auc(area, prior), prior) == pytest.approx(area, abs=1e-12)


def test_the_paper_s_identity() -> None:
    assert 0.8 - aul_from_auc(0.8, 0.1) == pytest.approx(0.1 * (0.8 - 0.5))


@pytest.mark.parametrize("prior", [-0.1, 1.0, math.nan])
def test_a_prior_that_is_no_share_is_refused(prior: float) -> None:
    with pytest.raises(ParameterError, match=r"prior must lie in \[0, 1\)"):
        auc_from_aul(0.8, prior)


def bound(n: int, epsilon: float) -> float:
    return sensitivity_bound(n, epsilon, prior=0.0076, theta_o=0.5, gamma=0.02)


def test_the_bound_is_theorem_1() -> None:
    expected = 4 * math.exp(-2 * 1000 * 0.1**2) + 4 * (1 - 0.2 * 0.5 * (1 - math.exp(-(0.5**2) / 18))) ** 1000
    assert sensitivity_bound(1000, 0.5, 0.2, 0.5, 0.1) == pytest.approx(expected, rel=1e-12)


def test_the_bound_is_vacuous_at_the_size_of_bank1() -> None:
    assert bound(BANK1_ROWS, 0.05) == pytest.approx(1.95, abs=0.005)
    assert bound(BANK1_ROWS, 0.10) == pytest.approx(0.22, abs=0.005)


@pytest.mark.parametrize(
    ("epsilon", "level", "millions"),
    [(0.05, 1, 2.63), (0.05, 0.05, 8.30), (0.10, 1, 0.66), (0.10, 0.05, 2.08)],
)
def test_the_rows_the_docstring_says_are_needed(epsilon: float, level: float, millions: float) -> None:
    assert bound(int((millions - 0.01) * 1e6), epsilon) > level
    assert bound(int((millions + 0.01) * 1e6), epsilon) < level


@pytest.mark.parametrize(
    ("argument", "value"),
    [("n", 0), ("epsilon", 0), ("prior", 0), ("prior", 2), ("theta_o", 0), ("gamma", 0)],
)
def test_arguments_out_of_range_are_refused(argument: str, value: float) -> None:
    good: dict[str, float] = {"n": 10, "epsilon": 0.1, "prior": 0.1, "theta_o": 0.5, "gamma": 0.1}
    with pytest.raises(ParameterError, match=argument):
        sensitivity_bound(**{**good, argument: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(("rows", "positives"), [(1738, 4), (1738, 20), (1738, 39), (999, 7)])
def test_a_perfect_order_has_an_auc_of_one_and_its_reverse_of_zero(rows: int, positives: int) -> None:
    y = np.arange(rows) >= rows - positives
    for scores, expected in ((np.arange(rows), 1.0), (-np.arange(rows), 0.0)):
        assert auc(y, scores) == pytest.approx(expected)
        assert 0.0 <= auc(y, scores) <= 1.0

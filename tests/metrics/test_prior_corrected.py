"""The paper's identities and Theorem 1; what needs a prior comes as bands, and the two kinds of sampling are not mixed up."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubench.errors import DataError, ParameterError
from pubench.metrics.prior_corrected import (
    auc_from_aul,
    aul_from_auc,
    corrected_auc,
    lee_liu_score,
    precision_at,
    recall_at,
    sensitivity_bound,
)
from pubench.metrics.supervised import auc
from pubench.types import BoolVector, FloatVector

BANK1_ROWS = 1_365_550
BANK1_LABELLED = 0.0038  # prior * theta_o
PRIOR = 0.2


@given(st.floats(0, 1), st.floats(0, 0.9))
def test_auc_and_aul_are_each_others_inverse(area: float, prior: float) -> None:
    assert auc_from_aul(aul_from_auc(area, prior), prior) == pytest.approx(area, abs=1e-12)


def test_the_paper_s_identity() -> None:
    assert 0.8 - aul_from_auc(0.8, 0.1) == pytest.approx(0.1 * (0.8 - 0.5))


@pytest.mark.parametrize("prior", [-0.1, 1.0, math.nan])
def test_a_prior_that_is_no_share_gives_no_auc(prior: float) -> None:
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


def scored(generator: np.random.Generator, y: BoolVector) -> FloatVector:
    return np.asarray(generator.standard_normal(len(y)) + 1.5 * y)


@pytest.fixture(scope="module")
def single_training_set() -> tuple[BoolVector, BoolVector, FloatVector]:
    generator = np.random.default_rng(0)
    y = generator.random(60_000) < PRIOR
    return y, y & (generator.random(len(y)) < 0.5), scored(generator, y)


@pytest.fixture(scope="module")
def case_control() -> tuple[BoolVector, BoolVector, FloatVector]:
    generator = np.random.default_rng(1)
    y = np.append(np.ones(6000, dtype=np.bool_), generator.random(54_000) < PRIOR)
    return y, np.arange(len(y)) < 6000, scored(generator, y)


@pytest.mark.parametrize("sampling", ["single-training-set", "case-control"])
def test_the_corrected_auc_is_the_true_one(sampling: Any, request: pytest.FixtureRequest) -> None:
    y, s, scores = request.getfixturevalue(sampling.replace("-", "_"))
    band = corrected_auc(s, scores, PRIOR, sampling=sampling)
    assert band.central == pytest.approx(auc(y, scores), abs=0.006)
    assert band.low < band.central < band.high
    assert (band.prior_low, band.prior, band.prior_high) == pytest.approx((s.mean(), 0.2, 0.4), rel=0.02)


def test_the_wrong_sampling_gives_a_wrong_auc(
    single_training_set: tuple[BoolVector, BoolVector, FloatVector],
) -> None:
    y, s, scores = single_training_set
    wrong = corrected_auc(s, scores, PRIOR, sampling="case-control").central
    assert wrong - auc(y, scores) > 0.03


def test_sampling_has_to_be_told() -> None:
    with pytest.raises(TypeError, match="sampling"):
        corrected_auc([0, 1], [1, 2], 0.5)  # type: ignore[call-arg]
    with pytest.raises(ParameterError, match="sampling must be"):
        corrected_auc([0, 1], [1, 2], 0.5, sampling="both")  # type: ignore[arg-type]


def test_a_prior_below_the_labelled_share_is_impossible_in_a_single_training_set() -> None:
    s, scores = np.arange(10) < 3, np.arange(10)
    for prior in (0.2, (0.2, 0.4, 0.6)):
        with pytest.raises(DataError, match=r"A prior of 0\.2 is impossible: 0\.3 of the rows"):
            precision_at(s, scores, 0.5, prior)
    with pytest.raises(DataError, match="impossible"):
        corrected_auc(s, scores, 0.1, sampling="single-training-set")
    assert corrected_auc(s, scores, 0.1, sampling="case-control").prior == 0.1
    assert precision_at(s, scores, 0.5, 0.3).prior_low == 0.3


def test_a_prior_may_be_three_numbers() -> None:
    band = corrected_auc([0, 0, 1], [1, 3, 2], (0.1, 0.2, 0.5), sampling="case-control")
    assert (band.prior_low, band.prior, band.prior_high) == (0.1, 0.2, 0.5)
    assert band.low == band.central == band.high == 0.5


def test_values_are_cut_to_what_is_possible() -> None:
    s, scores = np.arange(100) < 5, -np.arange(100)
    assert corrected_auc(s, scores, 0.5, sampling="case-control").high == 1
    assert precision_at(s, scores, 0.05, 0.4).central == 1


@pytest.mark.parametrize("prior", [0.0, 1.0, -0.1, float("nan"), (0.3, 0.2, 0.4), (0.1, 0.2, 1.0)])
def test_a_prior_that_is_no_share_is_refused(prior: Any) -> None:
    with pytest.raises(ParameterError, match="prior lies between 0 and 1"):
        corrected_auc([0, 0, 1], [1, 2, 3], prior, sampling="case-control")


def test_a_band_near_1_stays_below_it() -> None:
    assert corrected_auc([0, 0, 1], [1, 2, 3], 0.8, sampling="case-control").prior_high == pytest.approx(0.9)


def test_precision_and_recall_are_those_of_the_truth(
    single_training_set: tuple[BoolVector, BoolVector, FloatVector],
) -> None:
    y, s, scores = single_training_set
    predicted = scores >= np.quantile(scores, 0.9)
    assert recall_at(s, scores, 0.1) == pytest.approx(predicted[y].mean(), abs=0.015)
    precision = precision_at(s, scores, 0.1, PRIOR)
    assert precision.central == pytest.approx(y[predicted].mean(), abs=0.03)
    assert precision.low < precision.central <= precision.high


def test_recall_and_lee_liu_by_hand() -> None:
    s, scores = [1, 0, 1, 0], [4, 3, 2, 1]
    assert recall_at(s, scores, 0.25) == 0.5
    assert recall_at(s, scores, 0.5) == 0.5
    assert recall_at(s, scores, 1.0) == 1
    assert lee_liu_score(s, scores, 0.25) == 0.5**2 / 0.25
    assert lee_liu_score(s, np.zeros(4), 0.25) == pytest.approx(0.25)
    assert recall_at(np.where(s, "a", "b"), scores, 0.25, pos_label="a") == 0.5


@pytest.mark.parametrize("share", [0, 1.1, -1])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(ParameterError, match="share must lie in"):
        recall_at([0, 1], [1, 2], share)

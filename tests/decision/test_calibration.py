"""Probabilities rise with the score, sum to the hidden positives, are right where truth is known, and survive being saved."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pubench.decision.calibration import Calibration, reliability
from pubench.decision.hidden_positives import HiddenPositives
from pubench.errors import DataError
from pubench.types import BoolVector, FloatVector


def exactly(number: float) -> HiddenPositives:
    return HiddenPositives(number, number, number, "known")


def population(seed: int = 0, rows: int = 40_000) -> tuple[BoolVector, BoolVector, FloatVector]:
    generator = np.random.default_rng(seed)
    y = generator.random(rows) < 0.05
    return y, y & (generator.random(rows) < 0.5), generator.standard_normal(rows) + 1.5 * y


@given(
    arrays(np.float64, 40, elements=st.integers(0, 12).map(float)),
    st.integers(1, 39),
    st.floats(0.01, 1),
)
def test_probabilities_rise_with_the_score_and_are_never_certain(
    scores: FloatVector, n_labelled: int, prior: float
) -> None:
    s = np.arange(40) < n_labelled
    calibration = Calibration.of(s, scores)
    assert (np.diff(np.diff(calibration.recall) / np.diff(calibration.depth)) <= 1e-9).all()
    found = calibration.probabilities(np.sort(scores), exactly(prior * (40 - n_labelled)))
    assert (np.diff(found) >= -1e-12).all()
    assert 0 <= found.min() <= found.max() < 1


@pytest.mark.parametrize("share", [0.5, 1.0, 3.0])
def test_they_sum_to_the_hidden_positives(share: float) -> None:
    y, s, scores = population()
    hidden = exactly(share * (y & ~s).sum())
    found = Calibration.of(s, scores).probabilities(scores[~s], hidden)
    assert found.sum() == pytest.approx(hidden.estimate, rel=0.01)


def test_more_than_the_ranking_allows_fills_the_best_rows_first() -> None:
    _, s, scores = population()
    found = Calibration.of(s, scores).probabilities(scores[~s], exactly(0.5 * (~s).sum()))
    assert found.sum() == pytest.approx(0.5 * (~s).sum(), rel=0.01)
    assert np.mean(found > 0.99) > 0.1


def test_they_are_right_where_truth_is_known() -> None:
    y, s, scores = population()
    fresh, fresh_s, fresh_scores = population(seed=1)
    calibration = Calibration.of(s, scores)
    found = calibration.probabilities(fresh_scores[~fresh_s], exactly((y & ~s).sum()))
    true = fresh[~fresh_s]
    for part in np.array_split(np.argsort(found), 10):
        assert found[part].mean() == pytest.approx(true[part].mean(), abs=0.02)


def test_scores_of_another_scale_are_carried_over_by_rank() -> None:
    _, s, scores = population()
    one, other = Calibration.of(s, scores), Calibration.of(s, np.exp(scores))
    found, again = (
        calibration.probabilities(values, exactly(900))
        for calibration, values in ((one, scores), (other, np.exp(scores)))
    )
    # Between two quantiles a rank is interpolated, so that a few rows beside a vertex may be on the other side.
    assert np.mean(np.isclose(found, again)) > 0.999


def test_the_share_is_that_of_unlabeled_rows_below() -> None:
    _, s, scores = population()
    calibration = Calibration.of(s, scores)
    asked = np.array([-9.0, np.median(scores[~s]), np.quantile(scores[~s], 0.999), 9.0])
    np.testing.assert_allclose(calibration.shares(asked), [0, 0.5, 0.999, 1], atol=1e-3)


def test_reliability_compares_predicted_with_observed_by_labelled_positives() -> None:
    y, s, scores = population()
    _, fresh_s, fresh_scores = population(seed=1)
    found = reliability(Calibration.of(s, scores), fresh_s, fresh_scores, exactly((y & ~s).sum()))
    assert len(found) == 10
    assert sum(one.rows for one in found) == pytest.approx((~fresh_s).sum(), abs=10)
    assert np.mean([one.observed.low <= one.predicted <= one.observed.high for one in found]) >= 0.8
    doubled = reliability(Calibration.of(s, scores), fresh_s, fresh_scores**3, exactly((y & ~s).sum()))
    assert doubled == found


def test_it_is_saved_as_json() -> None:
    _, s, scores = population()
    calibration = Calibration.of(s, scores)
    document = json.loads(json.dumps(calibration.to_json()))
    again = Calibration.from_json(document)
    np.testing.assert_array_equal(
        again.probabilities(scores, exactly(900)), calibration.probabilities(scores, exactly(900))
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("depth", [0, 0.5, 0.4, 1]),
        ("recall", [0, 1]),
        ("recall", "high"),
        ("quantiles", [0, 1]),
        ("labelled", 0),
        ("unlabeled", None),
    ],
)
def test_anything_else_is_refused(name: str, value: object) -> None:
    _, s, scores = population(rows=2000)
    document = json.loads(json.dumps(Calibration.of(s, scores).to_json())) | {name: value}
    with pytest.raises(DataError):
        Calibration.from_json(document)


def test_a_convex_curve_is_refused() -> None:
    _, s, scores = population(rows=2000)
    document = Calibration.of(s, scores).to_json() | {"depth": [0, 0.5, 1], "recall": [0, 0.1, 1]}
    with pytest.raises(DataError, match="concave"):
        Calibration.from_json(document)

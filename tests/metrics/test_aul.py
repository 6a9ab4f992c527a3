"""AUL_PU, AUL, AUC and the lift curve: identities that hold exactly, on small tables full of ties."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from pubench.errors import DataError
from pubench.metrics.aul import aul_from_auc_pu, aul_pu_score, lift_curve
from pubench.metrics.supervised import auc, aul_pn_score
from pubench.types import BoolVector, FloatVector, IndexVector

EXACT = 1e-12


@st.composite
def tables(draw: st.DrawFn) -> tuple[BoolVector, FloatVector]:
    """Labels with both kinds, and scores from few or many values: ties are common."""
    labels = draw(
        st.lists(st.booleans(), min_size=2, max_size=40).filter(lambda row: 0 < sum(row) < len(row))
    )
    value = st.integers(0, draw(st.sampled_from([1, 3, 1000]))).map(float)
    scores = draw(st.lists(value, min_size=len(labels), max_size=len(labels)))
    return np.array(labels), np.array(scores)


@st.composite
def weighted_tables(draw: st.DrawFn) -> tuple[BoolVector, FloatVector, IndexVector]:
    labels, scores = draw(tables())
    weights = np.array(draw(st.lists(st.integers(0, 4), min_size=len(labels), max_size=len(labels))))
    weights[np.flatnonzero(labels)[0]] += 1
    weights[np.flatnonzero(~labels)[0]] += 1
    return labels, scores, weights


def wins(winners: FloatVector, losers: FloatVector) -> float:
    """P(winner above loser, ties half) by comparing every pair."""
    gaps = winners[:, np.newaxis] - losers
    return float(np.mean((gaps > 0) + (gaps == 0) / 2))


@given(tables())
def test_aul_pu_is_the_chance_to_score_above_a_random_row(table: tuple[BoolVector, FloatVector]) -> None:
    s, scores = table
    assert aul_pu_score(s, scores) == pytest.approx(wins(scores[s], scores), abs=EXACT)


@given(tables())
def test_auc_agrees_with_its_definition_and_scikit_learn(table: tuple[BoolVector, FloatVector]) -> None:
    y, scores = table
    assert auc(y, scores) == pytest.approx(wins(scores[y], scores[~y]), abs=EXACT)
    assert auc(y, scores) == pytest.approx(roc_auc_score(y, scores), abs=EXACT)


@given(weighted_tables())
def test_weighted_auc_agrees_with_scikit_learn(table: tuple[BoolVector, FloatVector, IndexVector]) -> None:
    y, scores, weights = table
    expected = roc_auc_score(y, scores, sample_weight=weights)
    assert auc(y, scores, sample_weight=weights) == pytest.approx(expected, abs=EXACT)


@given(tables())
def test_auc_minus_aul_is_prior_times_auc_minus_a_half(table: tuple[BoolVector, FloatVector]) -> None:
    y, scores = table
    area = auc(y, scores)
    assert area - aul_pn_score(y, scores) == pytest.approx(y.mean() * (area - 0.5), abs=EXACT)


@given(tables())
def test_aul_pu_is_affine_in_auc_of_labelled_against_unlabeled(table: tuple[BoolVector, FloatVector]) -> None:
    s, scores = table
    a = s.mean()
    assert aul_pu_score(s, scores) == pytest.approx(a / 2 + (1 - a) * roc_auc_score(s, scores), abs=EXACT)


@given(tables(), st.sampled_from([np.exp, np.arctan, lambda x: 3 * x - 7, lambda x: x**3]))
def test_only_the_order_of_scores_counts(table: tuple[BoolVector, FloatVector], transform: np.ufunc) -> None:
    s, scores = table
    rescaled = scores / 100
    assert aul_pu_score(s, transform(rescaled)) == aul_pu_score(s, rescaled)


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_count(table: tuple[BoolVector, FloatVector], random: Random) -> None:
    s, scores = table
    rows = list(range(len(s)))
    random.shuffle(rows)
    assert aul_pu_score(s[rows], scores[rows]) == aul_pu_score(s, scores)


@given(tables())
def test_reversed_scores_give_the_complement(table: tuple[BoolVector, FloatVector]) -> None:
    s, scores = table
    assert aul_pu_score(s, -scores) == pytest.approx(1 - aul_pu_score(s, scores), abs=EXACT)


@given(weighted_tables())
def test_a_weight_is_a_number_of_equal_rows(table: tuple[BoolVector, FloatVector, IndexVector]) -> None:
    s, scores, weights = table
    repeated = np.repeat(s, weights), np.repeat(scores, weights)
    assert aul_pu_score(s, scores, sample_weight=weights) == pytest.approx(aul_pu_score(*repeated), abs=EXACT)
    curve, expected = lift_curve(s, scores, sample_weight=weights), lift_curve(*repeated)
    at = np.linspace(0, 1, 23)
    np.testing.assert_allclose(
        np.interp(at, curve.share, curve.sensitivity),
        np.interp(at, expected.share, expected.sensitivity),
        atol=EXACT,
    )


@given(tables())
def test_the_area_under_the_lift_curve_is_aul_pu(table: tuple[BoolVector, FloatVector]) -> None:
    s, scores = table
    curve = lift_curve(s, scores)
    assert np.trapezoid(curve.sensitivity, curve.share) == pytest.approx(aul_pu_score(s, scores), abs=EXACT)


@given(tables())
def test_a_lift_curve_climbs_from_nothing_to_everything(table: tuple[BoolVector, FloatVector]) -> None:
    s, scores = table
    share, sensitivity, thresholds = lift_curve(s, scores)
    assert (share[0], sensitivity[0], thresholds[0]) == (0, 0, np.inf)
    assert (share[-1], sensitivity[-1]) == (1, 1)
    assert np.all(np.diff(share) > 0)
    assert np.all(np.diff(sensitivity) >= 0)
    assert np.all(np.diff(thresholds) < 0)
    assert len(share) <= 2 * s.sum() + 2


@given(tables())
def test_thresholds_give_share_and_sensitivity(table: tuple[BoolVector, FloatVector]) -> None:
    s, scores = table
    for share, sensitivity, threshold in zip(*lift_curve(s, scores), strict=True):
        assert share == pytest.approx(np.mean(scores >= threshold), abs=EXACT)
        assert sensitivity == pytest.approx(np.mean(scores[s] >= threshold), abs=EXACT)


def test_scores_that_know_nothing_and_everything() -> None:
    s = np.array([1, 0, 0, 0])
    assert aul_pu_score(s, np.zeros(4)) == 0.5
    assert aul_pu_score(s, [3, 2, 1, 0]) == 1 - 0.25 / 2
    assert aul_pu_score(s, [0, 1, 2, 3]) == 0.25 / 2


def test_under_scar_aul_pu_is_centred_on_aul() -> None:
    generator = np.random.default_rng(5)
    y = generator.random(20_000) < 0.05
    scores = generator.standard_normal(len(y)) + 1.5 * y
    drawn = [
        aul_pu_score(y & (generator.random(len(y)) < 0.3), scores) - aul_pn_score(y, scores)
        for _ in range(200)
    ]
    assert abs(np.mean(drawn)) < 3 * np.std(drawn) / np.sqrt(len(drawn))


def test_truth_based_measures_name_their_own_labels() -> None:
    for measure in (auc, aul_pn_score):
        with pytest.raises(DataError, match="No row of y is labelled positive"):
            measure([0, 0], [1.0, 2.0])


def test_aul_from_auc_pu_is_exact_with_ties() -> None:
    generator = np.random.default_rng(3)
    s, scores = generator.random(200) < 0.2, generator.integers(0, 20, 200)
    labelled, unlabeled = scores[s], scores[~s]
    wins = (labelled[:, None] > unlabeled).mean() + (labelled[:, None] == unlabeled).mean() / 2
    assert aul_from_auc_pu(float(wins), float(s.mean())) == pytest.approx(aul_pu_score(s, scores), abs=1e-14)

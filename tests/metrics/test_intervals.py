"""Intervals and comparisons: their formulas, their edges, and small simulations that an SE off by 15% would fail."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, ttest_rel

from pubench.errors import DataError, ParameterError
from pubench.metrics.aul import aul_pu_score, lift_curve
from pubench.metrics.comparison import compare_aul, compare_models, holm, paired_mean, variance_of_mean
from pubench.metrics.intervals import AULInterval, aul_pu_interval, sensitivity_band
from pubench.types import BoolVector, FloatVector

REPETITIONS = 1500
PRIOR, AUC = 0.06, 0.86
TRUTH = PRIOR / 2 + (1 - PRIOR) * AUC


def simulate(
    generator: np.random.Generator, labelled: int, n: int = 4000
) -> tuple[BoolVector, FloatVector, FloatVector]:
    """A SCAR table and two equally good, correlated models of true AUC .86."""
    y = generator.random(n) < PRIOR
    s = np.zeros(n, dtype=np.bool_)
    s[generator.choice(np.flatnonzero(y), labelled, replace=False)] = True
    first, second = generator.standard_normal((2, n))
    shift = np.sqrt(2) * norm.ppf(AUC) * y
    return s, shift + first, shift + 0.8 * first + 0.6 * second


def simulated_intervals(**options: Any) -> list[AULInterval]:
    generator = np.random.default_rng(11)
    repetitions = options.pop("repetitions")
    tables = (simulate(generator, labelled=100) for _ in range(repetitions))
    return [aul_pu_interval(s, scores, **options) for s, scores, _ in tables]


# The Monte-Carlo standard error of a 95% share is 0.56 points at 1500 repetitions: bounds are 3 of them away. With
# standard errors 15% too small coverage would be 90.4% and type-I error 9.6%; 15% too large, 97.6% and 2.4%.


def test_the_95_percent_interval_holds_the_truth_95_percent_of_the_time() -> None:
    intervals = simulated_intervals(repetitions=REPETITIONS)
    held = np.mean([interval.low <= TRUTH <= interval.high for interval in intervals])
    assert 0.933 < held < 0.967


def test_the_standard_error_is_the_spread_of_the_estimates() -> None:
    intervals = simulated_intervals(repetitions=REPETITIONS)
    spread = np.std([interval.estimate for interval in intervals])
    assert np.mean([interval.stderr for interval in intervals]) == pytest.approx(spread, rel=0.07)


def test_the_bootstrap_holds_the_truth_as_often() -> None:
    intervals = simulated_intervals(repetitions=400, method="bootstrap", n_resamples=300)
    held = np.mean([interval.low <= TRUTH <= interval.high for interval in intervals])
    assert 0.915 < held < 0.98


def test_equally_good_models_differ_significantly_5_percent_of_the_time() -> None:
    generator = np.random.default_rng(12)
    comparisons = [compare_aul(*simulate(generator, labelled=60)) for _ in range(REPETITIONS)]
    assert 0.033 < np.mean([comparison.p_value < 0.05 for comparison in comparisons]) < 0.067
    held = np.mean([comparison.low <= 0 <= comparison.high for comparison in comparisons])
    assert held == np.mean([comparison.p_value >= 0.05 for comparison in comparisons])


@st.composite
def tied_tables(draw: st.DrawFn) -> tuple[BoolVector, FloatVector, FloatVector]:
    labels = draw(
        st.lists(st.booleans(), min_size=4, max_size=30).filter(lambda row: 2 <= sum(row) < len(row))
    )
    scores = st.lists(st.integers(0, 6), min_size=len(labels), max_size=len(labels))
    return np.array(labels), np.array(draw(scores), dtype=float), np.array(draw(scores), dtype=float)


def pairwise_wins(s: BoolVector, scores: FloatVector) -> FloatVector:
    gaps = scores[s][:, np.newaxis] - scores[~s]
    return np.asarray((gaps > 0) + (gaps == 0) / 2)


@given(tied_tables())
def test_the_standard_error_follows_delong_with_one_placement_more(
    table: tuple[BoolVector, FloatVector, FloatVector],
) -> None:
    s, scores, _ = table
    wins = pairwise_wins(s, scores)
    m, n_unlabeled = wins.shape
    placements = np.append(wins.mean(axis=1), 0.5)
    variance = placements.var(ddof=1) / m + wins.mean(axis=0).var() / n_unlabeled
    expected = (1 - s.mean()) * np.sqrt(variance)
    assert aul_pu_interval(s, scores).stderr == pytest.approx(expected, abs=1e-12)


@given(tied_tables())
def test_a_comparison_follows_delong_with_one_difference_more(
    table: tuple[BoolVector, FloatVector, FloatVector],
) -> None:
    s, a, b = table
    gaps = pairwise_wins(s, a) - pairwise_wins(s, b)
    m, n_unlabeled = gaps.shape
    variance = np.append(gaps.mean(axis=1), 0).var(ddof=1) / m + gaps.mean(axis=0).var() / n_unlabeled
    comparison = compare_aul(s, a, b)
    assert comparison.difference == pytest.approx(aul_pu_score(s, a) - aul_pu_score(s, b), abs=1e-12)
    assert comparison.stderr == pytest.approx((1 - s.mean()) * np.sqrt(variance), abs=1e-12)


@given(tied_tables(), st.floats(0.5, 0.999), st.sampled_from(["placement", "bootstrap"]))
def test_an_interval_stays_in_0_1_and_holds_its_estimate(
    table: tuple[BoolVector, FloatVector, FloatVector], confidence: float, method: Any
) -> None:
    s, scores, _ = table
    interval = aul_pu_interval(s, scores, confidence, method=method, n_resamples=50)
    assert 0 <= interval.low <= interval.estimate <= interval.high <= 1
    assert interval.estimate == aul_pu_score(s, scores)
    assert np.isfinite(interval.stderr)


@given(tied_tables())
def test_a_comparison_turns_around_with_its_models(
    table: tuple[BoolVector, FloatVector, FloatVector],
) -> None:
    s, a, b = table
    there, back = compare_aul(s, a, b), compare_aul(s, b, a)
    assert (there.difference, there.low, there.high) == pytest.approx(
        (-back.difference, -back.high, -back.low)
    )
    assert there.p_value == pytest.approx(back.p_value)
    assert -1 <= there.low <= there.difference <= there.high <= 1


def test_scores_that_rank_alike_do_not_differ() -> None:
    s, scores, _ = simulate(np.random.default_rng(0), labelled=50)
    comparison = compare_aul(s, scores, np.exp(scores))
    assert (comparison.difference, comparison.low, comparison.high, comparison.p_value) == (0, 0, 0, 1)


def test_a_clear_winner_is_told() -> None:
    generator = np.random.default_rng(1)
    s, scores, _ = simulate(generator, labelled=100)
    comparison = compare_aul(s, scores, scores + 3 * generator.standard_normal(len(s)))
    assert comparison.p_value < 0.001
    assert 0 < comparison.low < comparison.difference < comparison.high
    assert comparison.note == ""


def test_with_many_unlabeled_rows_a_comparison_is_nearly_a_paired_t_test() -> None:
    s, a, b = simulate(np.random.default_rng(2), labelled=150, n=40_000)
    placements = [pairwise_wins(s, scores).mean(axis=1) for scores in (a, b)]
    assert compare_aul(s, a, b).p_value == pytest.approx(ttest_rel(*placements).pvalue, rel=0.05)


def test_perfect_and_perfectly_wrong_scores_have_an_interval() -> None:
    s = np.arange(1000) >= 970
    best, worst = aul_pu_interval(s, np.arange(1000)), aul_pu_interval(s, -np.arange(1000))
    assert best.estimate == best.high == 1 - 0.03 / 2
    assert 0.8 < best.low < best.estimate
    assert (worst.low, worst.high) == pytest.approx((1 - best.high, 1 - best.low))
    assert compare_aul(s, np.arange(1000), -np.arange(1000)).p_value < 0.001


def test_two_labelled_positives_prove_nothing() -> None:
    s = np.arange(100) >= 98
    comparison = compare_aul(s, np.arange(100), -np.arange(100))
    assert comparison.difference == pytest.approx(0.98)
    assert comparison.p_value > 0.05


@pytest.mark.parametrize("method", ["placement", "bootstrap"])
def test_one_labelled_positive_gives_every_possible_value(method: Any) -> None:
    s = np.arange(10) == 7
    interval = aul_pu_interval(s, np.arange(10), method=method)
    assert (interval.low, interval.high) == pytest.approx((0.05, 0.95))
    assert "One labelled positive" in interval.note
    comparison = compare_aul(s, np.arange(10), -np.arange(10))
    assert (comparison.low, comparison.high, comparison.p_value) == (-1, 1, 1)
    assert np.isfinite(comparison.stderr)


@pytest.mark.parametrize("method", ["placement", "bootstrap"])
def test_constant_scores_are_chance(method: Any) -> None:
    interval = aul_pu_interval(np.arange(100) < 30, np.zeros(100), method=method)
    assert (interval.low, interval.estimate, interval.high) == (0.5, 0.5, 0.5)


def test_few_labelled_positives_are_said_in_a_sentence() -> None:
    s, scores, other = simulate(np.random.default_rng(3), labelled=19)
    assert "Only 19 labelled positives" in aul_pu_interval(s, scores).note
    assert "Only 19 labelled positives" in compare_aul(s, scores, other).note
    s, scores, other = simulate(np.random.default_rng(3), labelled=20)
    assert aul_pu_interval(s, scores).note == compare_aul(s, scores, other).note == ""


def test_the_bootstrap_depends_on_its_seed_alone_and_agrees_with_placements() -> None:
    s, scores, _ = simulate(np.random.default_rng(4), labelled=200)
    placement = aul_pu_interval(s, scores)
    first, again = (aul_pu_interval(s, scores, method="bootstrap", random_state=1) for _ in range(2))
    assert first == again
    assert first != aul_pu_interval(s, scores, method="bootstrap", random_state=2)
    assert (first.low, first.high) == pytest.approx((placement.low, placement.high), abs=0.005)
    assert first.stderr == pytest.approx(placement.stderr, rel=0.08)


def test_the_bootstrap_draws_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    s, scores, _ = simulate(np.random.default_rng(4), labelled=50)
    whole = aul_pu_interval(s, scores, method="bootstrap", n_resamples=600)
    monkeypatch.setattr("pubench.metrics.intervals._RESAMPLED_CELLS", 1000)
    parts = aul_pu_interval(s, scores, method="bootstrap", n_resamples=600)
    assert (parts.low, parts.high) == pytest.approx((whole.low, whole.high), abs=0.02)


def test_higher_confidence_is_wider() -> None:
    s, scores, _ = simulate(np.random.default_rng(5), labelled=50)
    narrow, wide = aul_pu_interval(s, scores, 0.8), aul_pu_interval(s, scores, 0.99)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_labels_may_be_named() -> None:
    s, a, b = simulate(np.random.default_rng(6), labelled=50)
    named = np.where(s, "fraud", "unknown")
    assert aul_pu_interval(named, a, pos_label="fraud") == aul_pu_interval(s, a)
    assert compare_aul(named, a, b, pos_label="fraud") == compare_aul(s, a, b)


def test_every_pair_of_models_is_compared_once() -> None:
    s, a, b = simulate(np.random.default_rng(7), labelled=80)
    pairs = compare_models(s, {"a": a, "b": b, "reversed": -a})
    assert [(pair.a, pair.b) for pair in pairs] == [("a", "b"), ("a", "reversed"), ("b", "reversed")]
    assert pairs[0].comparison == compare_aul(s, a, b)
    expected = holm(np.array([pair.comparison.p_value for pair in pairs]))
    assert [pair.p_holm for pair in pairs] == expected.tolist()


def test_holm_steps_down() -> None:
    assert holm(np.array([0.01, 0.04, 0.03, 0.9])) == pytest.approx([0.04, 0.09, 0.09, 0.9])
    assert holm(np.array([0.5, 0.6])) == pytest.approx([1.0, 1.0])


def test_the_band_of_a_lift_curve_is_wilson_s() -> None:
    s, scores, _ = simulate(np.random.default_rng(8), labelled=40)
    curve = lift_curve(s, scores)
    low, high = sensitivity_band(curve, 40)
    assert np.all((low >= 0) & (low <= curve.sensitivity) & (curve.sensitivity <= high) & (high <= 1))
    at = int(np.argmin(np.abs(curve.sensitivity - 0.5)))
    assert (low[at], high[at]) == pytest.approx((0.352, 0.648), abs=0.001)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": 1.0}, "confidence must lie between 0 and 1"),
        ({"confidence": 95}, "confidence must lie between 0 and 1"),
        ({"method": "bootstrp"}, "Did you mean 'bootstrap'"),
        ({"n_resamples": 0}, "n_resamples must be at least 1"),
    ],
)
def test_parameters_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        aul_pu_interval([0, 1, 0], [1, 2, 3], **options)


def test_bad_comparisons_are_refused_by_model() -> None:
    s = [0, 1, 0]
    with pytest.raises(DataError, match="scores_b must not be NaN; row 2"):
        compare_aul(s, [1, 2, 3], [1, 2, np.nan])
    with pytest.raises(DataError, match="s has 3 rows but naive has 2"):
        compare_models(s, {"best": [1, 2, 3], "naive": [1, 2]})
    with pytest.raises(DataError, match="at least two models"):
        compare_models(s, {"best": [1, 2, 3]})
    with pytest.raises(DataError, match="No row of s is labelled"):
        compare_aul([0, 0, 0], [1, 2, 3], [1, 2, 3])


@pytest.mark.parametrize("count", [1, 2, 50])
def test_a_paired_mean_counts_one_difference_of_0_more(count: int) -> None:
    differences = np.random.default_rng(count).normal(0.01, 0.05, count)
    paired = paired_mean(differences)
    assert paired.count == count
    assert paired.mean == pytest.approx(differences.mean(), rel=1e-12)
    spread = np.append(differences, 0.0).std(ddof=1)
    assert paired.stderr == pytest.approx(spread / np.sqrt(count), rel=1e-9)


def test_the_variance_of_a_mean_takes_arrays_of_sums() -> None:
    differences = np.random.default_rng(0).normal(size=(3, 40))
    variances = variance_of_mean(differences.sum(axis=1), np.square(differences).sum(axis=1), 40)
    assert variances == pytest.approx([paired_mean(row).stderr ** 2 for row in differences], rel=1e-12)


def test_equal_models_have_a_paired_mean_without_error() -> None:
    paired = paired_mean(np.zeros(7))
    assert (paired.mean, paired.stderr) == (0.0, 0.0)

"""Which trials are blended, and when a blend is worth it."""

from collections.abc import Callable, Sequence
from math import gcd

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubench.crossfit.folds import InnerFold
from pubench.metrics.aul import aul_pu_score
from pubench.seeds import Seed
from pubench.tuning.ensemble_selection import (
    Gain,
    RankedFold,
    Strategy,
    Weights,
    held_out_gain,
    in_lowest_terms,
    mean_value,
    select_blend,
    select_single,
)

#: (which rows are labelled, generator) -> a vector of scores for each trial
Trials = Callable[[np.ndarray, np.random.Generator], Sequence[np.ndarray]]


def folded(
    trials: Trials, seed: int, *, folds: int = 3, labelled: int = 60, rows: int = 400
) -> list[RankedFold]:
    generator = np.random.default_rng(seed)
    s = np.arange(rows) < labelled
    nothing = np.arange(0)
    return [
        RankedFold.of(
            InnerFold(number, nothing, nothing, np.arange(rows) + number * rows, labelled / rows),
            s,
            trials(s, generator),
        )
        for number in range(folds)
    ]


def blended(folds: Sequence[RankedFold]) -> Weights:
    return select_blend(folds, Seed(0))


def blending_gain(candidates: Sequence[RankedFold], rivals: Sequence[RankedFold]) -> Gain | None:
    return held_out_gain(Strategy(candidates, blended), Strategy(rivals, select_single))


def pure_noise(s: np.ndarray, generator: np.random.Generator) -> list[np.ndarray]:
    """Trials that know nothing."""
    return [generator.normal(size=len(s)) for _ in range(6)]


def one_with_noise(s: np.ndarray, generator: np.random.Generator) -> list[np.ndarray]:
    """One trial six times, each with a little noise that says nothing."""
    shared = s + generator.normal(size=len(s))
    return [shared + 0.05 * generator.normal(size=len(s)) for _ in range(6)]


def complementary(s: np.ndarray, generator: np.random.Generator) -> list[np.ndarray]:
    """Two trials that see one half of the positives each, on scales of their own, and one that sees nothing."""
    half = generator.random(len(s)) < 0.5
    first, second = (2.5 * (s & side) + generator.normal(size=len(s)) for side in (half, ~half))
    return [np.exp(first), second, generator.normal(size=len(s))]


@given(seed=st.integers(0, 10**6), trials=st.sampled_from([pure_noise, one_with_noise, complementary]))
@settings(max_examples=25, deadline=None)
def test_weights_are_few_whole_numbers_and_the_same_each_time(seed: int, trials: Trials) -> None:
    folds = folded(trials, seed, labelled=20, rows=120)
    weights = blended(folds)
    assert min(weights) >= 0
    assert 1 <= sum(weight > 0 for weight in weights) <= 8
    assert sum(weights) <= 48
    assert gcd(*weights) == 1
    assert blended(folded(trials, seed, labelled=20, rows=120)) == weights


@given(seed=st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_scales_do_not_matter(seed: int) -> None:
    folds = folded(complementary, seed, labelled=20, rows=120)
    rescaled = folded(
        lambda s, generator: [np.arctan(one) * 7 - 3 for one in complementary(s, generator)],
        seed,
        labelled=20,
        rows=120,
    )
    for weights in ((1, 0, 0), (1, 1, 0), (3, 2, 1)):
        assert mean_value(folds, weights) == mean_value(rescaled, weights)


def test_a_single_trial_has_the_value_that_the_metric_gives() -> None:
    generator = np.random.default_rng(0)
    s = np.arange(400) < 60
    scores = s + generator.normal(size=400).round(1)
    fold = InnerFold(0, np.arange(0), np.arange(0), np.arange(400), 60 / 400)
    assert RankedFold.of(fold, s, [scores]).value((1,)) == pytest.approx(aul_pu_score(s, scores))


def test_complementary_trials_are_blended_and_gain() -> None:
    for seed in range(10):
        folds = folded(complementary, seed)
        weights = blended(folds)
        assert min(weights[:2]) > 0
        assert weights[2] < min(weights[:2])
        gain = blending_gain(folds, folds)
        assert gain is not None
        assert gain.low > 0
        assert gain.n_labelled == 180


@pytest.mark.parametrize("trials", [pure_noise, one_with_noise])
def test_where_nothing_can_be_gained_no_gain_is_claimed(trials: Trials) -> None:
    gains = [blending_gain(folds, folds) for folds in (folded(trials, seed) for seed in range(100))]
    claimed = [gain is not None and gain.low > 0 for gain in gains]
    assert np.mean(claimed) < 0.1


def test_with_few_labelled_rows_luck_is_shared() -> None:
    """Of six equal trials one looks best by chance; the blend takes several."""
    several = [
        sum(weight > 0 for weight in blended(folded(pure_noise, seed, labelled=4))) for seed in range(20)
    ]
    assert np.mean(several) > 2


def test_many_unlabeled_rows_are_sampled_and_change_little() -> None:
    generator = np.random.default_rng(0)
    s = np.arange(50_000) < 60
    scores = s + generator.normal(size=len(s))
    fold = InnerFold(0, np.arange(0), np.arange(0), np.arange(len(s)), 60 / len(s))
    value = RankedFold.of(fold, s, [scores]).value((1,))
    assert value == pytest.approx(aul_pu_score(s, scores), abs=0.005)


def test_equal_trials_are_not_blended_and_the_first_is_taken() -> None:
    def same(s: np.ndarray, generator: np.random.Generator) -> list[np.ndarray]:
        scores = s + generator.normal(size=len(s))
        return [np.zeros(len(s)), scores, scores, 3 * scores]

    folds = folded(same, 0)
    assert blended(folds) == select_single(folds) == (0, 1, 0, 0)
    gain = blending_gain(folds, folds)
    assert gain == Gain(0.0, 0.0, 180)


def test_one_fold_judges_nothing() -> None:
    folds = folded(complementary, 0, folds=1)
    assert blending_gain(folds, folds) is None


def test_folds_of_another_repeat_select_nothing_for_their_own_rows() -> None:
    """A second repeat that is a copy of the first changes hardly anything: its folds hold the rows to be judged."""
    folds = folded(complementary, 3)
    twice = [*folds, *folds]
    once, again = blending_gain(folds, folds), blending_gain(twice, twice)
    assert once is not None
    assert again is not None
    assert again.n_labelled == once.n_labelled
    assert again.difference == pytest.approx(once.difference, abs=once.stderr / 2)


def test_lowest_terms() -> None:
    assert in_lowest_terms((4, 0, 2)) == (2, 0, 1)
    assert in_lowest_terms((0, 3)) == (0, 1)

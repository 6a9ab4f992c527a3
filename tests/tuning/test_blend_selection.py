"""Which trials are blended, and when a blend is worth it."""

from collections.abc import Callable, Sequence
from math import gcd

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubench.metrics.label_free import aul_pu_score
from pubench.tuning.inner import InnerFold
from pubench.tuning.selection import (
    Gain,
    RankedFold,
    Strategy,
    best_single,
    held_out_gain,
    in_lowest_terms,
    mean_value,
    select,
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


def blending_gain(candidates: Sequence[RankedFold], rivals: Sequence[RankedFold]) -> Gain | None:
    return held_out_gain(Strategy(candidates, select), Strategy(rivals, best_single))


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
def test_a_blend_is_never_worse_where_it_is_selected(seed: int, trials: Trials) -> None:
    folds = folded(trials, seed, labelled=20, rows=120)
    weights = select(folds)
    singles = np.eye(folds[0].n_candidates, dtype=int).tolist()
    assert mean_value(folds, weights) >= max(mean_value(folds, tuple(one)) for one in singles)
    assert min(weights) >= 0
    assert sum(weights) <= 20
    assert gcd(*weights) == 1
    assert select(folded(trials, seed, labelled=20, rows=120)) == weights


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


def test_complementary_trials_are_blended_and_the_blend_is_kept() -> None:
    for seed in range(10):
        folds = folded(complementary, seed)
        weights = select(folds)
        assert min(weights[:2]) > 0
        assert weights[2] < min(weights[:2])
        gain = blending_gain(folds, folds)
        assert gain is not None
        assert gain.is_real
        assert gain.n_labelled == 180


@pytest.mark.parametrize("trials", [pure_noise, one_with_noise])
def test_noise_is_seldom_kept_although_it_is_often_above_0(trials: Trials) -> None:
    gains = [blending_gain(folds, folds) for folds in (folded(trials, seed) for seed in range(100))]
    above = [gain is not None and gain.difference > 0 for gain in gains]
    kept = [gain is not None and gain.is_real for gain in gains]
    assert np.mean(above) > 0.3
    assert np.mean(kept) < 0.25


def test_a_rival_that_is_as_good_as_the_blend_keeps_it_out() -> None:
    """A single trial in full is what a blend of drafts has to beat, not a draft."""

    def full(s: np.ndarray, generator: np.random.Generator) -> list[np.ndarray]:
        first, second, _ = complementary(s, generator)
        return [np.log(first) + second]

    kept = 0
    for seed in range(20):
        gain = blending_gain(folded(complementary, seed), folded(full, seed))
        kept += gain is not None and gain.is_real
    assert kept <= 5


def test_equal_trials_are_not_blended_and_the_first_is_taken() -> None:
    def same(s: np.ndarray, generator: np.random.Generator) -> list[np.ndarray]:
        scores = s + generator.normal(size=len(s))
        return [np.zeros(len(s)), scores, scores, 3 * scores]

    folds = folded(same, 0)
    assert select(folds) == best_single(folds) == (0, 1, 0, 0)
    gain = blending_gain(folds, folds)
    assert gain == Gain(0.0, 0.0, 180)
    assert not gain.is_real


def test_one_fold_judges_nothing() -> None:
    folds = folded(complementary, 0, folds=1)
    assert blending_gain(folds, folds) is None


def test_folds_of_another_repeat_select_nothing_for_their_own_rows() -> None:
    """A second repeat that is a copy of the first must change nothing: its folds hold the rows to be judged."""
    folds = folded(complementary, 3)
    twice = [*folds, *folds]
    assert blending_gain(twice, twice) == blending_gain(folds, folds)


def test_few_labelled_rows_leave_it_open() -> None:
    assert not Gain(0.5, 0.01, 9).is_real
    assert Gain(0.5, 0.01, 10).is_real
    assert not Gain(0.01, 0.01, 100).is_real


def test_lowest_terms() -> None:
    assert in_lowest_terms((4, 0, 2)) == (2, 0, 1)
    assert in_lowest_terms((0, 3)) == (0, 1)

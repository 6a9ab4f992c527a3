"""When a trial has lost."""

import numpy as np
import pytest

from pubench.tuning.racing import Race


def placed(generator: np.random.Generator, difficulty: np.ndarray, skill: float) -> np.ndarray:
    noise = generator.normal(size=difficulty.shape)
    return np.asarray(1 / (1 + np.exp(-(skill + difficulty + 0.5 * noise))))


def share_lost(skill: float, labelled: int, looks: int = 1) -> float:
    generator = np.random.default_rng(0)
    lost = 0
    for _ in range(1000):
        folds = [generator.normal(size=labelled) for _ in range(looks)]
        best = [placed(generator, fold, 1.0) for fold in folds]
        trial = [placed(generator, fold, skill) for fold in folds]
        lost += any(Race(0.02).is_lost(trial[: k + 1], best) for k in range(looks))
    return lost / 1000


def test_an_equal_trial_is_rarely_stopped() -> None:
    assert share_lost(1.0, 100) < 0.035
    assert share_lost(1.0, 1000) < 0.035
    assert share_lost(1.0, 100, looks=3) < 3 * 0.035


def test_a_bad_trial_is_stopped_at_the_first_fold() -> None:
    assert share_lost(0.5, 100) > 0.95
    assert share_lost(0.9, 2000) > 0.95


def test_a_better_trial_never_is() -> None:
    assert share_lost(1.3, 100) == 0


@pytest.mark.parametrize("labelled", [0, 1, 9])
def test_few_labelled_rows_decide_nothing(labelled: int) -> None:
    assert not Race(0.02).is_lost([np.zeros(labelled)], [np.ones(labelled)])


def test_no_doubt_no_race() -> None:
    assert not Race(0.0).is_lost([np.zeros(100)], [np.ones(100)])
    assert Race(0.02).is_lost([np.zeros(100)], [np.ones(100)])


def test_without_a_best_trial_there_is_no_race() -> None:
    assert not Race(0.02).is_lost([np.zeros(100)], [])

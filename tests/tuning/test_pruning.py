"""When a trial is stopped early."""

import numpy as np
import pytest

from pubench.tuning.pruning import PlacementPruner


def placements(generator: np.random.Generator, difficulty: np.ndarray, skill: float) -> np.ndarray:
    noise = generator.normal(size=difficulty.shape)
    return np.asarray(1 / (1 + np.exp(-(skill + difficulty + 0.5 * noise))))


def share_pruned(skill: float, labelled: int, n_folds: int = 1) -> float:
    """Return the share of trials of a skill that are stopped in one of the folds, when the best trial has skill 1."""
    generator = np.random.default_rng(0)
    pruner = PlacementPruner(0.02)
    pruned = 0
    for _ in range(1000):
        folds = [generator.normal(size=labelled) for _ in range(n_folds)]
        best = [placements(generator, fold, 1.0) for fold in folds]
        trial = [placements(generator, fold, skill) for fold in folds]
        pruned += any(pruner.should_prune(trial[: seen + 1], best) for seen in range(n_folds))
    return pruned / 1000


def test_an_equal_trial_is_rarely_stopped() -> None:
    assert share_pruned(1.0, 100) < 0.035
    assert share_pruned(1.0, 1000) < 0.035
    assert share_pruned(1.0, 100, n_folds=3) < 3 * 0.035


def test_a_bad_trial_is_stopped_at_the_first_fold() -> None:
    assert share_pruned(0.5, 100) > 0.95
    assert share_pruned(0.9, 2000) > 0.95


def test_a_better_trial_is_never_stopped() -> None:
    assert share_pruned(1.3, 100) == 0


@pytest.mark.parametrize("labelled", [0, 1, 49])
def test_few_labelled_rows_decide_nothing(labelled: int) -> None:
    assert not PlacementPruner(0.02).should_prune([np.zeros(labelled)], [np.ones(labelled)])


def test_a_threshold_of_0_stops_no_trial() -> None:
    assert not PlacementPruner(0.0).should_prune([np.zeros(100)], [np.ones(100)])
    assert PlacementPruner(0.02).should_prune([np.zeros(100)], [np.ones(100)])


def test_without_a_best_trial_no_trial_is_stopped() -> None:
    assert not PlacementPruner(0.02).should_prune([np.zeros(100)], [])

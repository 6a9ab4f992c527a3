"""What is recorded of a trial."""

import numpy as np
import pytest

from pubench.crossfit.cross_fit import fold_aul
from pubench.crossfit.folds import InnerFold
from pubench.tuning.pruning import PlacementPruner
from pubench.tuning.study import RunningTrial
from pubench.types import Status

NO_PRUNER = PlacementPruner(0.0)
ROWS = np.arange(10)
FOLDS = tuple(InnerFold(number, ROWS, ROWS, ROWS, 0.1) for number in range(3))
BEST = (np.full(60, 0.9), np.full(60, 0.7), np.full(60, 0.8))


def test_the_value_is_the_mean_over_folds() -> None:
    trial = RunningTrial(FOLDS, NO_PRUNER, ())
    for placed in BEST:
        assert trial.add(0, placed)
    expected = np.mean([fold_aul(placed, FOLDS[0]) for placed in BEST])
    assert trial.value == pytest.approx(float(expected))


def test_a_trial_that_was_stopped_is_as_far_behind_the_best_as_on_the_folds_it_saw() -> None:
    trial = RunningTrial(FOLDS, PlacementPruner(), BEST)
    assert not trial.add(0, BEST[0] - 0.2)
    best = np.mean([fold_aul(placed, FOLDS[0]) for placed in BEST])
    assert trial.value == pytest.approx(float(best) - 0.9 * 0.2)
    result = trial.result(Status.OK, "", 1.0, complete=False)
    assert result["stopped_early"]
    assert result["value"] == trial.value


def test_the_last_fold_is_never_pruned() -> None:
    trial = RunningTrial(FOLDS[:1], PlacementPruner(), BEST)
    assert trial.add(0, BEST[0] - 0.2)


def test_a_failed_trial_has_no_value() -> None:
    trial = RunningTrial(FOLDS, NO_PRUNER, ())
    result = trial.result(Status.FAILED, "why", 1.0, complete=False)
    assert result["value"] is None
    assert result["reason"] == "why"
    assert not result["stopped_early"]

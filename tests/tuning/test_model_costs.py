"""What final models cost, judging by trials."""

import numpy as np
import pytest

from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.configuration.configuration import PluginSpec, configure
from pubench.crossfit.folds import InnerFold
from pubench.tuning.model_costs import CostEstimate, ModelCosts, relating_seconds
from pubench.tuning.trial import Trial
from pubench.types import PUData, Status, Table

REGISTRY = load_registry()


def rows(count: int, labelled: int) -> PUData:
    return PUData(Table.from_array(np.zeros((count, 1))), np.arange(count) < labelled)


def folds(sampled: int) -> tuple[InnerFold, ...]:
    numbers = np.arange(sampled)
    return tuple(InnerFold(number, numbers, numbers, numbers, 0.1) for number in range(3))


def trial(number: int, last_fold: float, seconds: float, *, relates: bool = False) -> Trial:
    plugins = {Kind.METHOD: PluginSpec("naive"), Kind.LEARNER: PluginSpec("logistic")}
    if relates:
        plugins |= {Kind.METHOD: PluginSpec("probtagging"), Kind.SIMILARITY: PluginSpec("knn")}
    placements = (np.array([0.5]),) * 3
    return Trial(
        number,
        configure(plugins, REGISTRY),
        {},
        Status.OK,
        placements=placements,
        seconds=seconds,
        last_fold=last_fold,
    )


def estimate(trials: list[Trial], *, refits: bool = True) -> CostEstimate:
    searched, everything = rows(300, 30), rows(400, 40)
    return CostEstimate(trials, folds(100), searched, everything if refits else searched, refits)


def test_drafts_take_what_trials_took_on_more_rows() -> None:
    trials = [trial(0, 1.0, 3.0), trial(1, 2.0, 6.0)]
    costs = estimate(trials).costs(trials, trials[:1])
    assert costs.default == pytest.approx(3**0.8)
    assert costs.twin == pytest.approx(3 * 3**0.8)
    assert costs.shipped == pytest.approx(3 * 4**0.8)
    # Five folds, each trained on four fifths of 400 rows.
    assert costs.own_scores == pytest.approx(3 * 5 * 3.2**0.8)
    assert costs.relating == 0


def test_a_similarity_is_computed_for_the_shipped_model_and_for_own_scores() -> None:
    trials = [trial(0, 1.0, 50.0), trial(1, 1.0, 13.0, relates=True)]
    costs = estimate(trials).costs(trials[1:], ())
    assert relating_seconds(trials) == 10
    assert costs.relating == 10
    assert costs.own_scores == pytest.approx(10 + 5 * 3.2**0.8)
    assert relating_seconds([trial(0, 1.0, 3.0), trial(1, 2.0, 3.0)]) == 0


def test_a_blend_is_cross_fitted_before_its_parts_and_a_single_model_afterwards() -> None:
    trials = [trial(0, 1.0, 3.0), trial(1, 2.0, 6.0)]
    blend, single = (estimate(trials).costs(parts, ()) for parts in (trials, trials[:1]))
    assert blend.shipped_needs == blend.own_scores + blend.shipped
    assert blend.after_shipped == 0
    assert single.shipped_needs == single.shipped
    assert single.after_shipped == single.own_scores
    for costs in (blend, single):
        assert costs.twin_needs == costs.twin
        assert costs.after_twin == costs.own_scores + costs.shipped


def test_without_a_refit_the_twin_is_cross_fitted() -> None:
    trials = [trial(0, 1.0, 3.0), trial(1, 2.0, 6.0)]
    blend, single = (estimate(trials, refits=False).costs(parts, ()) for parts in (trials, trials[:1]))
    assert blend.shipped == single.shipped == 0
    assert blend.twin_needs == blend.twin + blend.own_scores
    assert blend.after_twin == 0
    assert single.twin_needs == single.twin
    assert single.after_twin == single.own_scores


def test_models_are_trained_on_as_many_rows_as_there_is_time_for() -> None:
    costs = ModelCosts(
        default=10.0, twin=20.0, shipped=30.0, relating=5.0, own_scores=15.0, is_blend=False, refits=True
    )
    assert costs.trainable_share(80.0) == 1
    share = costs.trainable_share(50.0)
    assert share == pytest.approx(0.5 ** (1 / 0.8))
    less = costs.on_share(share)
    assert less.default + less.twin + less.shipped == pytest.approx(30)
    assert (less.relating, less.own_scores) == (5, 15)
    assert costs.trainable_share(-3.0) == 0.01


def test_a_part_costs_its_own_scores_and_both_trainings() -> None:
    one = trial(0, 1.0, 3.0)
    own = 5 * 3.2**0.8
    assert estimate([one]).part(one, 1.5) == pytest.approx(own + 1.5 * (3**0.8 + 4**0.8))

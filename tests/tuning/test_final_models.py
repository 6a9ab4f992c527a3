"""Final models: the tuned one does not weaken the one that it is compared with, or this one is marked as cut short."""

from dataclasses import replace

import pytest

from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.configuration.configuration import Configuration, PluginSpec, configure
from pubench.crossfit.fold_cache import FoldCache
from pubench.crossfit.folds import FoldPlan, inner_folds
from pubench.seeds import Seed
from pubench.tuning.budget import TimeBudget
from pubench.tuning.final_models import FinalModels, HoldoutResult
from pubench.tuning.model_costs import ModelCosts
from pubench.types import PUData, Resources

SEED = Seed(0)
FREE = ModelCosts(
    default=0.0, twin=0.0, shipped=0.0, relating=0.0, own_scores=0.0, is_blend=False, refits=False
)


def configured(method: str, **params: object) -> Configuration:
    kinds = {Kind.METHOD: PluginSpec(method, params), Kind.LEARNER: PluginSpec("logistic")}
    if method == "probtagging":
        kinds[Kind.SIMILARITY] = PluginSpec("knn")
    return configure(kinds, load_registry())


def finals(
    data: PUData, budget: TimeBudget, phases: list[str] | None = None, costs: ModelCosts = FREE
) -> FinalModels:
    """Return what trains on these rows and judges on them; the names of phases are added to `phases`."""
    seen: list[str] = [] if phases is None else phases
    cache = FoldCache(data, inner_folds(data.s, FoldPlan(), SEED), SEED, for_all=True)
    return FinalModels(cache, data, SEED, Resources(), budget, lambda name, _: seen.append(name), costs)


def trained(data: PUData, tuned: Configuration, budget: TimeBudget) -> tuple[HoldoutResult, list[str]]:
    """Return the result within a budget, and the models in the order of training."""
    phases: list[str] = []
    result = finals(data, budget, phases).train(tuned, configured("probtagging", members=6))
    return result, [name.removeprefix("final models: ") for name in dict.fromkeys(phases)]


def test_the_tuned_model_is_not_trained_at_the_expense_of_the_others(data: PUData) -> None:
    result, order = trained(data, configured("probtagging", members=4), TimeBudget())
    assert order.index("default") < order.index("tuned")
    assert list(result.contenders) == ["tuned", "default"]


@pytest.mark.parametrize(("budget", "is_cut"), [(TimeBudget(), False), (TimeBudget(0.0), True)])
def test_it_is_marked_whether_the_time_ran_out_for_the_default(
    data: PUData, budget: TimeBudget, is_cut: bool
) -> None:
    result, _ = trained(data, configured("elkan"), budget)
    assert result.contenders["default"].is_cut is is_cut


def test_a_model_that_gets_what_its_draft_needs_is_not_cut_when_the_time_is_over(data: PUData) -> None:
    over = finals(data, TimeBudget(0.0), costs=replace(FREE, twin=600.0))
    contenders = over.train(configured("probtagging", members=4), configured("probtagging")).contenders
    assert contenders["default"].is_cut
    assert not contenders["tuned"].is_cut


def test_a_training_that_stops_early_is_not_cut(data: PUData) -> None:
    learner = PluginSpec("lightgbm", {"trees": 300, "learning_rate": 0.5, "stop_share": 0.3})
    tuned = configure({Kind.METHOD: PluginSpec("naive"), Kind.LEARNER: learner}, load_registry())
    contender = trained(data, tuned, TimeBudget())[0].contenders["tuned"]
    decided = contender.fitted.chosen["learner"]
    assert isinstance(decided, dict)
    assert contender.configuration.parts.learner is not None
    assert contender.configuration.parts.learner.params["trees"] == decided["trees"] < 300
    assert not contender.is_cut


def test_a_tuned_model_that_is_the_default_may_take_all_the_time(data: PUData) -> None:
    result, order = trained(data, configured("probtagging", members=6), TimeBudget())
    assert "default" not in order
    assert result.contenders["default"] is result.contenders["tuned"]


def test_without_a_default_there_is_the_tuned_model_alone(data: PUData) -> None:
    result = finals(data, TimeBudget()).train(configured("naive"), None)
    assert list(result.contenders) == ["tuned"]

"""Final models: what the tuned one is compared with is not weakened by it, or the verdict says so."""

import pytest

from pubench.plugin_api import Kind
from pubench.registry import load_registry
from pubench.saving.configuration import Configuration, Named, configure
from pubench.seeds import Seed
from pubench.tuning.finals import Finals
from pubench.tuning.inner import Plan, inner_folds
from pubench.tuning.outcome import Outcome
from pubench.tuning.sharing import Memory
from pubench.types import PUData, Resources

SEED = Seed(0)


def configured(method: str, **params: object) -> Configuration:
    kinds = {Kind.METHOD: Named(method, params), Kind.LEARNER: Named("logistic")}
    if method == "probtagging":
        kinds[Kind.SIMILARITY] = Named("knn")
    return configure(kinds, load_registry())


def trained(data: PUData, tuned: Configuration, until: float) -> tuple[Outcome, list[str]]:
    """Return what comes of it when all must be done by then, and the models in the order of training."""
    phases: list[str] = []
    memory = Memory(data, inner_folds(data.s, Plan(), SEED), SEED, for_all=True)
    finals = Finals(memory, data, SEED, Resources(), until, lambda name, share: phases.append(name))  # noqa: ARG005
    default = configured("probtagging", members=6)
    outcome = finals.train(tuned, default, {"naive": configured("naive")})
    return outcome, [name.removeprefix("final models: ") for name in dict.fromkeys(phases)]


def test_the_tuned_model_is_not_trained_at_the_expense_of_the_others(data: PUData) -> None:
    outcome, order = trained(data, configured("probtagging", members=4), float("inf"))
    assert order.index("default") < order.index("tuned")
    assert list(outcome.contenders) == ["tuned", "default", "naive"]


@pytest.mark.parametrize(("until", "is_cut"), [(float("inf"), False), (0.0, True)])
def test_the_verdict_says_if_there_was_no_time_for_the_others(
    data: PUData, until: float, is_cut: bool
) -> None:
    outcome, _ = trained(data, configured("elkan"), until)
    assert outcome.contenders["default"].is_cut is is_cut
    assert ("no time for all members of 'default'" in outcome.verdict) is is_cut


def test_a_tuned_model_that_is_the_default_may_take_all_the_time(data: PUData) -> None:
    outcome, order = trained(data, configured("probtagging", members=6), float("inf"))
    assert "default" not in order
    assert outcome.contenders["default"] is outcome.contenders["tuned"]
    assert "tuning did not change it" in outcome.verdict

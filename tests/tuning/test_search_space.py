"""One conditional space out of what plugins declare."""

from typing import Any

import optuna
import pytest

from pubench.errors import DataError, ParameterError
from pubench.plugin_api import Kind
from pubench.registry import load_registry
from pubench.tuning.search_space import SearchSpace, narrowed

REGISTRY = load_registry()
EVERYTHING = SearchSpace(
    REGISTRY,
    {kind: REGISTRY.names(kind) for kind in (Kind.METHOD, Kind.SIMILARITY, Kind.LEARNER)},
)


def draws(space: SearchSpace, count: int) -> list[Any]:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    found = []
    for _ in range(count):
        trial = study.ask()
        found.append((trial, space.suggest(trial)))
        study.tell(trial, 0.0)
    return found


def test_every_draw_is_a_valid_configuration_and_comes_back_from_its_parameters() -> None:
    for trial, configuration in draws(EVERYTHING, 200):
        assert EVERYTHING.configuration(trial.params, draft=True) == configuration


def test_every_plugin_takes_part() -> None:
    seen = {
        plugin.name
        for _, configuration in draws(EVERYTHING, 400)
        for plugin in configuration.plugins.values()
    }
    assert seen == {name for names in EVERYTHING.names.values() for name in names}


def test_only_what_applies_is_asked_for() -> None:
    for trial, configuration in draws(EVERYTHING, 100):
        kinds = {name.split(".")[0] for name in trial.params}
        assert ("learner" in kinds) == (Kind.LEARNER in configuration.plugins)
        assert ("similarity" in kinds) == (Kind.SIMILARITY in configuration.plugins)
        ratio = "method.probtagging.ratio" in trial.params
        assert ratio == (trial.params.get("method.probtagging.negatives") == "sampled")


def test_the_first_configuration_is_the_papers() -> None:
    configuration = EVERYTHING.configuration(EVERYTHING.default())
    assert str(configuration) == "probtagging + knn + lightgbm"
    assert configuration.method == REGISTRY.find("probtagging").plugin()
    assert configuration.parts.learner == REGISTRY.find("lightgbm").plugin()


def test_what_only_buys_quality_is_a_draft_during_the_search() -> None:
    params = EVERYTHING.default()
    assert EVERYTHING.configuration(params, draft=True).method.params["members"] == 5
    assert EVERYTHING.configuration(params).method.params["members"] == 50
    assert not any("members" in name for name in params)


def test_one_candidate_is_no_question() -> None:
    space = SearchSpace(REGISTRY, {Kind.METHOD: ["naive"], Kind.LEARNER: ["logistic"]})
    assert set(space.default()) == {"learner.logistic.c"}
    with pytest.raises(ParameterError, match="--learner"):
        SearchSpace(REGISTRY, {Kind.METHOD: ["naive"]}).default()


def test_a_file_narrows_and_adds() -> None:
    space = narrowed(
        EVERYTHING,
        {
            "learner": {"lightgbm": {"depth": [2, 3], "trees": 100, "random_cuts": [True]}},
            "method": {"probtagging": {"members": [5, 20], "tags": "soft"}},
        },
    )
    lightgbm = [c for _, c in draws(space, 300) if c.parts.learner and c.parts.learner.name == "lightgbm"]
    assert {c.parts.learner.params["depth"] for c in lightgbm} == {2, 3}
    assert {c.parts.learner.params["trees"] for c in lightgbm} == {100}
    assert {c.parts.learner.params["random_cuts"] for c in lightgbm} == {True}
    tagged = [c.method.params for _, c in draws(space, 300) if c.method.name == "probtagging"]
    assert {params["tags"] for params in tagged} == {"soft"}
    assert len({params["members"] for params in tagged}) > 5
    assert max(params["members"] for params in tagged) <= 20


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"model": {}}, "tables for method"),
        ({"learner": 3}, "is a table"),
        ({"learner": {"lightgmb": {}}}, "Did you mean 'lightgbm'"),
        ({"learner": {"lightgbm": {"dept": 3}}}, "Did you mean 'depth'"),
        ({"learner": {"lightgbm": {"depth": [0, 3]}}}, "must lie in 1 to 8"),
        ({"learner": {"lightgbm": {"depth": []}}}, "must lie in"),
        ({"learner": {"lightgbm": {"depth": "deep"}}}, "must lie in"),
        ({"learner": {"lightgbm": {"depth": [1, 2, 3]}}}, "range of two"),
        ({"method": {"probtagging": {"tags": ["hard"]}}}, "must lie in drawn | soft"),
    ],
)
def test_a_wrong_file_is_explained(document: Any, message: str) -> None:
    with pytest.raises((ParameterError, DataError), match=message.replace("|", r"\|")):
        narrowed(EVERYTHING, document)


def test_a_thrifty_search_leaves_dear_parameters_alone() -> None:
    thrifty = SearchSpace(REGISTRY, EVERYTHING.names, thrifty=True)
    assert not any("scaling" in name for trial, _ in draws(thrifty, 100) for name in trial.params)
    given = narrowed(thrifty, {"method": {"probtagging": {"scaling": ["standard", "robust"]}}})
    assert any("scaling" in name for trial, _ in draws(given, 100) for name in trial.params)

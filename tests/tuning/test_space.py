"""One conditional space out of what plugins declare."""

from typing import Any

import optuna
import pytest

from pubench.api.plugin import DataSize, Kind
from pubench.api.registry import load_registry
from pubench.errors import DataError, ParameterError
from pubench.tuning.space import SearchSpace, narrowed

REGISTRY = load_registry()
EVERYTHING = SearchSpace(
    REGISTRY,
    {kind: REGISTRY.names(kind) for kind in (Kind.METHOD, Kind.SIMILARITY, Kind.LEARNER)},
)


def draws(space: SearchSpace, count: int) -> list[Any]:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    drawn = []
    for _ in range(count):
        trial = study.ask()
        drawn.append((trial, space.suggest(trial)))
        study.tell(trial, 0.0)
    return drawn


def test_every_draw_is_a_valid_configuration_and_comes_back_from_its_parameters() -> None:
    for trial, configuration in draws(EVERYTHING, 200):
        assert EVERYTHING.configuration(trial.params, draft=True) == configuration


def test_every_plugin_is_searched() -> None:
    seen = {
        plugin.name
        for _, configuration in draws(EVERYTHING, 400)
        for plugin in configuration.plugins.values()
    }
    assert seen == {name for names in EVERYTHING.names.values() for name in names}


def test_only_parameters_that_apply_are_sampled() -> None:
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


def test_a_baseline_is_a_method_at_its_defaults_with_the_first_learner_and_similarity() -> None:
    names = {Kind.METHOD: ["probtagging"], Kind.SIMILARITY: ["knn"], Kind.LEARNER: ["logistic", "histgb"]}
    assert str(EVERYTHING.baseline("naive")) == "naive + lightgbm"
    assert str(EVERYTHING.baseline("probtagging")) == "probtagging + knn + lightgbm"
    assert str(SearchSpace(REGISTRY, names).baseline("bagging")) == "bagging + logistic"
    assert str(SearchSpace(REGISTRY, {}).baseline("naive")) == "naive + lightgbm"


def test_parameters_that_trade_time_for_quality_are_drafts_during_the_search() -> None:
    params = EVERYTHING.default()
    assert EVERYTHING.configuration(params, draft=True).method.params["members"] == 5
    assert EVERYTHING.configuration(params).method.params["members"] == 50
    assert not any("members" in name for name in params)


def test_a_single_candidate_is_not_sampled() -> None:
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
        ({"learner": {"lightgbm": {"depth": [0, 3]}}}, "must lie in 1 to 16"),
        ({"learner": {"lightgbm": {"depth": []}}}, "must lie in"),
        ({"learner": {"lightgbm": {"depth": "deep"}}}, "must lie in"),
        ({"learner": {"lightgbm": {"depth": [1, 2, 3]}}}, "range of two"),
        ({"method": {"probtagging": {"tags": ["hard"]}}}, "must lie in drawn | soft"),
    ],
)
def test_a_wrong_file_is_explained(document: Any, message: str) -> None:
    with pytest.raises((ParameterError, DataError), match=message.replace("|", r"\|")):
        narrowed(EVERYTHING, document)


def test_parameters_are_completed_by_the_defaults_of_a_trial_with_them() -> None:
    complete = EVERYTHING.complete({"method": "naive", "learner": "logistic"})
    assert complete is not None
    assert complete["method"] == "naive"
    assert not any(name.startswith("similarity") for name in complete)
    assert EVERYTHING.distributions(complete) is not None
    assert EVERYTHING.complete({"method": "naive", "learner.lightgbm.depth": 99}) is None
    assert EVERYTHING.complete({"method": "naive", "learner": "nobody"}) is None
    assert EVERYTHING.complete({"method": "naive", "no.such.parameter": 1}) is None


def test_what_names_the_only_plugin_of_a_kind_fits() -> None:
    single = SearchSpace(REGISTRY, {**EVERYTHING.names, Kind.METHOD: ["naive"]})
    assert single.complete({"method": "naive"}) is not None
    assert single.complete({"method": "bagging"}) is None


def test_defaults_that_are_derived_from_the_data_are_those_of_the_search() -> None:
    suited = EVERYTHING.suited_to(DataSize(n_rows=1000, n_features=5, n_labelled=20))
    params = suited.complete({"method": "naive", "learner": "logistic"})
    assert params == {"method": "naive", "learner": "logistic", "learner.logistic.c": 0.1}
    assert suited.configuration(params).parts.learner == REGISTRY.find("logistic").plugin(c=0.1)
    assert suited.complete({**params, "learner.logistic.c": 1.0}) == {**params, "learner.logistic.c": 1.0}
    assert suited.key != EVERYTHING.key


def test_a_derived_default_outside_a_narrowed_range_is_not_used() -> None:
    narrow = narrowed(EVERYTHING, {"learner": {"logistic": {"c": [1.0, 2.0]}}})
    params = narrow.suited_to(DataSize(1000, 5, 20)).complete({"method": "naive", "learner": "logistic"})
    assert params is not None
    assert params["learner.logistic.c"] == 1.0


def test_another_space_has_another_key() -> None:
    narrower = narrowed(EVERYTHING, {"learner": {"lightgbm": {"depth": [2, 3]}}})
    assert len({EVERYTHING.key, narrower.key, SearchSpace(REGISTRY, {Kind.METHOD: ["naive"]}).key}) == 3
    assert EVERYTHING.key == SearchSpace(REGISTRY, EVERYTHING.names).key

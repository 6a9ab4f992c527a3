"""What every built-in method promises, checked on all of them with several learners."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pubench.api.method import Method, Parts
from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.testing.methods import METHOD_CHECKS, MethodSubject

REGISTRY = load_registry()
#: What makes a method or learner quick enough to be fitted a dozen times.
QUICK: dict[str, Any] = {
    "members": 5,
    "trees": 20,
    "epochs": 20,
    "iterations": 3,
    "net": "linear",
    "of": "probtagging+elkan-weighted",
}


def made(name: str, kind: Kind) -> Any:
    plugin = REGISTRY.find(name, kind).plugin
    return plugin(**{key: value for key, value in QUICK.items() if key in plugin.space})


@cache
def subject(method: str, learner: str) -> MethodSubject:
    """One for all checks: what is fitted for one of them serves the others."""
    parts = Parts(made("knn", Kind.SIMILARITY), made(learner, Kind.LEARNER))
    return MethodSubject(made(method, Kind.METHOD), parts)


def pairs() -> list[tuple[str, str]]:
    """Every method with two learners, or once if it uses none; one with weights and one with soft tags with a third."""
    found = [("bagging", "xgboost"), ("elkan-weighted", "xgboost")]
    for name in REGISTRY.names(Kind.METHOD):
        plugin: Any = REGISTRY.find(name, Kind.METHOD).plugin
        learners = ("lightgbm", "logistic") if Kind.LEARNER in plugin.uses else ("logistic",)
        found += [(name, learner) for learner in learners]
    return found


@pytest.mark.parametrize("check", METHOD_CHECKS)
@pytest.mark.parametrize(("method", "learner"), pairs())
def test_methods_keep_their_promises(method: str, learner: str, check: str) -> None:
    METHOD_CHECKS[check](subject(method, learner))


@pytest.mark.parametrize("name", REGISTRY.names(Kind.METHOD))
def test_only_the_oracle_wants_all_labels(name: str) -> None:
    plugin: Any = REGISTRY.find(name, Kind.METHOD).plugin
    assert issubclass(plugin, Method)
    assert plugin.wants_all_labels == (name == "oracle")


def test_probtagging_declares_the_choice_of_k_of_its_similarity(tmp_path: Path) -> None:
    checked = subject("probtagging", "logistic")
    fitted: Any = checked.fitted
    assert fitted.k_choice.k == fitted.chosen["k"] == fitted.related.similarity.k_choice.k
    fitted.save(tmp_path)
    assert checked.method.load(tmp_path, checked.parts).k_choice is None  # files do not hold the curve
    assert subject("naive", "logistic").fitted.k_choice is None

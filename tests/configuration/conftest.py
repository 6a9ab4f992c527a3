"""A registry of the built-in plugins, and a blend of three configurations."""

from typing import Any

import pytest

from pubench.api.plugin import Kind
from pubench.api.registry import Registry, load_registry
from pubench.configuration.configuration import Blend, Configuration, PluginSpec, configure


@pytest.fixture(scope="session")
def registry() -> Registry:
    return load_registry(environ={"PUBENCH_DISABLE_PLUGIN_AUTOLOAD": "1"})


def single(registry: Registry, method: str, learner: str = "logistic", **params: Any) -> Configuration:
    named = {Kind.METHOD: PluginSpec(method, params), Kind.LEARNER: PluginSpec(learner)}
    if method == "probtagging":
        named[Kind.SIMILARITY] = PluginSpec("knn")
    return configure(named, registry)


@pytest.fixture(scope="session")
def blend(registry: Registry) -> Blend:
    return Blend.of(
        [
            (2, single(registry, "probtagging", members=3)),
            (1, single(registry, "naive", "lightgbm")),
            (1, single(registry, "naive")),
        ]
    )

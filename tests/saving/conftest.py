"""A small table of all kinds, and a model of it."""

from pathlib import Path

import numpy as np
import pytest

from pubench.plugin_api import Kind
from pubench.registry import Registry, load_registry
from pubench.saving.configuration import Named, configure
from pubench.saving.models import Trained, save_model
from pubench.seeds import Seed
from pubench.types import Feature, PUData, Resources, Table

RESOURCES = Resources(n_threads=2)


@pytest.fixture(scope="session")
def data() -> PUData:
    generator = np.random.default_rng(0)
    n = 1_000
    X = generator.normal(size=(n, 3))
    town = generator.integers(0, 3, n).astype(float)
    s = X[:, 0] + (town == 1) + generator.normal(size=n) > 2.5
    X[generator.random(n) < 0.1, 1] = np.nan
    features = (Feature("a"), Feature("b"), Feature("c"), Feature("town", "categorical", ("x", "y", "z")))
    return PUData(Table(np.column_stack([X, town]), features), s)


@pytest.fixture(scope="session")
def registry() -> Registry:
    return load_registry(environ={"PUBENCH_DISABLE_PLUGIN_AUTOLOAD": "1"})


@pytest.fixture(scope="session")
def trained(data: PUData, registry: Registry) -> Trained:
    named = {
        Kind.METHOD: Named("probtagging", {"members": 5}),
        Kind.SIMILARITY: Named("knn"),
        Kind.LEARNER: Named("lightgbm", {"trees": 20}),
    }
    configuration = configure(named, registry)
    fitted = configuration.method.fit(data, configuration.parts, Seed(3), RESOURCES)
    return Trained.on(data, fitted, configuration, Seed(3), RESOURCES)


@pytest.fixture
def folder(trained: Trained, tmp_path: Path) -> Path:
    save_model(tmp_path / "model", trained)
    return tmp_path / "model"

"""A small table of all kinds of features, and a model trained on it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pubench.api.plugin import Kind
from pubench.api.registry import Registry, load_registry
from pubench.configuration.configuration import PluginSpec, configure
from pubench.model.saved import Trained, save_model
from pubench.seeds import Seed
from pubench.types import Feature, FloatVector, PUData, Resources, Table

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
        Kind.METHOD: PluginSpec("probtagging", {"members": 5}),
        Kind.SIMILARITY: PluginSpec("knn"),
        Kind.LEARNER: PluginSpec("lightgbm", {"trees": 20}),
    }
    configuration = configure(named, registry)
    fitted = configuration.method.fit(data, configuration.parts, Seed(3), RESOURCES)
    return Trained.on(data, fitted, configuration, Seed(3), RESOURCES)


@pytest.fixture
def folder(trained: Trained, tmp_path: Path) -> Path:
    save_model(tmp_path / "model", trained)
    return tmp_path / "model"


@pytest.fixture
def scores_in_a_new_process(data: PUData) -> Callable[[Path], FloatVector]:
    """Return a function that loads a model in a new process and scores the table there."""
    program = (
        "import sys, numpy as np\n"
        "from pathlib import Path\n"
        "from pubench.api.registry import load_registry\n"
        "from pubench.model.saved import load_model\n"
        "from pubench.types import Resources, Table\n"
        "folder = Path(sys.argv[1])\n"
        "model = load_model(folder, load_registry())\n"
        "assert not model.notices, model.notices\n"
        "X = Table(np.load(folder.parent / 'x.npy'), model.manifest.features)\n"
        "np.save(folder.parent / 'scores.npy', model.score(X, Resources()).values)\n"
    )

    def scores(folder: Path) -> FloatVector:
        np.save(folder.parent / "x.npy", data.X.values)
        subprocess.run([sys.executable, "-c", program, folder], check=True)
        return np.asarray(np.load(folder.parent / "scores.npy"))

    return scores

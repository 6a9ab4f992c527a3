"""What every built-in similarity promises, checked on all of them."""

import numpy as np
import pytest

from pubench.api.plugin import Kind, Similarity
from pubench.api.registry import load_registry
from pubench.seeds import Seed
from pubench.testing.contracts import SimilarityContract
from pubench.types import PUData, Resources, Table
from pubench_plugins.similarities.isolation import Isolation
from pubench_plugins.similarities.kernel import Kernel
from pubench_plugins.similarities.knn import KNN


class TestKNN(SimilarityContract):
    plugin = KNN()


class TestKNNOfGivenK(SimilarityContract):
    plugin = KNN(k_rule="given", k=9)


class TestKernel(SimilarityContract):
    plugin = Kernel()


class TestIsolation(SimilarityContract):
    plugin = Isolation(partitions=20)


CHECKED = (TestKNN, TestKernel, TestIsolation)


def test_all_built_ins_are_checked() -> None:
    assert {test.plugin.name for test in CHECKED} == set(load_registry().names(Kind.SIMILARITY))


@pytest.mark.parametrize("similarity", [test.plugin for test in CHECKED], ids=lambda plugin: str(plugin.name))
def test_progress_rises_to_the_end(similarity: Similarity) -> None:
    generator = np.random.default_rng(0)
    X = generator.standard_normal((1500, 5)).astype(np.float32)
    data = PUData(Table.from_array(X), (X[:, 0] > 1.8) & (generator.random(1500) < 0.5))
    fitting: list[float] = []
    fitted = similarity.fit(data, Seed(0), Resources(progress=fitting.append))
    scoring: list[float] = []
    fitted.score_new(data.X, Resources(progress=scoring.append))
    for reported in (fitting, scoring):
        assert reported == sorted(reported)
        assert reported[-1] == pytest.approx(1)

"""What every built-in similarity promises, checked on all of them."""

import numpy as np
import pytest

from pubench.plugin_api import Kind, Similarity
from pubench.registry import load_registry
from pubench.seeds import Seed
from pubench.types import PUData, Resources, Table

REGISTRY = load_registry()


@pytest.fixture(params=REGISTRY.names(Kind.SIMILARITY))
def similarity(request: pytest.FixtureRequest) -> Similarity:
    made = REGISTRY.find(request.param, Kind.SIMILARITY).plugin()
    assert isinstance(made, Similarity)
    return made


def draw() -> PUData:
    """Rows of which those with a large first value are positive, half of them labelled."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((1500, 5)).astype(np.float32)
    return PUData(Table.from_array(X), (X[:, 0] > 1.8) & (generator.random(1500) < 0.5))


class StoppedError(Exception):
    pass


def stop(share: float) -> None:
    raise StoppedError(f"at {share}")


def test_inputs_stay_as_they_were(similarity: Similarity) -> None:
    data = draw()
    before = data.X.values.copy()
    similarity.fit(data, Seed(0), Resources()).score_new(data.X, Resources())
    np.testing.assert_array_equal(data.X.values, before)


def test_progress_rises_to_the_end(similarity: Similarity) -> None:
    told: list[float] = []
    similarity.fit(draw(), Seed(0), Resources(progress=told.append))
    assert told == sorted(told)
    assert told[-1] == 1


def test_what_progress_raises_ends_the_work(similarity: Similarity) -> None:
    data = draw()
    with pytest.raises(StoppedError):
        similarity.fit(data, Seed(0), Resources(n_threads=2, progress=stop))
    fitted = similarity.fit(data, Seed(0), Resources())
    with pytest.raises(StoppedError):
        fitted.score_new(data.X, Resources(progress=stop))

"""What every built-in learner promises, checked on all of them."""

from typing import Any

import numpy as np
import pytest

from pubench.plugin_api import Kind, Learner, Parts
from pubench.registry import load_registry
from pubench.seeds import Seed
from pubench.types import Feature, PUData, Resources, Table, Tags

ONE = Resources(n_threads=1)
REGISTRY = load_registry()
LEARNERS = REGISTRY.names(Kind.LEARNER)


@pytest.fixture(params=LEARNERS)
def learner(request: pytest.FixtureRequest) -> Learner:
    plugin = REGISTRY.find(request.param, Kind.LEARNER).plugin
    small = {"trees": 20} if "trees" in plugin.space else {}
    made = plugin(**small)
    assert isinstance(made, Learner)
    return made


def draw(rows: int = 3000, positives: int = 60) -> tuple[Table, np.ndarray]:
    """Rows whose positives lie apart in the first column; the second has missing values."""
    generator = np.random.default_rng(5)
    values = generator.standard_normal((rows, 4))
    target = np.arange(rows) < positives
    values[target, 0] += 3
    values[generator.random(rows) < 0.1, 1] = np.nan
    return Table.from_array(values), target


def area(target: np.ndarray, scores: np.ndarray) -> float:
    """P(positive above negative)."""
    return float((scores[target][:, None] > scores[~target][None, :]).mean())


def scores(learner: Learner, X: Table, tags: Tags, seed: int = 0) -> Any:
    return learner.train(learner.prepare(X, ONE), tags, Seed(seed), ONE).predict(X, ONE)


def test_it_learns_with_missing_values(learner: Learner) -> None:
    X, target = draw()
    found = scores(learner, X, Tags(target))
    assert found.shape == (3000,)
    assert found.dtype == np.float64
    assert found.min() >= 0
    assert found.max() <= 1
    assert area(target, found) > 0.95


def test_equal_seeds_give_equal_models(learner: Learner) -> None:
    X, target = draw()
    np.testing.assert_array_equal(scores(learner, X, Tags(target)), scores(learner, X, Tags(target)))


def test_rows_of_weight_zero_are_as_good_as_absent(learner: Learner) -> None:
    X, target = draw()
    wrong = target.copy()
    wrong[-1000:] = True
    weight = np.ones(3000)
    weight[-1000:] = 0
    found = scores(learner, X, Tags(wrong, weight))
    np.testing.assert_array_equal(found, scores(learner, X, Tags(target, weight)))


def test_weights_matter(learner: Learner) -> None:
    X, target = draw()
    heavy = scores(learner, X, Tags(target, np.where(target, 50.0, 1.0)))
    light = scores(learner, X, Tags(target, np.where(target, 0.02, 1.0)))
    assert heavy.mean() > light.mean()


def test_trainings_share_what_was_prepared(learner: Learner) -> None:
    X, target = draw()
    prepared = learner.prepare(X, ONE)
    first = learner.train(prepared, Tags(target), Seed(0), ONE).predict(X, ONE)
    learner.train(prepared, Tags(~target), Seed(0), ONE)
    again = learner.train(prepared, Tags(target), Seed(0), ONE).predict(X, ONE)
    np.testing.assert_array_equal(first, again)


def test_it_survives_one_positive_in_a_thousand(learner: Learner) -> None:
    plugin = type(learner)()
    X, target = draw(rows=20_000, positives=20)
    assert area(target, scores(plugin, X, Tags(target))) > 0.9


def test_it_says_whether_it_can_use_cuda(learner: Learner) -> None:
    problem = learner.cuda_problem()
    assert problem is None or problem


@pytest.mark.parametrize("name", [name for name in LEARNERS if REGISTRY.find(name).plugin.takes.categorical])  # type: ignore[attr-defined]
def test_categories_are_not_taken_for_quantities(name: str) -> None:
    generator = np.random.default_rng(0)
    codes = generator.integers(0, 20, 4000).astype(float)
    target = np.isin(codes, [3, 8, 13]) & (generator.random(4000) < 0.5)
    features = (Feature("city", "categorical", tuple(f"c{i}" for i in range(20))),)
    X = Table(codes.reshape(-1, 1), features)
    made = REGISTRY.find(name).plugin(trees=20)
    assert isinstance(made, Learner)
    found = scores(made, X, Tags(target))
    assert found[codes == 8].mean() > 5 * found[codes == 9].mean()


@pytest.mark.parametrize("name", LEARNERS)
def test_naive_ranks_hidden_positives_high(name: str) -> None:
    X, target = draw()
    labelled = target & (np.arange(3000) % 2 == 0)
    method: Any = REGISTRY.find("naive").plugin()
    made: Any = REGISTRY.find(name).plugin()
    fitted = method.fit(PUData(X, labelled), Parts(learner=made), Seed(0), ONE)
    hidden = target & ~labelled
    found = fitted.score(X, ONE).values
    assert area(hidden[~labelled], found[~labelled]) > 0.9

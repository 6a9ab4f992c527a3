"""What every built-in learner promises, checked on all of them."""

from typing import Any

import numpy as np
import pytest

from pubench.errors import DataError
from pubench.method_api import Parts
from pubench.plugin_api import Kind, Learner, Model
from pubench.registry import load_registry
from pubench.seeds import Seed
from pubench.testing.contracts import LearnerContract
from pubench.types import PUData, Resources, Table, Tags
from pubench_plugins.learners.catboost import CatBoost
from pubench_plugins.learners.histgb import HistGB
from pubench_plugins.learners.lightgbm import LightGBM
from pubench_plugins.learners.logistic import Logistic
from pubench_plugins.learners.xgboost import XGBoost

ONE = Resources(n_threads=1)
REGISTRY = load_registry()
LEARNERS = REGISTRY.names(Kind.LEARNER)


def made(name: str, **params: Any) -> Learner:
    """The learner of this name; 20 trees unless told otherwise, if it has trees."""
    plugin = REGISTRY.find(name, Kind.LEARNER).plugin
    learner = plugin(**({"trees": 20} if "trees" in plugin.space else {}) | params)
    assert isinstance(learner, Learner)
    return learner


class TestCatBoost(LearnerContract):
    plugin = CatBoost(trees=20)


class TestHistGB(LearnerContract):
    plugin = HistGB(trees=20)


class TestLightGBM(LearnerContract):
    plugin = LightGBM(trees=20)


class TestLogistic(LearnerContract):
    plugin = Logistic()


class TestXGBoost(LearnerContract):
    plugin = XGBoost(trees=20)


def test_all_built_ins_are_checked() -> None:
    checked = (TestCatBoost, TestHistGB, TestLightGBM, TestLogistic, TestXGBoost)
    assert sorted(test.plugin.name for test in checked) == LEARNERS


@pytest.fixture(params=LEARNERS)
def learner(request: pytest.FixtureRequest) -> Learner:
    return made(request.param)


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


def trained(learner: Learner, X: Table, tags: Tags, seed: int = 0) -> Model:
    return learner.train(learner.prepare(X, ONE), tags, Seed(seed), ONE)


def scores(learner: Learner, X: Table, tags: Tags, seed: int = 0) -> Any:
    return trained(learner, X, tags, seed).predict(X, ONE)


def test_it_predicts_probabilities(learner: Learner) -> None:
    X, target = draw()
    found = scores(type(learner)(), X, Tags(target))
    assert found.mean() == pytest.approx(target.mean(), rel=0.1)


def test_a_soft_tag_is_a_row_that_counts_twice(learner: Learner) -> None:
    """A share as positive, the rest as negative: as if two rows shared its weight."""
    X, target = draw()
    share = np.where(target, 0.8, 0.01)
    examples = Tags(share).examples()
    spelled_out = Tags(examples.positive.astype(float), examples.weight)
    calm = {"random_cuts": False, "features": 1.0, "random_strength": 0.01}
    same = made(learner.name, **{name: value for name, value in calm.items() if name in learner.space})
    soft = scores(same, X, Tags(share))
    twice = trained(same, X.take(examples.rows), spelled_out).predict(X, ONE)
    # Bins are those of other rows: close, not equal.
    assert np.corrcoef(soft, twice)[0, 1] > 0.99
    assert soft.mean() == pytest.approx(twice.mean(), rel=0.05)


def test_a_flag_for_missing_values_counts_for_its_feature(learner: Learner) -> None:
    X, _ = draw()
    found = trained(learner, X, Tags(np.isnan(X.values[:, 1]).astype(float))).importances()
    assert found[1] > 0.5


def test_a_table_with_other_features_is_refused(learner: Learner) -> None:
    X, target = draw()
    model = trained(learner, X, Tags(target))
    with pytest.raises(DataError, match="trained on 4 features; the table has 3"):
        model.predict(Table.from_array(X.values[:, :3]), ONE)


@pytest.mark.parametrize("name", LEARNERS)
def test_naive_ranks_hidden_positives_high(name: str) -> None:
    X, target = draw()
    labelled = target & (np.arange(3000) % 2 == 0)
    method: Any = REGISTRY.find("naive").plugin()
    fitted = method.fit(PUData(X, labelled), Parts(learner=made(name)), Seed(0), ONE)
    hidden = target & ~labelled
    found = fitted.score(X, ONE).values
    assert area(hidden[~labelled], found[~labelled]) > 0.9

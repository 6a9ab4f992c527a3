"""What every built-in learner promises, checked on all of them."""

from typing import Any

import numpy as np
import pytest

from pubench.api.method import Parts
from pubench.api.plugin import Kind, Learner, Model
from pubench.api.registry import load_registry
from pubench.api.trainer import Trainer
from pubench.errors import DataError
from pubench.seeds import Seed
from pubench.testing.contracts import LearnerContract
from pubench.types import PUData, Resources, Table, Tags
from pubench_plugins.learners.catboost import CatBoost
from pubench_plugins.learners.forest import Forest
from pubench_plugins.learners.histgb import HistGB
from pubench_plugins.learners.lightgbm import LightGBM
from pubench_plugins.learners.logistic import Logistic
from pubench_plugins.learners.mlp import MLP
from pubench_plugins.learners.xgboost import XGBoost

ONE = Resources(n_threads=1)
REGISTRY = load_registry()
LEARNERS = REGISTRY.names(Kind.LEARNER)
#: What keeps a learner quick, where it has such a parameter.
QUICK = {"trees": 20, "steps": 400}


def made(name: str, **params: Any) -> Learner:
    """The learner of this name; 20 trees, or 400 steps, by default, if it has these."""
    plugin = REGISTRY.find(name, Kind.LEARNER).plugin
    learner = plugin(**{key: value for key, value in QUICK.items() if key in plugin.space} | params)
    assert isinstance(learner, Learner)
    return learner


#: For the others, the embedding fills missing values in and makes a flag of its own.
TAKE_MISSING = [name for name in LEARNERS if made(name).takes.missing]


class TestCatBoost(LearnerContract):
    plugin = CatBoost(trees=20)


class TestForest(LearnerContract):
    plugin = Forest(trees=20)


class TestHistGB(LearnerContract):
    plugin = HistGB(trees=20)


class TestLightGBM(LearnerContract):
    plugin = LightGBM(trees=20)


class TestLogistic(LearnerContract):
    plugin = Logistic()


class TestMLP(LearnerContract):
    plugin = MLP(steps=400)


class TestXGBoost(LearnerContract):
    plugin = XGBoost(trees=20)


class TestLargeCatBoost(LearnerContract):
    plugin = CatBoost(trees=20, depth=6, l2=0.01, rows=0.8)


class TestLargeLightGBM(LearnerContract):
    plugin = LightGBM(
        trees=20,
        depth=16,
        leaves=63,
        l2=0.001,
        min_hessian=0.001,
        random_cuts=False,
        features=0.8,
        rows=0.8,
    )


class TestStoppingLightGBM(LearnerContract):
    plugin = LightGBM(trees=300, learning_rate=0.3, l2=0.1, min_hessian=0.001, stop_share=0.2)


class TestLargeXGBoost(LearnerContract):
    plugin = XGBoost(
        trees=40,
        learning_rate=0.3,
        depth=16,
        leaves=63,
        l2=0.001,
        min_hessian=0.001,
        tree_features=0.8,
        rows=0.8,
        boost_from_average=False,
    )


def test_all_built_ins_are_checked() -> None:
    checked = (TestCatBoost, TestForest, TestHistGB, TestLightGBM, TestLogistic, TestMLP, TestXGBoost)
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


@pytest.mark.parametrize("trees", [20, 200])
@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_it_predicts_probabilities_although_it_starts_from_one_half(name: str, trees: int) -> None:
    """Twenty trees at a small rate do not reach a small share of positives by themselves."""
    X, target = draw()
    weight = np.where(target, 0.5, 1.0)
    slow = made(name, trees=trees, learning_rate=0.02, boost_from_average=False)
    found = scores(slow, X, Tags(target, weight))
    assert np.average(found, weights=weight) == pytest.approx(np.average(target, weights=weight), rel=1e-4)


@pytest.mark.parametrize("stop_share", [0.0, 0.3])
def test_weak_features_are_used_although_the_first_trees_only_lower_the_level(stop_share: float) -> None:
    """From one half no second tree gains more than it costs here: all rows but a few would tie."""
    generator = np.random.default_rng(0)
    target = np.arange(500) < 20
    values = (generator.random((500, 39)) < 0.03).astype(float)
    values[target, 0] = generator.random(20) < 0.19
    trainer = Trainer.of(made("lightgbm", trees=50, stop_share=stop_share), Table.from_array(values), ONE)
    found = trainer.train(Tags(target.astype(float)), Seed(0), ONE).predict(trainer.X, ONE)
    assert len(np.unique(found)) > 10
    assert found.mean() == pytest.approx(target.mean(), rel=0.1)


@pytest.mark.parametrize("name", ["lightgbm", "xgboost", "histgb"])
def test_leaves_are_limited_by_depth_and_by_number(name: str) -> None:
    X, target = draw()
    free = {"l2": 0.001, "min_hessian": 0.001, "min_leaf_rows": 1, "random_cuts": False}
    free = {key: value for key, value in free.items() if key in made(name).space}

    def found(**limits: int) -> Any:
        return scores(made(name, **free, **limits), X, Tags(target))

    np.testing.assert_array_equal(found(depth=3), found(depth=3, leaves=8))
    assert len(np.unique(found(trees=20, depth=16, leaves=2))) < len(np.unique(found(depth=3)))
    assert not np.array_equal(found(depth=16, leaves=12), found(depth=3))


def test_a_soft_tag_is_a_row_that_counts_twice(learner: Learner) -> None:
    """A share as positive, the rest as negative: as if two rows shared its weight."""
    X, target = draw()
    share = np.where(target, 0.8, 0.01)
    examples = Tags(share).examples()
    spelled_out = Tags(examples.positive.astype(float), examples.weight)
    calm = {"random_cuts": False, "features": 1.0, "random_strength": 0.01}
    space = learner.space
    same = made(
        learner.name, **{name: v for name, v in calm.items() if name in space and space[name].contains(v)}
    )
    soft = scores(same, X, Tags(share))
    twice = trained(same, X.take(examples.rows), spelled_out).predict(X, ONE)
    # Bins are those of other rows: close, not equal.
    assert np.corrcoef(soft, twice)[0, 1] > 0.99
    assert soft.mean() == pytest.approx(twice.mean(), rel=0.05)


@pytest.mark.parametrize("name", TAKE_MISSING)
def test_a_flag_for_missing_values_counts_for_its_feature(name: str) -> None:
    learner = made(name)
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

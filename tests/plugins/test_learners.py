"""What every built-in learner promises, checked on all of them."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from pubench.errors import DataError, NotApplicableError
from pubench.method_api import Parts
from pubench.plugin_api import Kind, Learner, Model
from pubench.registry import load_registry
from pubench.seeds import Seed
from pubench.types import Feature, PUData, Resources, Table, Tags

ONE = Resources(n_threads=1)
REGISTRY = load_registry()
LEARNERS = REGISTRY.names(Kind.LEARNER)


def made(name: str, **params: Any) -> Learner:
    """The learner of this name; 20 trees unless told otherwise, if it has trees."""
    plugin = REGISTRY.find(name, Kind.LEARNER).plugin
    learner = plugin(**({"trees": 20} if "trees" in plugin.space else {}) | params)
    assert isinstance(learner, Learner)
    return learner


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


def test_it_learns_with_missing_values(learner: Learner) -> None:
    X, target = draw()
    found = scores(learner, X, Tags(target))
    assert found.shape == (3000,)
    assert found.dtype == np.float64
    assert found.min() >= 0
    assert found.max() <= 1
    assert area(target, found) > 0.95


def test_it_predicts_probabilities(learner: Learner) -> None:
    X, target = draw()
    found = scores(type(learner)(), X, Tags(target))
    assert found.mean() == pytest.approx(target.mean(), rel=0.1)


def test_equal_seeds_give_equal_models(learner: Learner) -> None:
    X, target = draw()
    np.testing.assert_array_equal(scores(learner, X, Tags(target)), scores(learner, X, Tags(target)))


@pytest.mark.parametrize("absent", [1000, 2500])
def test_rows_of_weight_zero_are_as_good_as_absent(learner: Learner, absent: int) -> None:
    X, target = draw()
    wrong = target.copy()
    wrong[-absent:] = True
    weight = np.ones(3000)
    weight[-absent:] = 0
    prepared = learner.prepare(X, ONE)
    found = learner.train(prepared, Tags(wrong, weight), Seed(0), ONE).predict(X, ONE)
    other = learner.train(prepared, Tags(target, weight), Seed(0), ONE).predict(X, ONE)
    np.testing.assert_array_equal(found, other)
    assert found.mean() < 0.2


def test_weights_matter(learner: Learner) -> None:
    X, target = draw()
    heavy = scores(learner, X, Tags(target, np.where(target, 50.0, 1.0)))
    light = scores(learner, X, Tags(target, np.where(target, 0.02, 1.0)))
    assert heavy.mean() > light.mean()


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


def test_a_soft_tag_can_weigh(learner: Learner) -> None:
    X, target = draw()
    share = np.where(target, 0.8, 0.01)
    weight = np.where(np.arange(3000) < 2000, 1.0, 0.0)
    other = np.where(np.arange(3000) < 2000, share, 0.5)
    np.testing.assert_array_equal(
        scores(learner, X, Tags(share, weight)), scores(learner, X, Tags(other, weight))
    )


def test_trainings_share_what_was_prepared(learner: Learner) -> None:
    X, target = draw()
    prepared = learner.prepare(X, ONE)
    first = learner.train(prepared, Tags(target), Seed(0), ONE).predict(X, ONE)
    learner.train(prepared, Tags(~target), Seed(0), ONE)
    learner.train(prepared, Tags(target, np.where(target, 9.0, 1.0)), Seed(0), ONE)
    again = learner.train(prepared, Tags(target), Seed(0), ONE).predict(X, ONE)
    np.testing.assert_array_equal(first, again)


def test_trainings_side_by_side_equal_those_in_turn(learner: Learner) -> None:
    """Hard and soft, weighted and not, of all rows and of few, all at once on one prepared table."""
    X, target = draw()
    every, few = np.where(target, 2.0, 1.0), (np.arange(3000) % 5 == 0) + 0.0
    kinds = [
        Tags(target),
        Tags(1.0 - target),
        Tags(target, every),
        Tags(target, few),
        Tags(np.where(target, 0.9, 0.02)),
    ]
    jobs = [(tags, number) for number in range(4) for tags in kinds]
    prepared = learner.prepare(X, ONE)

    def member(job: tuple[Tags, int]) -> Any:
        return learner.train(prepared, job[0], Seed(job[1]), ONE).predict(X, ONE)

    alone = [member(job) for job in jobs]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(member, jobs))
    np.testing.assert_array_equal(alone, together)


def test_one_model_serves_many_threads(learner: Learner) -> None:
    X, target = draw()
    model = trained(learner, X, Tags(target))
    expected = model.predict(X, ONE)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: model.predict(X, Resources(n_threads=1 + n % 2)), range(12)))
    np.testing.assert_array_equal(found, [expected] * 12)


def test_importances_find_the_feature_that_matters(learner: Learner) -> None:
    X, target = draw()
    found = trained(learner, X, Tags(target)).importances()
    assert found.shape == (4,)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    assert found[0] > 0.5


def test_a_flag_for_missing_values_counts_for_its_feature(learner: Learner) -> None:
    X, _ = draw()
    found = trained(learner, X, Tags(np.isnan(X.values[:, 1]).astype(float))).importances()
    assert found[1] > 0.5


def test_a_table_with_other_features_is_refused(learner: Learner) -> None:
    X, target = draw()
    model = trained(learner, X, Tags(target))
    with pytest.raises(DataError, match="trained on 4 features; the table has 3"):
        model.predict(Table.from_array(X.values[:, :3]), ONE)


def test_missing_values_may_be_new(learner: Learner) -> None:
    X, target = draw()
    holes = X.values.copy()
    holes[::7, 0] = np.nan
    found = trained(learner, X, Tags(target)).predict(Table.from_array(holes), ONE)
    assert np.isfinite(found).all()


def test_a_feature_may_be_empty_or_constant(learner: Learner) -> None:
    X, target = draw()
    values = X.values.copy()
    values[:, 2], values[:, 3] = np.nan, 7
    found = trained(learner, Table.from_array(values), Tags(target))
    assert area(target, found.predict(Table.from_array(values), ONE)) > 0.95
    assert found.importances()[2:].sum() == 0


def test_nothing_but_constants_is_learned_or_declined(learner: Learner) -> None:
    X = Table.from_array(np.ones((50, 3)))
    try:
        found = scores(learner, X, Tags((np.arange(50) < 10).astype(float)))
    except NotApplicableError:
        return
    np.testing.assert_allclose(found, 0.2, rtol=1e-3)


def test_values_may_be_float32(learner: Learner) -> None:
    X, target = draw()
    single = Table.from_array(X.values.astype(np.float32))
    assert area(target, scores(learner, single, Tags(target))) > 0.95


def test_it_says_whether_it_can_use_cuda(learner: Learner) -> None:
    problem = learner.cuda_problem()
    assert problem is None or problem
    assert learner.supports_cuda or problem


def test_every_parameter_says_what_it_means(learner: Learner) -> None:
    assert all(dimension.help for dimension in learner.space.values())


@pytest.mark.parametrize("name", [name for name in LEARNERS if REGISTRY.find(name).plugin.takes.categorical])  # type: ignore[attr-defined]
def test_categories_are_not_taken_for_quantities(name: str) -> None:
    generator = np.random.default_rng(0)
    codes = generator.integers(0, 20, 4000).astype(float)
    target = np.isin(codes, [3, 8, 13]) & (generator.random(4000) < 0.5)
    features = (Feature("city", "categorical", tuple(f"c{i}" for i in range(20))),)
    X = Table(codes.reshape(-1, 1), features)
    found = scores(made(name), X, Tags(target.astype(float)))
    assert found[codes == 8].mean() > 5 * found[codes == 9].mean()


@pytest.mark.parametrize("name", LEARNERS)
def test_naive_ranks_hidden_positives_high(name: str) -> None:
    X, target = draw()
    labelled = target & (np.arange(3000) % 2 == 0)
    method: Any = REGISTRY.find("naive").plugin()
    fitted = method.fit(PUData(X, labelled), Parts(learner=made(name)), Seed(0), ONE)
    hidden = target & ~labelled
    found = fitted.score(X, ONE).values
    assert area(hidden[~labelled], found[~labelled]) > 0.9

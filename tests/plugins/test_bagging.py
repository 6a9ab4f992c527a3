"""Bags, their mean, and the scores of rows that were not in them."""

from pathlib import Path

import numpy as np
import pytest

from pubench import DataError, Parts, PUData, Resources, Seed, Table, auc
from pubench_plugins.learners.lightgbm import LightGBM
from pubench_plugins.learners.logistic import Logistic
from pubench_plugins.methods.bagging import Bagging, bag_tags

ONE = Resources(n_threads=1)


def draw(rows: int = 2000, apart: float = 2.0) -> tuple[PUData, np.ndarray]:
    """Rows of which one in ten is positive, half of these labelled."""
    generator = np.random.default_rng(3)
    y = np.arange(rows) % 10 == 0
    X = generator.standard_normal((rows, 4))
    X[y, :2] += apart
    return PUData(Table.from_array(X), np.arange(rows) % 20 == 0), y


@pytest.mark.parametrize("ratio", [0.5, 1.0, 30.0])
def test_a_bag_holds_all_labelled_rows_and_draws_with_replacement(ratio: float) -> None:
    data, _ = draw()
    tags = bag_tags(data, ratio, Seed(0), 0)
    assert tags.weight is not None
    assert np.all(tags.weight[data.s] == 1)
    assert np.all(tags.positive[data.s] == 1)
    counts = tags.weight[~data.s]
    assert counts.sum() == ratio * 100
    assert np.all(counts == np.round(counts))
    if ratio == 30.0:
        # 3000 draws from 1900 rows: with replacement about 1 - exp(-3000/1900) of them are drawn, some often.
        assert np.mean(counts > 0) == pytest.approx(0.794, abs=0.03)
        assert counts.max() >= 4


def test_bags_differ_by_member_and_not_by_order() -> None:
    data, _ = draw()
    first, second = (bag_tags(data, 1.0, Seed(0), member).counted for member in (0, 1))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(second, bag_tags(data, 1.0, Seed(0), 1).counted)


def test_a_bag_has_a_negative_even_for_one_labelled_row() -> None:
    data, _ = draw(40)
    s = np.arange(40) == 0
    assert len(bag_tags(PUData(data.X, s), 0.5, Seed(0), 0).counted) == 2


def test_the_score_is_the_mean_over_members() -> None:
    data, y = draw()
    fitted = Bagging(members=7).fit(data, Parts(learner=Logistic()), Seed(0), ONE)
    each = [member.predict(data.X, ONE) for member in fitted.ensemble.members]
    assert len(each) == 7
    np.testing.assert_allclose(fitted.score(data.X, ONE).values, np.mean(each, axis=0))
    assert auc(y[~data.s], fitted.score(data.X, ONE).values[~data.s]) > 0.9


def test_out_of_bag_scores_leave_out_the_members_that_saw_the_row() -> None:
    data, y = draw()
    fitted = Bagging(members=8, ratio=10.0).fit(data, Parts(learner=LightGBM(trees=20)), Seed(5), ONE)
    found = fitted.out_of_bag(ONE)
    assert np.isnan(found[data.s]).all()
    each = np.array([member.predict(data.X, ONE) for member in fitted.ensemble.members])
    bags = [bag_tags(data, 10.0, Seed(5), member).weight for member in range(8)]
    for row in np.flatnonzero(~data.s)[:50]:
        out = [weight[row] == 0 for weight in bags if weight is not None]
        assert found[row] == pytest.approx(each[out, row].mean()) if any(out) else np.isnan(found[row])
    known = ~np.isnan(found)
    assert auc(y[known], found[known]) > 0.9


def test_out_of_bag_scores_need_the_training_rows(tmp_path: Path) -> None:
    data, _ = draw(200)
    parts = Parts(learner=Logistic())
    Bagging(members=5).fit(data, parts, Seed(0), ONE).save(tmp_path)
    loaded = Bagging(members=5).load(tmp_path, parts)
    np.testing.assert_equal(loaded.chosen["members"], 5)
    with pytest.raises(DataError, match="read from files"):
        loaded.out_of_bag(ONE)

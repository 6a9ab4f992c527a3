"""Permutation importance: AUL_PU drops only for features in use, and results depend only on the seed."""

import numpy as np
import pytest

from pubench.metrics.aul import aul_pu_score
from pubench.model.importance import permutation_importance, sampled_rows
from pubench.seeds import Seed
from pubench.types import PUData, Resources, Scores, Table


@pytest.fixture(scope="module")
def data() -> PUData:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(30_000, 3))
    s = (X[:, 0] + generator.normal(size=30_000) > 3) & (generator.random(30_000) < 0.5)
    return PUData(Table.from_array(X), s)


def by_first(X: Table, resources: Resources) -> Scores:  # noqa: ARG001 - what a fitted method's score takes
    return Scores(X.values[:, 0] + 0.01 * X.values[:, 1])


def test_only_features_that_are_used_are_important(data: PUData) -> None:
    reported: list[float] = []
    found = permutation_importance(by_first, data, Seed(0), Resources(progress=reported.append))
    used, hardly, unused = (item.drop for item in found.features)
    assert [item.feature for item in found.features] == ["x0", "x1", "x2"]
    assert used.low > 0.2
    assert abs(hardly.difference) < 0.01
    assert unused.difference == 0
    assert unused.p_value == 1
    # Without the feature the order is random: AUL_PU drops to about one half.
    assert used.difference == pytest.approx(found.aul_pu - 0.5, abs=0.05)
    assert reported == pytest.approx([1 / 3, 2 / 3, 1])


def test_the_shuffle_depends_only_on_name_and_seed(data: PUData) -> None:
    first = permutation_importance(by_first, data, Seed(4), Resources())
    assert permutation_importance(by_first, data, Seed(4), Resources()) == first
    assert permutation_importance(by_first, data, Seed(5), Resources()) != first


def test_the_table_is_not_modified(data: PUData) -> None:
    before = data.X.values.copy()
    permutation_importance(by_first, data, Seed(0), Resources())
    np.testing.assert_array_equal(data.X.values, before)


@pytest.mark.parametrize(
    ("labelled", "n", "expected"), [(10, 60_000, 20_000), (2_000, 60_000, 42_000), (5, 100, 100)]
)
def test_the_sample_has_all_labelled_rows_and_enough_others(labelled: int, n: int, expected: int) -> None:
    s = np.arange(n) % (n // labelled) == 0
    data = PUData(Table.from_array(np.arange(n, dtype=np.float64)[:, None]), s)
    rows = sampled_rows(data, Seed(1))
    assert len(rows) == expected
    assert np.all(np.diff(rows) > 0)
    assert data.s[rows].sum() == s.sum()


def test_aul_pu_is_that_of_the_sampled_rows(data: PUData) -> None:
    found = permutation_importance(by_first, data, Seed(0), Resources())
    rows = sampled_rows(data, Seed(0).child("rows"))
    expected = aul_pu_score(data.s[rows], by_first(data.X.take(rows), Resources()).values)
    assert found.aul_pu == expected
    assert (found.n_rows, found.n_labelled) == (len(rows), data.n_labelled)

"""mahalanobis keeps the promises of a similarity, and what it alone promises."""

import numpy as np
import pytest
from pubench import PUData, Resources, Seed, Table
from pubench.testing.contracts import SimilarityContract

from pubench_mahalanobis import Mahalanobis, width_for

ONE = Resources(n_threads=1)


class TestMahalanobis(SimilarityContract):
    """One test per promise."""

    plugin = Mahalanobis()


def correlated(rows: int = 500) -> PUData:
    """Return rows of two features that nearly say the same; the first row is labelled."""
    first = np.linspace(-2, 2, rows)
    noise = np.cos(np.arange(rows)) / 10
    return PUData(Table.from_array(np.column_stack([first, first + noise])), np.arange(rows) == 0)


@pytest.mark.parametrize("expected", [0.5, 1.0, 8.0])
def test_as_many_tags_are_expected_as_asked_for(expected: float) -> None:
    """The width is made for that."""
    fitted = Mahalanobis(expected=expected).fit(correlated(), Seed(0), ONE)
    assert fitted.affinity.expected_positives == pytest.approx(expected, rel=1e-6)


def test_distances_are_those_of_the_formula() -> None:
    """Against the formula word by word, with the covariance inverted."""
    data = correlated()
    fitted = Mahalanobis(shrinkage=0.2).fit(data, Seed(0), ONE)
    values = data.X.values
    covariance = np.cov(values, rowvar=False)
    shrunk = 0.8 * covariance + 0.2 * np.trace(covariance) / 2 * np.eye(2)
    gaps = values - values[0]
    squares = np.einsum("ij,jk,ik->i", gaps, np.linalg.inv(shrunk), gaps)
    np.testing.assert_allclose(fitted.positives.squares(data.X, ONE), squares, atol=1e-9)


def test_full_shrinkage_is_euclidean() -> None:
    """Up to one scale for all features."""
    data = correlated()
    found = Mahalanobis(shrinkage=1.0).fit(data, Seed(0), ONE).positives.squares(data.X, ONE)
    gaps = ((data.X.values - data.X.values[0]) ** 2).sum(axis=1)
    ratio = found[1:] / gaps[1:]
    np.testing.assert_allclose(ratio, ratio[0])


def test_a_rank_above_one_asks_for_company() -> None:
    """A labelled row by itself in the midst of the others does not draw tags; a group of them does."""
    values = np.concatenate([np.linspace(0, 1, 200), 5 + np.linspace(0, 0.1, 10)])[:, None]
    labelled = (np.arange(210) == 100) | (np.arange(210) >= 205)
    data = PUData(Table.from_array(values), labelled)
    near_one, near_many = (Mahalanobis(rank=rank).fit(data, Seed(0), ONE).affinity.values for rank in (1, 4))
    assert near_one[99] > 0.5
    assert near_many[99] < 0.05
    assert near_many[200:205].min() > 0.5


def test_width_where_too_many_rows_are_at_distance_zero() -> None:
    """The sum cannot be less than their number: the width is almost 0, and above 0."""
    assert 0 < width_for(np.array([0.0, 0.0, 0.0, 1.0]), total=1.0) < 1e-3

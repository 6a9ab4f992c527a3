"""Recall over depth counts unlabeled rows, and its spread is that of a share of trials."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom

from pubench.decision.recall import RecallCurve, found_among

labels_and_scores = st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=2, max_size=60).filter(
    lambda rows: 0 < sum(label for label, _ in rows) < len(rows)
)


@given(labels_and_scores)
def test_it_is_the_share_of_labelled_rows_above_the_rows_of_that_depth(rows: list[tuple[bool, int]]) -> None:
    s, scores = (np.array(column) for column in zip(*rows, strict=True))
    curve = RecallCurve.of(s, scores)
    assert (curve.share[0], curve.recall[0], curve.share[-1], curve.recall[-1]) == (0, 0, 1, 1)
    assert (np.diff(curve.share) >= 0).all()
    assert (np.diff(curve.recall) >= 0).all()
    for threshold in np.unique(
        scores
    ):  # the rows above a threshold are a vertex or lie on a straight line of ties
        depth, found = np.mean(scores[~s] >= threshold), np.mean(scores[s] >= threshold)
        at = np.flatnonzero(np.isclose(curve.share, depth))
        reached = curve.recall[at] if len(at) else curve.at(np.array([depth]))
        assert reached.min() - 1e-9 <= found <= reached.max() + 1e-9


def test_a_threshold_of_few_rows_widens_the_spread_and_a_known_one_does_not() -> None:
    generator = np.random.default_rng(0)
    s = np.arange(2000) < 100
    scores = generator.standard_normal(2000) + 2.0 * s
    curve, depth = RecallCurve.of(s, scores), np.array([0.01])
    known, unknown = (curve.spread(depth, n) for n in (curve.n_unlabeled, 10**6))
    assert known.a[0] + known.b[0] == pytest.approx(101)
    assert unknown.a[0] + unknown.b[0] < 90
    assert known.a[0] / (known.a[0] + known.b[0]) == pytest.approx(
        unknown.a[0] / (unknown.a[0] + unknown.b[0])
    )


@given(st.integers(0, 300), st.floats(0.6, 50), st.floats(0.6, 50), st.floats(0.01, 0.49))
def test_the_number_found_has_ordered_quantiles_among_those_hidden(
    hidden: int, a: float, b: float, tail: float
) -> None:
    low, high = found_among(hidden, (a, b), tail), found_among(hidden, (a, b), 1 - tail)
    assert 0 <= low <= high <= hidden


def test_the_number_found_is_beta_binomial() -> None:
    for tail in (0.025, 0.5, 0.975):
        assert found_among(40, (3.0, 7.0), tail) == betabinom.ppf(tail, 40, 3, 7)

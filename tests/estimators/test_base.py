"""The threshold from which on rows are predicted positive."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pubench.estimators.base import threshold_for
from pubench.types import FloatVector

SCORES = arrays.arrays(
    np.float64,
    st.integers(1, 30),
    elements=st.one_of(st.integers(0, 4).map(float), st.floats(allow_nan=False, allow_infinity=False)),
)


@given(SCORES, st.floats(0, 40))
def test_no_other_threshold_reaches_a_closer_number(scores: FloatVector, count: float) -> None:
    reached = int((scores >= threshold_for(scores, count)).sum())
    possible = [int((scores >= value).sum()) for value in scores]
    assert reached in possible
    assert abs(reached - count) == min(abs(number - count) for number in possible)


@given(st.integers(1, 30), st.integers(1, 30))
def test_without_ties_the_number_is_exact(rows: int, count: int) -> None:
    scores = np.random.default_rng(rows).permutation(rows) / 7
    assert (scores >= threshold_for(scores, count)).sum() == min(count, rows)


def test_it_lies_halfway_between_two_scores() -> None:
    assert threshold_for(np.array([0.0, 1.0, 3.0]), 1) == 2.0


def test_adjacent_floats_are_separated() -> None:
    scores = np.array([1.0, np.nextafter(1.0, 2.0)])
    assert (scores >= threshold_for(scores, 1)).tolist() == [False, True]

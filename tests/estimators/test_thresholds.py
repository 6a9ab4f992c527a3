"""Where predictions part rows."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pubench.estimators.thresholds import threshold_for
from pubench.types import FloatVector

SCORES = arrays.arrays(
    np.float64,
    st.integers(1, 30),
    elements=st.one_of(st.integers(0, 4).map(float), st.floats(allow_nan=False, allow_infinity=False)),
)


@given(SCORES, st.floats(0, 40))
def test_no_other_threshold_lets_a_nearer_number_through(scores: FloatVector, wanted: float) -> None:
    reached = int((scores >= threshold_for(scores, wanted)).sum())
    possible = [int((scores >= value).sum()) for value in scores]
    assert reached in possible
    assert abs(reached - wanted) == min(abs(count - wanted) for count in possible)


@given(st.integers(1, 30), st.integers(1, 30))
def test_without_ties_exactly_as_many_as_wanted(rows: int, wanted: int) -> None:
    scores = np.random.default_rng(rows).permutation(rows) / 7
    assert (scores >= threshold_for(scores, wanted)).sum() == min(wanted, rows)


def test_it_lies_halfway() -> None:
    assert threshold_for(np.array([0.0, 1.0, 3.0]), 1) == 2.0


def test_neighbouring_numbers_are_told_apart() -> None:
    scores = np.array([1.0, np.nextafter(1.0, 2.0)])
    assert (scores >= threshold_for(scores, 1)).tolist() == [False, True]

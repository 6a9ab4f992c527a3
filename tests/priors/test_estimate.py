"""Shares of positives among all rows and among unlabeled ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubench import prior_in_all, prior_in_unlabeled
from pubench.errors import ParameterError


def test_a_worked_example() -> None:
    """Of 100 rows 10 are labelled and 9 of the 90 others are positive: 19 in all."""
    assert prior_in_all(0.1, 0.1) == pytest.approx(0.19)
    assert prior_in_unlabeled(0.19, 0.1) == pytest.approx(0.1)


@given(st.floats(0, 1), st.floats(0, 0.99))
def test_one_undoes_the_other(inside: float, labelled: float) -> None:
    assert prior_in_unlabeled(max(labelled, prior_in_all(inside, labelled)), labelled) == pytest.approx(
        inside, abs=1e-9
    )


@pytest.mark.parametrize(
    ("prior", "labelled"), [(0.05, 0.1), (-0.1, 0.0), (1.2, 0.1), (0.5, 1.5), (1.0, 1.0)]
)
def test_what_can_not_be_is_refused(prior: float, labelled: float) -> None:
    with pytest.raises(ParameterError):
        prior_in_unlabeled(prior, labelled)

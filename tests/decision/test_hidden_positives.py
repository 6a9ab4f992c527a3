"""Hidden positives follow from a prior, are estimated where classes are apart, and are withheld otherwise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubench.decision.hidden_positives import (
    HiddenPositives,
    Withheld,
    estimate_hidden,
    hidden_from_prior,
)
from pubench.errors import DataError, ParameterError
from pubench.seeds import Seed
from pubench.types import BoolVector, FloatVector


def sample(
    apart: float, rows: int = 20_000, prior: float = 0.05
) -> tuple[BoolVector, BoolVector, FloatVector]:
    generator = np.random.default_rng(3)
    y = generator.random(rows) < prior
    return y, y & (generator.random(rows) < 0.5), generator.standard_normal(rows) + apart * y


@given(st.integers(2, 10_000_000), st.floats(0.001, 0.9), st.floats(0, 1))
def test_a_prior_of_all_rows_counts_labelled_ones_and_one_of_unlabeled_rows_does_not(
    n_rows: int, prior: float, share: float
) -> None:
    n_labelled = int(share * prior * n_rows)
    whole = hidden_from_prior(prior, n_rows, n_labelled)
    assert whole.estimate == pytest.approx(prior * n_rows - n_labelled)
    assert whole.low == whole.estimate == whole.high
    unlabeled = hidden_from_prior(prior, n_rows, n_labelled, sampling="case-control")
    assert unlabeled.estimate == pytest.approx(prior * (n_rows - n_labelled))


def test_three_priors_are_a_range() -> None:
    hidden = hidden_from_prior((0.01, 0.02, 0.04), 1000, 5)
    assert (hidden.low, hidden.estimate, hidden.high) == pytest.approx((5, 15, 35))
    assert "0.01 to 0.04" in hidden.source


def test_impossible_priors_are_refused() -> None:
    with pytest.raises(DataError, match="labelled positive already"):
        hidden_from_prior(0.01, 1000, 20)
    with pytest.raises(ParameterError, match="ascending"):
        hidden_from_prior((0.3, 0.2, 0.4), 1000, 20)
    with pytest.raises(ParameterError, match="unlabeled"):
        hidden_from_prior(0.5, 20, 20)


def test_a_number_outside_of_its_own_range_is_no_number() -> None:
    with pytest.raises(ParameterError, match="its own range"):
        HiddenPositives(728_194, 1_000, 20_000, "elkan-weighted")


def test_among_twice_as_many_rows_there_are_twice_as_many_and_no_number_stays_none() -> None:
    assert HiddenPositives(10, 5, 20, "x").scaled(2) == HiddenPositives(20, 10, 40, "x")
    assert Withheld("why").scaled(2) == Withheld("why")


def test_a_number_is_said_with_its_range_and_its_source() -> None:
    assert (
        HiddenPositives(1000, 1000, 1000, "a guess").in_words == "1,000 among the unlabeled rows, by a guess"
    )
    assert "1,000 (500 to 2,000) among" in HiddenPositives(1000, 500, 2000, "a guess").in_words
    assert Withheld("It is a secret.").in_words == "not known. It is a secret."


def test_where_classes_are_apart_the_estimate_is_right() -> None:
    y, s, scores = sample(apart=5.0)
    hidden = estimate_hidden(s, scores, Seed(0))
    assert isinstance(hidden, HiddenPositives)
    assert hidden.low <= (y & ~s).sum() <= hidden.high
    assert hidden.estimate == pytest.approx((y & ~s).sum(), rel=0.1)


def test_the_scale_of_the_scores_does_not_matter() -> None:
    _, s, scores = sample(apart=5.0)
    assert estimate_hidden(s, scores, Seed(0)) == estimate_hidden(s, np.exp(scores), Seed(0))


@pytest.mark.parametrize("apart", [0.0, 1.0, 2.0])
def test_where_classes_overlap_no_number_is_given(apart: float) -> None:
    _, s, scores = sample(apart)
    hidden = estimate_hidden(s, scores, Seed(0))
    assert isinstance(hidden, Withheld)
    assert "prior" in hidden.reason


def test_few_labelled_rows_give_no_number() -> None:
    scores = np.arange(1000.0)
    hidden = estimate_hidden(scores >= 990, scores, Seed(0))
    assert hidden == Withheld("An estimate needs at least 20 labelled rows; give a prior.")

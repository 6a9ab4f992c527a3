"""Estimators of the share of positives, on rows whose share is known."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from pubench import PriorEstimate, Seed, best_bin_prior, elkan_prior, labelling_chance
from pubench.errors import DataError, ParameterError

Estimate = Callable[..., PriorEstimate]
ESTIMATORS: list[Estimate] = [elkan_prior, best_bin_prior]
CHANCES: list[Any] = ["e1", "e2", "e3"]


def draw(
    rows: int, prior: float, chance: float, apart: float, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return s, the exact P(s=1|x) and y of rows whose positives lie `apart` standard deviations off."""
    generator = np.random.default_rng(seed)
    y = generator.random(rows) < prior
    x = generator.standard_normal(rows) + apart * y
    mass = prior * norm.pdf(x - apart)
    return y & (generator.random(rows) < chance), chance * mass / (mass + (1 - prior) * norm.pdf(x)), y


def test_three_estimators_of_c_on_a_worked_example() -> None:
    s = np.array([1, 1, 0, 0, 0], dtype=bool)
    g = np.array([0.6, 0.4, 0.5, 0.7, 0.3])
    assert labelling_chance(s, g, "e1") == pytest.approx(0.5)
    assert labelling_chance(s, g, "e2") == pytest.approx(1.0 / 2.5)
    assert labelling_chance(s, g, "e3") == pytest.approx(0.7)


def test_c_is_not_below_the_labelled_share() -> None:
    assert labelling_chance([1, 1, 0, 0], [0.1, 0.1, 0.0, 0.0], "e1") == 0.5


@pytest.mark.parametrize("estimator", CHANCES)
@pytest.mark.parametrize("chance", [0.2, 0.5, 0.9])
def test_c_is_found_where_classes_are_apart(estimator: Any, chance: float) -> None:
    s, g, _ = draw(20_000, 0.2, chance, apart=6)
    assert labelling_chance(s, g, estimator) == pytest.approx(chance, abs=0.03)


def test_overlap_misleads_e1_and_e2_but_not_e3() -> None:
    s, g, _ = draw(20_000, 0.05, 0.5, apart=2)
    e1, e2, e3 = (labelling_chance(s, g, name) for name in CHANCES)
    assert max(e1, e2) < 0.25
    assert e3 == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("estimate", ESTIMATORS)
@pytest.mark.parametrize("prior", [0.004, 0.05, 0.3])
def test_the_prior_is_found_where_classes_are_apart(estimate: Estimate, prior: float) -> None:
    s, g, y = draw(60_000, prior, 0.5, apart=6)
    found = estimate(s, g, Seed(0))
    assert found.prior == pytest.approx(y.mean(), rel=0.15)
    assert found.low <= found.prior <= found.high


@pytest.mark.parametrize("seed", range(3))
def test_best_bin_is_closer_than_elkan_where_they_overlap(seed: int) -> None:
    s, g, y = draw(60_000, 0.02, 0.5, apart=3, seed=seed)
    assert elkan_prior(s, g, Seed(0)).prior > 1.5 * y.mean()
    found = best_bin_prior(s, g, Seed(0))
    assert found.prior == pytest.approx(y.mean(), rel=0.3)


def test_intervals_of_best_bin_hold_the_truth_where_classes_are_apart() -> None:
    held = 0
    for seed in range(20):
        s, g, y = draw(10_000, 0.05, 0.5, apart=6, seed=seed)
        found = best_bin_prior(s, g, Seed(seed))
        held += found.low <= y.mean() <= found.high
    assert held >= 16


def test_best_bin_looks_at_the_order_alone() -> None:
    s, g, _ = draw(5000, 0.1, 0.5, apart=3)
    assert best_bin_prior(s, g, Seed(0)) == best_bin_prior(s, np.log(g), Seed(0))


def test_best_bin_takes_many_labelled_rows_by_quantiles() -> None:
    s, g, y = draw(20_000, 0.5, 0.5, apart=6)
    assert s.sum() > 4000
    assert best_bin_prior(s, g, Seed(0)).prior == pytest.approx(y.mean(), rel=0.1)


def test_scores_that_know_nothing_allow_any_prior() -> None:
    generator = np.random.default_rng(0)
    s = np.arange(5000) < 500
    assert best_bin_prior(s, generator.random(5000), Seed(0)).prior > 0.6
    assert best_bin_prior(s, np.ones(5000), Seed(0)).prior == 1


@pytest.mark.parametrize("estimate", ESTIMATORS)
@settings(deadline=None, max_examples=50)
@given(
    scores=st.lists(st.floats(0, 1), min_size=3, max_size=40),
    labelled=st.integers(1, 2),
    seed=st.integers(0, 9),
)
def test_every_estimate_is_a_share_that_can_be(
    estimate: Estimate, scores: list[float], labelled: int, seed: int
) -> None:
    s = np.arange(len(scores)) < labelled
    found = estimate(s, scores, Seed(seed))
    assert s.mean() <= found.low <= found.prior <= found.high <= 1


@pytest.mark.parametrize("estimate", ESTIMATORS)
def test_equal_seeds_give_equal_intervals(estimate: Estimate) -> None:
    s, g, _ = draw(2000, 0.1, 0.5, apart=3)
    assert estimate(s, g, Seed(4)) == estimate(s, g, Seed(4))
    narrow = estimate(s, g, Seed(4), confidence=0.5)
    wide = estimate(s, g, Seed(4), confidence=0.99)
    assert wide.low <= narrow.low <= narrow.high <= wide.high


@pytest.mark.parametrize("estimate", ESTIMATORS)
@pytest.mark.parametrize(
    ("s", "scores"), [([0, 0], [0.1, 0.2]), ([1, 1], [0.1, 0.2]), ([1, 0], [0.1]), ([1, 0], [0.1, np.nan])]
)
def test_what_is_no_pu_data_is_refused(estimate: Estimate, s: list[int], scores: list[float]) -> None:
    with pytest.raises(DataError):
        estimate(s, scores, Seed(0))


def test_other_mistakes_get_a_sentence() -> None:
    with pytest.raises(DataError, match="lies in"):
        elkan_prior([1, 0], [1.5, 0.0], Seed(0))
    with pytest.raises(ParameterError, match="one of e1, e2, e3"):
        labelling_chance([1, 0], [0.5, 0.1], "e4")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="between 0 and 1"):
        best_bin_prior([1, 0], [0.5, 0.1], Seed(0), confidence=1.0)

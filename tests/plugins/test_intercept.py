"""The intercept that makes a model expect the observed number of positives."""

import numpy as np
import pytest
from scipy.special import expit

from pubench_plugins.learners.intercept import intercept


@pytest.mark.parametrize("offset", [-30.0, 0.0, 12.0])
@pytest.mark.parametrize("share", [1e-4, 0.02, 0.5, 0.999])
def test_the_expected_number_of_positives_is_the_observed_one(share: float, offset: float) -> None:
    generator = np.random.default_rng(1)
    raw = offset + 2 * generator.standard_normal(20_000)
    positive = np.full(20_000, share)
    weight = generator.uniform(0, 3, 20_000)
    for weights in (None, weight):
        expected = expit(raw + intercept(raw, positive, weights))
        assert np.average(expected, weights=weights) == pytest.approx(share, rel=1e-5)


def test_scores_that_are_all_equal_become_the_share() -> None:
    assert expit(intercept(np.zeros(4), np.array([1.0, 0.0, 0.0, 0.0]), None)) == pytest.approx(0.25)

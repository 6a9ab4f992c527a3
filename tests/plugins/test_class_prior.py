"""Where methods that need a share of positives get it."""

from typing import Any

import numpy as np
import pytest

from pubench import Method, NotApplicableError, Parts, PUData, Resources, Seed, Table
from pubench_plugins.learners.lightgbm import LightGBM
from pubench_plugins.methods.class_prior import PRIOR_SPACE, ResolvedPrior, resolve_prior
from pubench_plugins.methods.naive import Naive

ONE = Resources(n_threads=1)


class Asking(Naive):
    """A method that needs a prior."""

    name = "asking"
    needs_prior = True
    space = PRIOR_SPACE


def draw(labelled: int = 200) -> PUData:
    """4,000 rows, of which 400 are positive."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((4000, 3))
    X[:400, 0] += 6
    return PUData(Table.from_array(X), np.arange(4000) < labelled)


def resolved(data: PUData, parts: Parts | None = None, **params: Any) -> ResolvedPrior:
    method: Method = Asking(**params)
    return resolve_prior(method.params, data, parts or Parts(), Seed(0), ONE)


def test_a_given_prior_is_a_share_of_all_rows() -> None:
    found = resolved(draw(), prior_from="given", prior=0.1)
    assert found.prior_in_all == pytest.approx(0.1)
    assert found.prior_in_unlabeled == pytest.approx(200 / 3800)
    assert "given" in found.source


@pytest.mark.parametrize("parts", [Parts(), Parts(learner=LightGBM())], ids=["no learner", "learner"])
def test_without_one_it_is_estimated_and_said(parts: Parts) -> None:
    found = resolved(draw(), parts)
    assert found.prior_in_all == pytest.approx(0.1, rel=0.15)
    ranked_by = "logistic" if parts.learner is None else "lightgbm"
    assert f"estimated by best-bin on out-of-fold scores of {ranked_by}" in found.source
    assert found.decided["prior"] == found.prior_in_all


def test_the_labelled_share_stands_for_that_of_unlabeled_rows() -> None:
    found = resolved(draw(), prior_from="labelled-share")
    assert found.prior_in_unlabeled == pytest.approx(0.05)
    assert found.prior_in_all == pytest.approx(0.05 + 0.95 * 0.05)


def test_one_unlabeled_row_at_least_is_taken_for_positive() -> None:
    data = draw()
    found = resolved(data, prior_from="given", prior=data.n_labelled / 4000)
    assert 0 < found.prior_in_unlabeled < 1 / 3800


def test_an_impossible_prior_is_declined() -> None:
    with pytest.raises(NotApplicableError, match="labelled positive already"):
        resolved(draw(), prior_from="given", prior=0.01)
    with pytest.raises(NotApplicableError, match="two labelled"):
        resolved(draw(labelled=1))


def test_no_search_varies_what_is_a_fact() -> None:
    assert not any(dimension.tuned for dimension in PRIOR_SPACE.values())
    assert all(dimension.help for dimension in PRIOR_SPACE.values())

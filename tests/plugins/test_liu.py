"""Spies, and what the second step does with what they found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pubench import NotApplicableError, Parts, PUData, Resources, Seed, Table, auc
from pubench_plugins.learners.lightgbm import LightGBM
from pubench_plugins.learners.logistic import Logistic
from pubench_plugins.methods.liu import Liu
from pubench_plugins.methods.reliable_negatives import SpyDraws, are_reliable, reliable_negatives, spies_below

ONE = Resources(n_threads=1)


def draw(rows: int = 3000, labelled: int = 150, apart: float = 2.5) -> tuple[PUData, np.ndarray]:
    """Rows of which one in ten is positive, and this number of them labelled."""
    generator = np.random.default_rng(2)
    y = np.arange(rows) % 10 == 0
    X = generator.standard_normal((rows, 4))
    X[y, :2] += apart
    s = np.zeros(rows, dtype=bool)
    s[generator.choice(np.flatnonzero(y), labelled, replace=False)] = True
    return PUData(Table.from_array(X), s), y


def test_the_threshold_on_a_worked_example() -> None:
    """Twenty spies at .05, .10, ..., 1.00; one in twenty may fall below: rows under the second one are reliable."""
    spies = np.arange(1, 21) / 20
    scores = np.array([0.0, 0.05, 0.09, 0.1, 0.5])
    below = spies_below(spies, scores)
    assert below.tolist() == [0, 1, 1, 2, 10]
    assert are_reliable(below, 20, 0.05).tolist() == [True, True, True, False, False]
    assert are_reliable(below, 20, 0.04).tolist() == [True, False, False, False, False]


@given(
    arrays(np.float64, 30, elements=st.floats(0, 1)),
    arrays(np.float64, 50, elements=st.floats(0, 1)),
    st.floats(0, 0.9),
)
def test_reliable_rows_are_those_below_a_quantile_of_the_spies(
    spies: np.ndarray, scores: np.ndarray, tolerance: float
) -> None:
    threshold = np.sort(spies)[int(np.floor(tolerance * 30 + 1e-9))]
    np.testing.assert_array_equal(are_reliable(spies_below(spies, scores), 30, tolerance), scores < threshold)
    assert np.mean(spies < threshold) <= tolerance + 1e-9


@pytest.mark.parametrize(
    ("labelled", "count", "draws"), [(2, 1, 10), (10, 2, 10), (60, 9, 3), (134, 20, 1), (5000, 750, 1)]
)
def test_few_labels_spy_more_often(labelled: int, count: int, draws: int) -> None:
    spy_draws = SpyDraws()
    assert (spy_draws.count(labelled), spy_draws.draws(labelled)) == (count, draws)


@pytest.mark.parametrize("labelled", [20, 150])
def test_reliable_negatives_are_unlabeled_and_mostly_negative(labelled: int) -> None:
    data, y = draw(labelled=labelled)
    trainer = Parts(learner=LightGBM()).trainer(data.X, ONE)
    found = reliable_negatives(trainer, data, SpyDraws(), Seed(0), ONE)
    assert np.all(np.diff(found) > 0)
    assert not data.s[found].any()
    hidden = y & ~data.s
    assert len(found) > 1000
    # About as many hidden positives as spies fall below: the tolerance, give or take.
    assert hidden[found].sum() / hidden.sum() < 0.15


def test_a_higher_tolerance_finds_more() -> None:
    data, _ = draw()
    trainer = Parts(learner=Logistic()).trainer(data.X, ONE)
    few, many = (
        reliable_negatives(trainer, data, SpyDraws(tolerance=tolerance), Seed(0), ONE)
        for tolerance in (0.02, 0.3)
    )
    assert len(few) < len(many)


def test_liu_shows_its_reliable_negatives_and_ranks_hidden_positives_high() -> None:
    data, y = draw()
    fitted = Liu().fit(data, Parts(learner=LightGBM()), Seed(0), ONE)
    assert fitted.reliable_negatives is not None
    assert fitted.chosen["reliable_negatives"] == len(fitted.reliable_negatives)
    assert 1 <= int(str(fitted.chosen["iterations"])) <= 10
    found = fitted.score(data.X, ONE).values
    assert auc(y[~data.s], found[~data.s]) > 0.93


def test_a_last_classifier_that_rejects_labelled_rows_gives_way_to_the_first() -> None:
    """At a cut of one half nearly every row of a rare class is negative, labelled ones too."""
    data, _ = draw(rows=6000, labelled=30, apart=1.0)
    parts = Parts(learner=Logistic())
    cut = Liu(cut="half", iterations=5).fit(data, parts, Seed(0), ONE)
    assert cut.chosen["kept"] == "first"
    alone = Liu(cut="half", iterations=1).fit(data, parts, Seed(0), ONE)
    np.testing.assert_array_equal(cut.score(data.X, ONE).values, alone.score(data.X, ONE).values)
    assert int(str(cut.chosen["iterations"])) > 1


def test_the_second_step_adds_negatives_until_none_is_left() -> None:
    data, y = draw(apart=4.0)
    fitted = Liu(iterations=50).fit(data, Parts(learner=Logistic(c=1.0)), Seed(0), ONE)
    assert int(str(fitted.chosen["iterations"])) < 50
    assert fitted.chosen["kept"] == "last"
    assert int(str(fitted.chosen["classified_positive"])) == pytest.approx(y.sum(), rel=0.2)
    assert fitted.expected_positives is None


def test_it_declines_what_it_can_not_do() -> None:
    data, _ = draw(labelled=1)
    with pytest.raises(NotApplicableError, match="two labelled"):
        Liu().fit(data, Parts(learner=Logistic()), Seed(0), ONE)
    flat = PUData(Table.from_array(np.ones((50, 2))), np.arange(50) < 20)
    with pytest.raises(NotApplicableError, match="higher tolerance"):
        Liu().fit(flat, Parts(learner=LightGBM()), Seed(0), ONE)

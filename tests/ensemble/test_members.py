"""From chances to the labels of one member; and when an ensemble is large enough."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubench.api.plugin import Model
from pubench.ensemble.members import Convergence, Tagging, member_tags
from pubench.errors import ParameterError
from pubench.seeds import Seed
from pubench.types import Affinity, FloatVector, Resources, Table

ROWS = 2000
S = np.arange(ROWS) < 40
AFFINITY = Affinity(np.where(S, 0.0, np.linspace(0, 0.5, ROWS)))
TABLE = Table.from_array(np.random.default_rng(0).random((5000, 1)))


def tags(tagging: Tagging, member: int = 0, seed: int = 0):  # type: ignore[no-untyped-def]
    return member_tags(tagging.chances(S, AFFINITY), tagging, Seed(seed), member)


def test_the_paper_is_the_default() -> None:
    drawn = tags(Tagging())
    assert drawn.weight is None
    assert drawn.are_hard
    assert drawn.positive[S].all()


def test_rows_are_tagged_as_often_as_they_are_similar() -> None:
    count = np.sum([tags(Tagging(), member).positive for member in range(400)], axis=0)
    chance = AFFINITY.values[~S]
    deviation = (count[~S] - 400 * chance) / np.sqrt(400 * np.maximum(chance * (1 - chance), 1e-9))
    assert abs(deviation[chance > 0.01].mean()) < 0.15
    assert 0.9 < deviation[chance > 0.01].std() < 1.1
    assert not count[~S][chance == 0].any()


def test_a_member_is_the_same_alone_and_in_a_crowd() -> None:
    crowd = [tags(Tagging(negatives=3.0), member) for member in range(9)]
    alone = tags(Tagging(negatives=3.0), 7)
    assert np.array_equal(alone.positive, crowd[7].positive)
    assert np.array_equal(alone.weight, crowd[7].weight)
    assert not np.array_equal(alone.positive, crowd[6].positive)
    assert not np.array_equal(alone.positive, tags(Tagging(negatives=3.0), 7, seed=1).positive)


@given(ratio=st.floats(0.01, 100), member=st.integers(0, 100), soft=st.booleans())
def test_negatives_are_sampled_per_positive(ratio: float, member: int, soft: bool) -> None:
    drawn = tags(Tagging(soft=soft, negatives=ratio), member)
    assert drawn.weight is not None
    assert set(np.unique(drawn.weight)) <= {0.0, 1.0}
    assert np.all(drawn.weight[drawn.positive == 1] == 1)
    negatives = int(np.sum((drawn.positive == 0) & (drawn.weight == 1)))
    if not soft:
        available = int(np.sum(drawn.positive == 0))
        assert negatives == min(max(1, round(ratio * drawn.positive.sum())), available)


def test_soft_tags_are_the_chances_themselves() -> None:
    assert np.array_equal(tags(Tagging(soft=True)).positive, np.where(S, 1.0, AFFINITY.values))


@given(cap=st.floats(0.01, 50))
def test_a_cap_limits_expected_positives_and_keeps_proportions(cap: float) -> None:
    chances = Tagging(cap=cap).chances(S, AFFINITY)
    expected = chances[~S].sum()
    assert expected <= cap * 40 * (1 + 1e-9)
    if AFFINITY.expected_positives <= cap * 40:
        assert np.array_equal(chances[~S], AFFINITY.values[~S])
    else:
        assert expected == pytest.approx(cap * 40)
        assert chances[-1] / chances[-2] == pytest.approx(AFFINITY.values[-1] / AFFINITY.values[-2])


def test_one_row_stays_negative_when_all_are_alike() -> None:
    s = np.array([True, False, False])
    tagging = Tagging()
    chances = tagging.chances(s, Affinity(np.array([0.0, 1.0, 1.0])))
    assert member_tags(chances, tagging, Seed(0), 0).positive.tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("wrong", [{"negatives": 0.0}, {"negatives": -1.0}, {"cap": 0.0}, {"cap": np.inf}])
def test_senseless_numbers_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="above 0"):
        Tagging(**wrong)


@dataclass(frozen=True)
class Noisy(Model):
    """The first column plus noise of its own."""

    number: int
    noise: float

    def predict(self, X: Table, resources: Resources) -> FloatVector:  # noqa: ARG002 - the contract's signature
        """Return numbers in [0, 1]."""
        extra = np.random.default_rng(self.number).normal(size=X.n_rows)
        return np.asarray(1 / (1 + np.exp(-(X.values[:, 0] + self.noise * extra))))

    def importances(self) -> FloatVector:
        """Return the only one."""
        return np.ones(1)

    def save(self, path: Path) -> None:
        """Leave nothing."""


def reliability(noise: float, members: int) -> float:
    convergence = Convergence(TABLE, Resources())
    for number in range(members):
        convergence.add(Noisy(number, noise))
    return convergence.reliability


def test_few_members_say_nothing() -> None:
    assert reliability(0.0, 4) == 0


def test_members_that_agree_are_enough_at_once() -> None:
    assert reliability(0.0, 5) == 1


def test_it_is_the_squared_correlation_with_the_final_order() -> None:
    members = [Noisy(number, 0.5) for number in range(10)]
    mean = np.mean([np.argsort(np.argsort(m.predict(TABLE, Resources()))) for m in members], axis=0)
    truth = np.argsort(np.argsort(TABLE.values[:, 0]))
    assert reliability(0.5, 10) == pytest.approx(np.corrcoef(mean, truth)[0, 1] ** 2, abs=0.02)


def test_it_grows_with_members_and_falls_with_noise() -> None:
    assert reliability(0.5, 5) < reliability(0.5, 20) < reliability(0.5, 80)
    assert reliability(1.0, 20) < reliability(0.5, 20)

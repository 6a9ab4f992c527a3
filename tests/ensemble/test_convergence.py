"""When an ensemble is large enough."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from pubench.api.plugin import Model
from pubench.ensemble.convergence import Convergence
from pubench.types import FloatVector, Resources, Table

TABLE = Table.from_array(np.random.default_rng(0).random((5000, 1)))


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

"""Methods that vote by rank."""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pubench.blending import Blended, FittedBlend, FittedVoter, Voter
from pubench.errors import DataError, ParameterError
from pubench.method_api import FittedMethod, Method, Parts
from pubench.plugin_api import Kind
from pubench.quantiles import TOWARDS_TOP, Quantiles
from pubench.registry import load_registry
from pubench.saving.configuration import Named, configure
from pubench.seeds import Seed
from pubench.types import FloatVector, PUData, Resources, Scores, Table

REGISTRY = load_registry()
TWO = Resources(n_threads=2)


class Column(FittedMethod):
    """Scores by one feature."""

    def __init__(self, number: int, importances: FloatVector | None, expected: float | None) -> None:
        self.number, self._importances, self._expected = number, importances, expected

    def score(self, X: Table, resources: Resources) -> Scores:  # noqa: ARG002
        return Scores(X.values[:, self.number].astype(np.float64))

    def save(self, folder: Path) -> None:
        raise NotImplementedError

    def importances(self) -> FloatVector | None:
        return self._importances

    @property
    def expected_positives(self) -> float | None:
        return self._expected


@pytest.fixture(scope="module")
def data() -> PUData:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(500, 3))
    return PUData(Table.from_array(X), X[:, 0] + 0.5 * generator.normal(size=500) > 1.5)


def voter(weight: int, column: Column, X: Table) -> FittedVoter:
    return FittedVoter(weight, column, Quantiles.of(column.score(X, TWO).values, TOWARDS_TOP))


def made(weight: int, method: str, **params: object) -> Voter:
    plugins = {Kind.METHOD: Named(method, params), Kind.LEARNER: Named("logistic")}
    configuration = configure(plugins, REGISTRY)
    return Voter(weight, configuration.method, configuration.parts)


def test_a_score_is_the_weighted_mean_of_ranks_whatever_the_scales(data: PUData) -> None:
    stretched = Table.from_array(np.column_stack([np.exp(9 * data.X.values[:, 0]), data.X.values[:, 1:]]))
    blends = [
        FittedBlend((voter(3, Column(0, None, None), X), voter(1, Column(1, None, None), X)))
        for X in (data.X, stretched)
    ]
    plain, other = (blend.score(X, TWO).values for blend, X in zip(blends, (data.X, stretched), strict=True))
    ranks = [(np.argsort(np.argsort(data.X.values[:, i])) + 0.5) / 500 for i in (0, 1)]
    assert np.abs(plain - (3 * ranks[0] + ranks[1]) / 4).max() < 0.005
    assert np.abs(plain - other).max() < 0.005
    assert 0 <= plain.min() < plain.max() <= 1


def test_a_row_s_score_depends_on_that_row_alone(data: PUData) -> None:
    blend = FittedBlend((voter(1, Column(0, None, None), data.X), voter(2, Column(2, None, None), data.X)))
    whole = blend.score(data.X, TWO).values
    assert np.array_equal(blend.score(data.X.take(np.arange(7, 90, 5)), TWO).values, whole[7:90:5])


def test_what_is_known_is_averaged_over_those_who_know(data: PUData) -> None:
    first, second = Column(0, np.array([1.0, 0, 0]), 30.0), Column(1, np.array([0, 1.0, 0]), None)
    silent = Column(2, None, 60.0)
    blend = FittedBlend(tuple(voter(w, c, data.X) for w, c in ((3, first), (1, second), (4, silent))))
    importances = blend.importances()
    assert importances is not None
    assert importances.tolist() == [0.75, 0.25, 0.0]
    assert blend.expected_positives == pytest.approx((3 * 30 + 4 * 60) / 7)
    nobody = FittedBlend((voter(1, Column(0, None, None), data.X), voter(1, Column(1, None, None), data.X)))
    assert nobody.importances() is None
    assert nobody.expected_positives is None


def test_equal_seeds_give_equal_models_and_progress_rises_to_the_end(data: PUData) -> None:
    blend = Blended((made(2, "bagging", members=5), made(1, "naive")))
    told: list[float] = []
    one = blend.fit(data, Parts(), Seed(4), replace(TWO, progress=told.append))
    two = blend.fit(data, Parts(), Seed(4), Resources())
    other = blend.fit(data, Parts(), Seed(5), TWO)
    assert np.array_equal(one.score(data.X, TWO).values, two.score(data.X, TWO).values)
    assert not np.array_equal(one.score(data.X, TWO).values, other.score(data.X, TWO).values)
    assert told == sorted(told)
    assert told[-1] <= 1


def test_time_is_divided_by_weight(data: PUData) -> None:
    class Watch(Method):
        name = "watch"
        uses = frozenset()

        def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedMethod:  # noqa: ARG002
            given.append(resources.until - time.monotonic())
            return Column(0, None, None)

    given: list[float] = []
    blend = Blended((Voter(3, Watch(), Parts()), Voter(1, Watch(), Parts())))
    blend.fit(data, Parts(), Seed(0), replace(TWO, until=time.monotonic() + 1000))
    assert given == pytest.approx([750, 1000], abs=5)
    blend.fit(data, Parts(), Seed(0), TWO)
    assert given[2:] == [float("inf")] * 2


def test_what_is_no_blend_is_refused() -> None:
    for voters in ((), (made(1, "naive"),), (made(1, "naive"), made(0, "bagging"))):
        with pytest.raises(ParameterError, match="at least two parts"):
            Blended(voters)


def test_equal_blends_are_equal() -> None:
    first, second = (Blended((made(1, "naive"), made(2, "bagging", members=5))) for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    assert first != Blended((made(2, "naive"), made(2, "bagging", members=5)))


@pytest.mark.parametrize(
    "content", ["{}", "[]", '{"quantiles": []}', '{"quantiles": [[1], [2]]}', '{"quantiles": 3}']
)
def test_damaged_files_are_refused(content: str, data: PUData, tmp_path: Path) -> None:
    blend = Blended((made(1, "naive"), made(1, "bagging", members=2)))
    blend.fit(data, Parts(), Seed(0), TWO).save(tmp_path)
    (tmp_path / "ranks.json").write_text(content)
    with pytest.raises(DataError, match=r"ranks\.json"):
        blend.load(tmp_path, Parts())

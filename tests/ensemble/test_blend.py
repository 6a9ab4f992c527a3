"""Methods that vote by rank."""

import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit, logit

from pubench.api.method import FittedMethod, Method, Parts
from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.configuration.configuration import PluginSpec, configure
from pubench.ensemble.blend import BlendMember, BlendMethod, FittedBlend, FittedBlendMember, HeldOut
from pubench.errors import DataError, ParameterError
from pubench.metrics.aul import aul_pu_score
from pubench.metrics.quantiles import TOWARDS_TOP, Quantiles
from pubench.seeds import Seed
from pubench.types import FloatVector, PUData, Resources, Scores, Table

REGISTRY = load_registry()
TWO = Resources(n_threads=2)


class FittedColumn(FittedMethod):
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


def member(weight: int, column: FittedColumn, X: Table) -> FittedBlendMember:
    return FittedBlendMember(weight, column, Quantiles.of(column.score(X, TWO).values, TOWARDS_TOP))


def made(weight: int, method: str, **params: object) -> BlendMember:
    plugins = {Kind.METHOD: PluginSpec(method, params), Kind.LEARNER: PluginSpec("logistic")}
    configuration = configure(plugins, REGISTRY)
    return BlendMember(weight, configuration.method, configuration.parts)


def test_a_score_is_the_weighted_mean_of_log_odds_of_ranks_whatever_the_scales(data: PUData) -> None:
    stretched = Table.from_array(np.column_stack([np.exp(9 * data.X.values[:, 0]), data.X.values[:, 1:]]))
    blends = [
        FittedBlend(
            (member(3, FittedColumn(0, None, None), X), member(1, FittedColumn(1, None, None), X)),
            least_rank=0.001,
        )
        for X in (data.X, stretched)
    ]
    plain, other = (blend.score(X, TWO).values for blend, X in zip(blends, (data.X, stretched), strict=True))
    ranks = [(np.argsort(np.argsort(data.X.values[:, i])) + 0.5) / 500 for i in (0, 1)]
    assert np.abs(plain - expit((3 * logit(ranks[0]) + logit(ranks[1])) / 4)).max() < 0.02
    assert np.abs(plain - other).max() < 0.005
    assert 0 <= plain.min() < plain.max() <= 1


def test_the_top_of_one_list_is_not_lost_in_the_mean(data: PUData) -> None:
    """A row that is first of 500 by one method and in the middle by the other is above one that is 50th by both."""
    values = data.X.values.copy()
    order = np.argsort(values[:, 0])
    values[order[-1], 1] = np.median(values[:, 1])
    values[order[-50], 1] = np.sort(values[:, 1])[-50]
    X = Table.from_array(values)
    members = (member(1, FittedColumn(0, None, None), X), member(1, FittedColumn(1, None, None), X))
    blend = FittedBlend(members, least_rank=0.001)
    scores = blend.score(X, TWO).values
    assert scores[order[-1]] > scores[order[-50]]
    means_of_ranks = replace(blend, least_rank=None).score(X, TWO).values
    assert means_of_ranks[order[-1]] < means_of_ranks[order[-50]]


def test_a_row_s_score_depends_on_that_row_alone(data: PUData) -> None:
    blend = FittedBlend(
        (member(1, FittedColumn(0, None, None), data.X), member(2, FittedColumn(2, None, None), data.X))
    )
    whole = blend.score(data.X, TWO).values
    assert np.array_equal(blend.score(data.X.take(np.arange(7, 90, 5)), TWO).values, whole[7:90:5])


def test_what_is_known_is_averaged_over_those_who_know(data: PUData) -> None:
    first, second = FittedColumn(0, np.array([1.0, 0, 0]), 30.0), FittedColumn(1, np.array([0, 1.0, 0]), None)
    silent = FittedColumn(2, None, 60.0)
    blend = FittedBlend(tuple(member(w, c, data.X) for w, c in ((3, first), (1, second), (4, silent))))
    importances = blend.importances()
    assert importances is not None
    assert importances.tolist() == [0.75, 0.25, 0.0]
    assert blend.expected_positives == pytest.approx((3 * 30 + 4 * 60) / 7)
    unknown = FittedBlend(
        (member(1, FittedColumn(0, None, None), data.X), member(1, FittedColumn(1, None, None), data.X))
    )
    assert unknown.importances() is None
    assert unknown.expected_positives is None


def test_equal_seeds_give_equal_models_and_progress_rises_to_the_end(data: PUData) -> None:
    blend = BlendMethod((made(2, "bagging", members=5), made(1, "naive")))
    shares: list[float] = []
    one = blend.fit(data, Parts(), Seed(4), replace(TWO, progress=shares.append))
    two = blend.fit(data, Parts(), Seed(4), Resources())
    other = blend.fit(data, Parts(), Seed(5), TWO)
    assert np.array_equal(one.score(data.X, TWO).values, two.score(data.X, TWO).values)
    assert not np.array_equal(one.score(data.X, TWO).values, other.score(data.X, TWO).values)
    assert shares == sorted(shares)
    assert shares[-1] <= 1


def test_time_is_divided_by_what_members_took_in_the_search(data: PUData) -> None:
    class Watch(Method):
        name = "watch"
        uses = frozenset()

        def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedMethod:  # noqa: ARG002
            given.append(resources.until - time.monotonic())
            return FittedColumn(0, None, None)

    given: list[float] = []
    known = [HeldOut(np.arange(20.0), seconds) for seconds in (299.9, 99.9)]
    blend = BlendMethod(
        (BlendMember(1, Watch(), Parts(), known[0]), BlendMember(9, Watch(), Parts(), known[1]))
    )
    blend.fit(data, Parts(), Seed(0), replace(TWO, until=time.monotonic() + 1000))
    assert given == pytest.approx([750, 1000], abs=5)
    blend.fit(data, Parts(), Seed(0), TWO)
    assert given[2:] == [float("inf")] * 2


def test_a_member_has_the_time_of_its_draft_when_the_time_is_over(data: PUData) -> None:
    forest = configure(
        {Kind.METHOD: PluginSpec("naive"), Kind.LEARNER: PluginSpec("forest", {"trees": 400})}, REGISTRY
    )
    members = (BlendMember(1, forest.method, forest.parts), made(1, "naive"))
    over = replace(TWO, until=time.monotonic() - 1)
    unknown = BlendMethod(members).fit(data, Parts(), Seed(0), over)
    known = BlendMethod(tuple(replace(one, held_out=HeldOut(np.arange(20.0), 60.0)) for one in members))
    whole = known.fit(data, Parts(), Seed(0), over)
    assert isinstance(unknown.chosen["blended"], list)
    cut = unknown.chosen["blended"][0]["learner"]["trees"]
    assert 1 < cut < 400
    assert whole.chosen["blended"] == [{}, {}]


def test_training_rows_get_scores_by_models_that_did_not_see_them(data: PUData) -> None:
    """Labels are drawn at random: whatever a model knows of its own rows, it remembers."""
    generator = np.random.default_rng(1)
    random = PUData(data.X, generator.random(data.X.n_rows) < 0.2)
    forest = configure(
        {Kind.METHOD: PluginSpec("naive"), Kind.LEARNER: PluginSpec("forest", {"leaf_rows": 1, "trees": 20})},
        REGISTRY,
    )
    blend = BlendMethod((BlendMember(3, forest.method, forest.parts), made(1, "naive")))
    fitted = blend.fit(random, Parts(), Seed(0), TWO)
    assert fitted.own_scores is not None
    assert aul_pu_score(random.s, fitted.score(random.X, TWO).values) > 0.85
    assert aul_pu_score(random.s, fitted.own_scores) < 0.6


def test_what_a_search_knows_is_not_computed_again(data: PUData) -> None:
    members = (made(1, "naive"), made(1, "bagging", members=5))
    scores = np.linspace(0, 1, data.X.n_rows)
    knowing = BlendMethod(tuple(replace(one, held_out=HeldOut(scores, 1.0)) for one in members))
    fitted = knowing.fit(data, Parts(), Seed(0), TWO)
    assert isinstance(fitted, FittedBlend)
    assert fitted.own_scores is None
    expected = Quantiles.of(scores, TOWARDS_TOP).values
    assert all(np.array_equal(one.quantiles.values, expected) for one in fitted.members)


def test_what_is_no_blend_is_refused() -> None:
    for members in ((), (made(1, "naive"),), (made(1, "naive"), made(0, "bagging"))):
        with pytest.raises(ParameterError, match="at least two parts"):
            BlendMethod(members)


def test_equal_blends_are_equal() -> None:
    first, second = (BlendMethod((made(1, "naive"), made(2, "bagging", members=5))) for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    assert first != BlendMethod((made(2, "naive"), made(2, "bagging", members=5)))


@pytest.mark.parametrize(
    "content", ["{}", "[]", '{"quantiles": []}', '{"quantiles": [[1], [2]]}', '{"quantiles": 3}']
)
def test_damaged_files_are_refused(content: str, data: PUData, tmp_path: Path) -> None:
    blend = BlendMethod((made(1, "naive"), made(1, "bagging", members=2)))
    blend.fit(data, Parts(), Seed(0), TWO).save(tmp_path)
    (tmp_path / "ranks.json").write_text(content)
    with pytest.raises(DataError, match=r"ranks\.json"):
        blend.load(tmp_path, Parts())


def test_a_blend_that_was_saved_without_a_word_on_it_averages_ranks(data: PUData, tmp_path: Path) -> None:
    method = BlendMethod((made(1, "bagging", members=5), made(1, "naive")))
    method.fit(data, Parts(), Seed(0), TWO).save(tmp_path)
    document = json.loads((tmp_path / "ranks.json").read_text())
    assert document.pop("least_rank") == pytest.approx(0.5 / len(data.s))
    (tmp_path / "ranks.json").write_text(json.dumps(document))
    again = method.load(tmp_path, Parts())
    assert isinstance(again, FittedBlend)
    assert again.least_rank is None
    (tmp_path / "ranks.json").write_text(json.dumps({**document, "least_rank": 0}))
    with pytest.raises(DataError, match="least_rank"):
        method.load(tmp_path, Parts())

"""PU trees: the closed form against a numerical minimiser, growing against a slow literal one, and their files."""

import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from pubench.api.method import Parts
from pubench.errors import DataError
from pubench.metrics.supervised import auc
from pubench.seeds import Seed
from pubench.types import Feature, PUData, Resources, Table
from pubench_plugins.methods.pu_trees import FittedPUTrees, PUForest, PUTrees, n_candidates
from pubench_plugins.methods.pu_trees_kernels import (
    NODE,
    Growth,
    TreeRisk,
    TreeRows,
    grow,
    node_risk,
    node_share,
    walk,
)

ONE, TWO = Resources(n_threads=1), Resources(n_threads=2)
PRIOR = 0.06

RISKS = st.builds(
    TreeRisk,
    prior=st.floats(0.001, 0.9),
    n_labelled=st.integers(5, 50),
    n_unlabeled=st.integers(5, 500),
    nonnegative=st.booleans(),
    logistic=st.booleans(),
)
COUNTS = st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(any)


def loss(score: float, label: int, risk: TreeRisk) -> float:
    return float(np.logaddexp(0, -score * label)) if risk.logistic else (1 - score * label) ** 2


def leaf_risk(score: float, labelled: int, unlabeled: int, risk: TreeRisk) -> float:
    """The contribution of a leaf with these numbers of rows and this score to the estimated risk, term by term."""
    of_labelled = risk.prior * labelled / risk.n_labelled
    negatives = unlabeled / risk.n_unlabeled - of_labelled
    if risk.nonnegative:
        negatives = max(0.0, negatives)
    return of_labelled * loss(score, 1, risk) + negatives * loss(score, -1, risk)


def draw(rows: int = 1500, seed: int = 1) -> tuple[PUData, npt.NDArray[np.bool_]]:
    """Positives are shifted in two of five features, one of which is heavy-tailed; half of them are labelled."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((rows, 5))
    y = generator.random(rows) < PRIOR
    X[y, :2] += 2.5
    X[:, 1] **= 3
    return PUData(Table.from_array(X), y & (generator.random(rows) < 0.5)), y


def fit(data: PUData, resources: Resources = ONE, seed: int = 0, **params: Any) -> FittedPUTrees:
    chosen = {"prior_from": "given", "prior": PRIOR, "trees": 20, **params}
    return PUTrees(**chosen).fit(data, Parts(), Seed(seed), resources)


@cache
def fitted() -> FittedPUTrees:
    return fit(draw()[0])


def reached(model: FittedPUTrees, X: Table) -> list[npt.NDArray[np.int64]]:
    """Return, tree by tree, the leaf in which each row falls."""
    values, nodes = model.embedding.transform(X).values, model.forest.nodes
    found = []
    for root in model.forest.roots:
        at = np.full(X.n_rows, root)
        while np.any(nodes["left"][at] != at):
            node = nodes[at]
            right = values[np.arange(X.n_rows), node["feature"]] > node["threshold"]
            at = np.where(node["left"] == at, at, node["left"] + right)
        found.append(at)
    return found


@given(COUNTS, RISKS)
@settings(deadline=None)  # the first one compiles
def test_the_risk_of_a_node_is_the_least_over_all_scores(counts: tuple[int, int], risk: TreeRisk) -> None:
    closed = node_risk(*counts, risk)
    if closed == -math.inf:
        near, far = (leaf_risk(score, *counts, risk) for score in (1e6, 1e9))
        assert near < 0
        assert far == pytest.approx(1000 * near, rel=1e-3)  # it falls on and on
        return
    # The best score lies inside: 2p - 1, or the logarithm of odds that are no further from 1 than rounding lets them be.
    span = 40.0 if risk.logistic else 1e4
    found = minimize_scalar(
        leaf_risk,
        bounds=(-span, span),
        args=(*counts, risk),
        method="bounded",
        options={"xatol": 1e-9, "maxiter": 5000},
    )
    assert closed == pytest.approx(found.fun, rel=1e-5, abs=1e-9)


@given(COUNTS, RISKS, st.sampled_from([0.0, 0.5, 20.0]))
@settings(deadline=None)
def test_the_share_of_a_node_gives_the_score_of_the_least_risk(
    counts: tuple[int, int], risk: TreeRisk, smoothing: float
) -> None:
    share = node_share(*counts, smoothing, risk)
    assert 0 <= share <= 1
    assume(0 < share < 1)

    def smoothed(score: float) -> float:
        more = risk.prior * loss(score, 1, risk) + (1 - risk.prior) * loss(score, -1, risk)
        return leaf_risk(score, *counts, risk) + smoothing / risk.n_unlabeled * more

    best = math.log(share / (1 - share)) if risk.logistic else 2 * share - 1
    step = 1e-3 * max(1.0, abs(best))
    assert smoothed(best) <= min(smoothed(best - step), smoothed(best + step))


def test_a_node_with_more_labelled_than_unlabeled_mass_has_the_risk_that_the_papers_say() -> None:
    nnpu = TreeRisk(0.5, n_labelled=10, n_unlabeled=10, nonnegative=True, logistic=False)
    upu = nnpu._replace(nonnegative=False)
    # W_p = 0.2 and W_u = 0.1, so uPU's W_n = -0.1
    assert node_risk(4, 1, nnpu) == 0
    assert node_risk(4, 1, upu) == pytest.approx(-0.8)
    assert node_risk(4, 1, upu._replace(logistic=True)) == -math.inf
    assert node_share(4, 1, 0.0, upu) == node_share(4, 1, 0.0, nnpu) == 1
    # W_p = 0.1 and W_u = 0.2: one half
    assert node_share(2, 2, 0.0, nnpu) == pytest.approx(0.5)
    assert node_risk(2, 2, nnpu) == pytest.approx(0.2)
    assert node_risk(2, 2, nnpu._replace(logistic=True)) == pytest.approx(0.2 * math.log(2))


class Literal:
    """A tree as one would write it down: lists of rows, every candidate tried in full."""

    def __init__(
        self, values: npt.NDArray[Any], s: npt.NDArray[np.bool_], growth: Growth, risk: TreeRisk
    ) -> None:
        self.values, self.s, self.growth, self.risk = values, s, growth, risk
        self.deck = list(range(values.shape[1]))

    def least(self, rows: list[int]) -> float:
        labelled = sum(bool(self.s[row]) for row in rows)
        return node_risk(labelled, len(rows) - labelled, self.risk)

    def feature_that_varies(self, rows: list[int], drawn: int, generator: np.random.Generator) -> int | None:
        other = drawn + int(generator.random() * (len(self.deck) - drawn))
        self.deck[drawn], self.deck[other] = self.deck[other], self.deck[drawn]
        feature = self.deck[drawn]
        return feature if len({self.values[row, feature] for row in rows}) > 1 else None

    def candidates(self, rows: list[int], generator: np.random.Generator) -> list[tuple[int, np.float32]]:
        features: list[int] = []
        for drawn in range(len(self.deck)):
            if len(features) < self.growth.features:
                feature = self.feature_that_varies(rows, drawn, generator)
                features += [] if feature is None else [feature]
        return [
            (feature, self.threshold(rows, feature, generator))
            for feature in features
            for _ in range(self.growth.thresholds)
        ]

    def threshold(self, rows: list[int], feature: int, generator: np.random.Generator) -> np.float32:
        column = [self.values[row, feature] for row in rows]
        low, high = min(column), max(column)
        if self.growth.from_rows:
            drawn = column[int(generator.random() * len(rows))]
        else:
            drawn = np.float32(float(low) + (float(high) - float(low)) * generator.random())
        return np.float32(drawn if drawn < high else low)

    def parted(self, rows: list[int], split: tuple[int, np.float32]) -> tuple[list[int], list[int]]:
        left = [row for row in rows if self.values[row, split[0]] <= split[1]]
        return left, [row for row in rows if self.values[row, split[0]] > split[1]]

    def splits(self, rows: list[int], depth: int, generator: np.random.Generator) -> list[Any]:
        """Return [split, what is right of it, what is left of it], or [] for a leaf; `rows` has labelled ones first."""
        kinds = {bool(self.s[row]) for row in rows}
        ends = self.least(rows) in ((0.0, -math.inf) if self.risk.nonnegative else (-math.inf,))
        if len(kinds) == 1 or ends or depth == self.growth.max_depth:
            return []
        if len(rows) < 2 * self.growth.min_leaf:
            return []
        tried = [(split, *self.parted(rows, split)) for split in self.candidates(rows, generator)]
        allowed = [found for found in tried if min(len(found[1]), len(found[2])) >= self.growth.min_leaf]
        if not allowed:
            return []
        totals = [self.least(left) + self.least(right) for _, left, right in allowed]
        split, left, right = allowed[int(np.argmin(totals))]
        return [split, self.splits(right, depth + 1, generator), self.splits(left, depth + 1, generator)]


def as_splits(nodes: Any, number: int = 0) -> list[Any]:
    node = nodes[number]
    if node["left"] == number:
        return []
    split = (int(node["feature"]), node["threshold"])
    return [split, as_splits(nodes, node["left"] + 1), as_splits(nodes, node["left"])]


@pytest.mark.parametrize("nonnegative", [True, False], ids=["nnpu", "upu"])
@pytest.mark.parametrize("logistic", [True, False], ids=["logistic", "quadratic"])
@pytest.mark.parametrize(
    "growth",
    [
        Growth(1000, 1, 2, 1, from_rows=True, smoothing=0.0),
        Growth(1000, 1, 2, 1, from_rows=False, smoothing=0.0),
        Growth(1000, 4, 4, 5, from_rows=True, smoothing=3.0),
        Growth(3, 2, 3, 2, from_rows=False, smoothing=0.0),
    ],
    ids=["rows", "range", "many thresholds", "shallow"],
)
def test_trees_grow_as_written_down(growth: Growth, logistic: bool, nonnegative: bool) -> None:
    data, _ = draw(400)
    values = data.X.values.astype(np.float32)
    values[:, 3] = np.round(values[:, 3])  # a feature that stops varying as nodes get small
    labelled, unlabeled = (np.flatnonzero(kind).astype(np.int32) for kind in (data.s, ~data.s))
    risk = TreeRisk(0.1, len(labelled), len(unlabeled), nonnegative, logistic)
    for seed in range(3):
        literal = Literal(values, data.s, growth, risk)
        expected = literal.splits([*labelled, *unlabeled], 0, Seed(seed).generator())
        rows = TreeRows(values, labelled.copy(), unlabeled.copy(), np.empty(len(unlabeled), np.int32))
        assert as_splits(grow(rows, growth, risk, Seed(seed).generator())) == expected
        assert len(expected) > 0


@pytest.mark.parametrize("risk", ["nnpu", "upu"])
@pytest.mark.parametrize("form", ["quadratic", "logistic"])
@pytest.mark.parametrize("cuts", ["rows", "range"])
def test_hidden_positives_of_new_rows_come_first(risk: str, form: str, cuts: str) -> None:
    fresh, y = draw(seed=2)
    assert auc(y, fit(draw()[0], risk=risk, loss=form, cuts=cuts).score(fresh.X, ONE).values) > 0.9


def test_a_tree_that_sees_every_threshold_takes_the_feature_that_tells() -> None:
    generator = np.random.default_rng(0)
    values = generator.standard_normal((600, 4))
    s = np.arange(600) < 30
    values[:60, 2] += 20
    model = fit(PUData(Table.from_array(values), s), features="all", thresholds=100, max_depth=1, prior=0.1)
    assert set(model.forest.nodes["feature"][model.forest.roots]) == {2}
    np.testing.assert_allclose(model.importances(), [0, 0, 1, 0])


@pytest.mark.parametrize(("features", "drawn"), [("sqrt", 6), ("half", 15), ("all", 30)])
def test_so_many_features_are_drawn(features: str, drawn: int) -> None:
    assert n_candidates(features, 30) == drawn
    assert n_candidates(features, 1) == 1


@pytest.mark.parametrize("min_leaf", [1, 7, 60])
def test_leaves_hold_as_many_rows_as_asked(min_leaf: int) -> None:
    data, _ = draw()
    sizes = [
        np.unique(leaves, return_counts=True)[1] for leaves in reached(fit(data, min_leaf=min_leaf), data.X)
    ]
    assert min_leaf <= min(size.min() for size in sizes) < 3 * min_leaf


@pytest.mark.parametrize("max_depth", [1, 3])
def test_trees_are_no_deeper_than_asked(max_depth: int) -> None:
    model = fit(draw()[0], max_depth=max_depth)
    leaves = np.diff([*model.forest.roots, len(model.forest.nodes)]) / 2
    assert max_depth < leaves.max() <= 2**max_depth


def test_the_score_is_the_mean_share_of_the_leaves() -> None:
    data, _ = draw()
    shares = [fitted().forest.nodes["value"][leaves] for leaves in reached(fitted(), data.X)]
    np.testing.assert_allclose(fitted().score(data.X, TWO).values, np.mean(shares, axis=0, dtype=np.float64))


def test_smoothing_tells_rows_apart_that_never_met_a_labelled_one() -> None:
    data, _ = draw()
    assert np.mean(fit(data, smoothing=0.0).score(data.X, ONE).values == 0) > 0.3
    assert fitted().score(data.X, ONE).values.min() > 0


def warped(data: PUData) -> PUData:
    """The same rows, each feature changed by a rising function."""
    return PUData(Table.from_array(np.exp(data.X.values.clip(-8, 4))), data.s)


def test_thresholds_from_rows_do_not_depend_on_units() -> None:
    data, _ = draw(400)
    data = PUData(Table.from_array(data.X.values.clip(-8, 4)), data.s)
    for cuts, same in (("rows", True), ("range", False)):
        plain, changed = (fit(rows, cuts=cuts).score(rows.X, ONE).values for rows in (data, warped(data)))
        assert np.array_equal(plain, changed) == same


@pytest.mark.parametrize("share", [1.0, 0.2, 0.001])
def test_a_sample_of_unlabeled_rows_leaves_the_masses_as_they_are(share: float) -> None:
    data, y = draw()
    model = fit(data, unlabeled=share)
    prior: Any = model.chosen["prior_in_unlabeled"]
    np.testing.assert_allclose(model.forest.nodes["value"][model.forest.roots], prior, rtol=1e-5)
    if share > 0.1:
        assert auc(y, model.score(data.X, ONE).values) > 0.9


def test_seeds_decide_and_threads_do_not() -> None:
    data, _ = draw()
    scores = fitted().score(data.X, ONE).values
    np.testing.assert_array_equal(fit(data, TWO).score(data.X, TWO).values, scores)
    assert not np.array_equal(fit(data, seed=1).score(data.X, ONE).values, scores)


def test_a_tree_is_the_same_alone_and_in_a_crowd() -> None:
    alone = fit(draw()[0], trees=1, unlabeled=0.5).forest
    crowd = fit(draw()[0], TWO, trees=9, unlabeled=0.5).forest
    np.testing.assert_array_equal(crowd.nodes[: crowd.roots[1]], alone.nodes)


def test_after_the_time_is_up_the_first_tree_will_do() -> None:
    late, in_time = fit(draw()[0], Resources(n_threads=2, until=0.0)), fitted()
    assert late.chosen["trees"] == 1
    np.testing.assert_array_equal(late.forest.nodes, in_time.forest.nodes[: in_time.forest.roots[1]])


def test_the_prior_is_estimated_where_none_is_given() -> None:
    chosen = PUTrees(trees=5).fit(draw()[0], Parts(), Seed(0), ONE).chosen
    assert "estimated by best-bin" in str(chosen["prior_source"])
    assert chosen["trees"] == 5


def test_progress_ends_the_work() -> None:
    reported: list[float] = []

    def stop(share: float) -> None:
        reported.append(share)
        if len(reported) == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        fit(draw()[0], Resources(n_threads=2, progress=stop))
    assert len(reported) == 3
    assert reported == sorted(reported)


def test_importances_are_those_of_the_features_before_they_were_embedded() -> None:
    data, y = draw()
    city = np.where(y, 1.0, np.arange(len(y)) % 3)
    features = (*data.X.features, Feature("city", "categorical", ("oslo", "rome", "bern")))
    table = Table(np.column_stack([data.X.values, city]), features)
    found = fit(PUData(table, data.s)).importances()
    assert found.shape == (6,)
    assert found.sum() == pytest.approx(1)
    assert set(np.argsort(found)[-3:]) == {0, 1, 5}


def test_a_saved_model_scores_the_same(tmp_path: Path) -> None:
    data, _ = draw()
    fitted().save(tmp_path)
    loaded = PUTrees().load(tmp_path, Parts())
    np.testing.assert_array_equal(loaded.score(data.X, ONE).values, fitted().score(data.X, ONE).values)
    np.testing.assert_array_equal(loaded.importances(), fitted().importances())
    assert loaded.chosen == fitted().chosen


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("form", "x"), ("roots", []), ("roots", "0"), ("roots", [-1]), ("roots", [10**9]), ("roots", [0.0]),
        ("roots", [True]), ("decided", []), ("embedding", {}),
    ],
)  # fmt: skip
def test_a_damaged_description_is_refused(key: str, value: object, tmp_path: Path) -> None:
    fitted().save(tmp_path)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(DataError, match=r"^.*\.$"):
        PUTrees().load(tmp_path, Parts())


def changed(field: str, value: float) -> Callable[[Path], None]:
    """Return what writes a value into the first node, which is no leaf."""

    def change(path: Path) -> None:
        nodes = np.load(path)
        nodes[field][0] = value
        np.save(path, nodes)

    return change


def claims_too_much(path: Path) -> None:
    with path.open("wb") as file:
        header = {"descr": np.lib.format.dtype_to_descr(NODE), "fortran_order": False, "shape": (10**15,)}
        np.lib.format.write_array_header_1_0(file, header)


@pytest.mark.parametrize(
    "spoil",
    [
        Path.unlink,
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-4]),
        lambda path: np.save(path, np.zeros(9)),
        lambda path: np.save(path, np.empty(0, NODE)),
        lambda path: np.save(path, np.zeros((1, 1), NODE)),
        lambda path: np.save(path, np.array([{}] * 9), allow_pickle=True),
        lambda path: path.write_bytes(b"PK\x03\x04" + path.read_bytes()),
        claims_too_much,
        changed("feature", 5),
        changed("feature", -1),
        changed("left", -1),
        changed("left", 2**31 - 1),
        changed("threshold", math.nan),
        changed("value", 1.5),
        changed("value", math.nan),
        changed("gain", -1.0),
        changed("gain", math.inf),
        lambda path: np.save(path, np.load(path)[:-1]),
        lambda path: np.save(path, np.load(path)[::-1]),
    ],
)
def test_damaged_nodes_are_refused(spoil: Callable[[Path], object], tmp_path: Path) -> None:
    fitted().save(tmp_path)
    spoil(tmp_path / "nodes.npy")
    with pytest.raises(DataError, match=r"nodes\.npy"):
        PUTrees().load(tmp_path, Parts())


def test_whatever_is_read_from_random_nodes_can_be_walked(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    values, walked = draw(50)[0].X.values.astype(np.float32), 0
    for _ in range(500):
        nodes = np.zeros(4, NODE)
        nodes["left"] = np.where(generator.random(4) < 0.5, np.arange(4), generator.integers(-1, 6, 4))
        nodes["feature"], nodes["value"] = generator.integers(-1, 6, 4), generator.random(4)
        np.save(tmp_path / "nodes.npy", nodes)
        try:
            forest = PUForest.load(tmp_path / "nodes.npy", [0, int(generator.integers(0, 5))], n_features=5)
        except DataError:
            continue
        scores = walk(values, forest.nodes, forest.roots)
        assert np.all((scores >= 0) & (scores <= 1))
        walked += 1
    assert 10 < walked < 490

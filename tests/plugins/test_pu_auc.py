"""PU-AUC: the closed form against pairs counted one by one, its validation, and its files."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from pubench.api.method import Parts
from pubench.errors import DataError, NotApplicableError
from pubench.metrics.supervised import auc
from pubench.seeds import Seed
from pubench.types import PUData, Resources, Table
from pubench_plugins.methods import pu_auc_validation
from pubench_plugins.methods.pu_auc import PUAUC, FittedPUAUC
from pubench_plugins.methods.pu_auc_risk import Basis, Moments, pu_auc_quadratic, pu_auc_risk
from pubench_plugins.methods.pu_auc_validation import PENALTIES, Validation

ONE, TWO = Resources(n_threads=1), Resources(n_threads=2)
Matrix = npt.NDArray[np.float64]
PRIOR, PENALTY = 0.2, 0.03


def tiny(seed: int = 0) -> tuple[Matrix, Matrix]:
    """Labelled and unlabeled rows, few enough to look at every pair."""
    generator = np.random.default_rng(seed)
    return generator.standard_normal((7, 3)) + 1, generator.standard_normal((25, 3))


def gaps(first: Matrix, second: Matrix) -> Matrix:
    return (first[:, None, :] - second[None, :, :]).reshape(-1, first.shape[1])


def pair_risk(w: Matrix, labelled: Matrix, unlabeled: Matrix) -> float:
    """The penalised risk, pair by pair, without pairs of a row with itself."""
    mixed = np.mean((1 - gaps(labelled, unlabeled) @ w) ** 2)
    different = ~np.eye(len(labelled), dtype=bool).ravel()
    among = np.mean((1 - gaps(labelled, labelled)[different] @ w) ** 2)
    return float((mixed - PRIOR * among) / (1 - PRIOR) + PENALTY * w @ w)


def solved(labelled: Matrix, unlabeled: Matrix) -> Matrix:
    quadratic = pu_auc_quadratic(Moments.of(labelled), Moments.of(unlabeled), PRIOR)
    found: Matrix = quadratic.minimisers([PENALTY])[0]
    return found


def draw(rows: int = 1500, seed: int = 1, ring: bool = False) -> tuple[PUData, npt.NDArray[np.bool_]]:
    """Positives are shifted or, in a ring, spread around the others; half of them are labelled."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((rows, 4))
    y = generator.random(rows) < 0.06
    if ring:
        X[y, :2] *= 4.0 / np.linalg.norm(X[y, :2], axis=1, keepdims=True)
    else:
        X[y, :2] += 2.0
    return PUData(Table.from_array(X), y & (generator.random(rows) < 0.5)), y


def fit(data: PUData, resources: Resources = ONE, seed: int = 0, **params: Any) -> FittedPUAUC:
    chosen = {"prior_from": "given", "prior": 0.06, **params}
    return PUAUC(**chosen).fit(data, Parts(), Seed(seed), resources)


@cache
def small() -> FittedPUAUC:
    return fit(draw(300)[0])


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_the_gradient_of_the_pair_risk_is_zero_at_the_solution(seed: int) -> None:
    labelled, unlabeled = tiny(seed)
    w = solved(labelled, unlabeled)
    step = 1e-5
    gradient = [
        (pair_risk(w + step * e, labelled, unlabeled) - pair_risk(w - step * e, labelled, unlabeled))
        / (2 * step)
        for e in np.eye(3)
    ]
    np.testing.assert_allclose(gradient, 0, atol=1e-8)


def test_the_closed_form_is_what_a_numerical_minimiser_finds() -> None:
    labelled, unlabeled = tiny()
    found = minimize(pair_risk, np.zeros(3), args=(labelled, unlabeled), tol=1e-12)
    np.testing.assert_allclose(solved(labelled, unlabeled), found.x, atol=1e-6)


def test_the_quadratic_is_the_pair_risk_everywhere() -> None:
    labelled, unlabeled = tiny()
    quadratic = pu_auc_quadratic(Moments.of(labelled), Moments.of(unlabeled), PRIOR)
    for w in np.random.default_rng(5).standard_normal((10, 3)):
        value = w @ quadratic.curvature @ w - 2 * quadratic.slope @ w + 1
        assert value + PENALTY * w @ w == pytest.approx(pair_risk(w, labelled, unlabeled))


def test_moments_of_parts_add_up() -> None:
    _, rows = tiny()
    whole, parts = Moments.of(rows), Moments.none(3) + Moments.of(rows[:10]) + Moments.of(rows[10:])
    assert parts.count == 25
    np.testing.assert_allclose(parts.mean, whole.mean)
    np.testing.assert_allclose(parts.mean_square, rows.T @ rows / 25)


def test_a_curvature_that_can_not_be_does_not_turn_the_solution_around() -> None:
    labelled = np.array([[9.0, 0.0], [-9.0, 0.3], [0.1, 0.2]])
    unlabeled = np.random.default_rng(2).standard_normal((50, 2)) / 100
    quadratic = pu_auc_quadratic(Moments.of(labelled), Moments.of(unlabeled), 0.9)
    assert np.linalg.eigvalsh(quadratic.curvature)[0] < -1
    for w in quadratic.minimisers(PENALTIES):
        assert w @ quadratic.slope > 0  # still a direction in which labelled rows lie above the others


SMALL = st.integers(0, 4).map(float)


@given(
    st.integers(2, 8).flatmap(lambda n: arrays(np.float64, n, elements=SMALL)),
    st.integers(1, 12).flatmap(lambda n: arrays(np.float64, n, elements=SMALL)),
    st.floats(0.001, 0.9),
)
def test_the_zero_one_risk_is_the_formula_over_all_pairs(
    labelled: Matrix, unlabeled: Matrix, prior: float
) -> None:
    def mean_loss(first: Matrix, second: Matrix, pairs: int) -> float:
        margin = first[:, None] - second[None, :]
        return float(np.sum((1 - np.sign(margin)) / 2) / pairs)

    n = len(labelled)
    mixed = mean_loss(labelled, unlabeled, n * len(unlabeled))
    among = mean_loss(labelled, labelled, n * (n - 1))
    expected = (mixed - prior * among + prior / (2 * (n - 1))) / (1 - prior)
    assert pu_auc_risk(labelled, unlabeled, prior) == pytest.approx(expected, abs=1e-12)


def test_gaussians_are_the_formula() -> None:
    centres, X = tiny()
    phi = Basis(centres, 1.5)(X.astype(np.float32))
    expected = np.exp(-((X.astype(np.float32)[:, None] - centres[None]) ** 2).sum(axis=2) / (2 * 1.5**2))
    np.testing.assert_allclose(phi, expected, rtol=1e-12)
    assert Basis(centres, 1e-9)(centres).max() <= 1  # rounding must not put a row closer than its centre


def test_validation_judges_each_fold_by_a_solution_of_the_others() -> None:
    data, _ = draw(400)
    validation = Validation.of(data, 0.03, Seed(0))
    candidates = list(validation.candidates([Basis()], ONE))
    assert [candidate.penalty for candidate in candidates] == list(PENALTIES)
    risks = []
    for number, fold in enumerate(validation.folds):
        others = [other for place, other in enumerate(validation.folds) if place != number]
        labelled, unlabeled = (
            Moments.of(data.X.values[np.concatenate([getattr(other, kind) for other in others])])
            for kind in ("labelled", "unlabeled")
        )
        w = pu_auc_quadratic(labelled, unlabeled, 0.03).minimisers([PENALTIES[4]])[0]
        scores = data.X.values @ w
        risks.append(pu_auc_risk(scores[fold.labelled], scores[fold.unlabeled], 0.03))
    assert candidates[4].risk == pytest.approx(np.mean(risks))
    tested = np.concatenate([np.concatenate([fold.labelled, fold.unlabeled]) for fold in validation.folds])
    assert sorted(tested) == list(range(400))


def test_the_size_of_blocks_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    data, _ = draw()
    whole = fit(data)
    monkeypatch.setattr(pu_auc_validation, "_BLOCK_VALUES", 10_000)
    np.testing.assert_allclose(fit(data).weights, whole.weights, rtol=1e-6)


def test_all_rows_are_solved_with_the_prior_among_unlabeled_rows() -> None:
    data, _ = draw()
    fitted = fit(data, basis="linear", prior=0.1)
    share = data.s.mean()
    inside = (0.1 - share) / (1 - share)
    assert fitted.chosen["prior_in_unlabeled"] == pytest.approx(inside)
    values = fitted.embedding.transform(data.X).values.astype(np.float64)
    quadratic = pu_auc_quadratic(Moments.of(values[data.s]), Moments.of(values[~data.s]), inside)
    np.testing.assert_allclose(
        fitted.weights, quadratic.minimisers([float(str(fitted.chosen["penalty"]))])[0], rtol=1e-8
    )


@pytest.mark.parametrize(("basis", "ring", "low", "high"), [
    ("linear", False, 0.95, 1.0), ("gaussian", False, 0.95, 1.0),
    ("gaussian", True, 0.95, 1.0), ("linear", True, 0.2, 0.8),
])  # fmt: skip
def test_it_finds_positives_where_its_functions_can(basis: str, ring: bool, low: float, high: float) -> None:
    data, _ = draw(ring=ring)
    fresh, y = draw(seed=2, ring=ring)
    assert low < auc(y, fit(data, basis=basis).score(fresh.X, ONE).values) <= high


@pytest.mark.parametrize("basis", ["linear", "gaussian"])
def test_seeds_decide_and_threads_do_not(basis: str) -> None:
    data, _ = draw()
    one = fit(data, basis=basis)
    np.testing.assert_array_equal(one.weights, fit(data, TWO, basis=basis).weights)
    if basis == "gaussian":
        assert not np.array_equal(one.weights, fit(data, seed=1, basis=basis).weights)


@pytest.mark.parametrize("basis", ["linear", "gaussian"])
def test_a_score_is_that_of_the_row_alone(basis: str) -> None:
    data, _ = draw(2500)
    fitted = fit(data, basis=basis)
    scores = fitted.score(data.X, TWO).values
    for rows in (np.arange(2500)[::-1], np.arange(0, 2500, 7), np.array([1234])):
        np.testing.assert_array_equal(fitted.score(data.X.take(rows), ONE).values, scores[rows])


def test_too_few_rows_are_declined() -> None:
    data, _ = draw(200)
    s = np.zeros(200, dtype=bool)
    s[:2] = True
    with pytest.raises(
        NotApplicableError, match="needs 3 labelled and 2 unlabeled rows at least; there are 2 and 198"
    ):
        fit(PUData(data.X, s))


def test_three_labelled_rows_are_enough() -> None:
    data, _ = draw(200)
    s = np.zeros(200, dtype=bool)
    s[[0, 50, 100]] = True
    assert np.isfinite(fit(PUData(data.X, s)).weights).all()


def test_equal_rows_as_centres_have_a_width() -> None:
    X = np.zeros((300, 2))
    X[:5] = 1.0
    fitted = fit(PUData(Table.from_array(X), np.arange(300) < 4), centres=10)
    assert np.isfinite(fitted.score(Table.from_array(X), ONE).values).all()


@pytest.mark.parametrize("basis", ["linear", "gaussian"])
def test_a_saved_model_scores_the_same(basis: str, tmp_path: Path) -> None:
    data, _ = draw()
    fitted = fit(data, basis=basis)
    fitted.save(tmp_path)
    loaded = PUAUC().load(tmp_path, Parts())
    np.testing.assert_array_equal(loaded.score(data.X, ONE).values, fitted.score(data.X, ONE).values)
    assert loaded.chosen == fitted.chosen
    assert ("sigma" in loaded.chosen) == (basis == "gaussian")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("form", "pubench nnpu 1"), ("weights", []), ("weights", "x"), ("weights", [1.0] * 199), ("centres", []),
        ("centres", [[1.0]]), ("centres", {}), ("sigma", 0), ("sigma", 1e300), ("sigma", True), ("decided", 3),
        ("embedding", None),
    ],
)  # fmt: skip
def test_a_damaged_model_is_refused(key: str, value: object, tmp_path: Path) -> None:
    small().save(tmp_path)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(DataError, match=r"^.*\.$"):
        PUAUC().load(tmp_path, Parts())


@pytest.mark.parametrize("content", [None, b"", b"[]", b"\xff"])
def test_junk_is_refused(content: bytes | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "model.json").write_bytes(content)
    with pytest.raises(DataError, match=r"model\.json"):
        PUAUC().load(tmp_path, Parts())

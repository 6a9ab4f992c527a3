"""Elkan and Noto's two methods, and the scores out of fold that they rest on."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pubench import DataError, Learner, NotApplicableError, Parts, PUData, Resources, Seed, Table, auc
from pubench_plugins.learners.lightgbm import LightGBM
from pubench_plugins.learners.logistic import Logistic
from pubench_plugins.methods.elkan import Elkan
from pubench_plugins.methods.elkan_weighted import ElkanWeighted, positive_share
from pubench_plugins.methods.naive import Naive
from pubench_plugins.methods.out_of_fold import out_of_fold

ONE = Resources(n_threads=1)


def draw(rows: int = 6000, apart: float = 4.0, chance: float = 0.5) -> tuple[PUData, np.ndarray]:
    """Rows of which one in five is positive; a share `chance` of these is labelled at random."""
    generator = np.random.default_rng(1)
    y = generator.random(rows) < 0.2
    X = generator.standard_normal((rows, 4))
    X[y, :2] += apart
    return PUData(Table.from_array(X), y & (generator.random(rows) < chance)), y


@pytest.mark.parametrize("learner", [LightGBM(), Logistic(c=1.0)], ids=lambda learner: learner.name)
@pytest.mark.parametrize("estimator", ["e1", "e2"])
@pytest.mark.parametrize("chance", [0.3, 0.7])
def test_c_is_found_under_scar(learner: Learner, estimator: str, chance: float) -> None:
    data, y = draw(chance=chance)
    fitted = Elkan(estimator=estimator).fit(data, Parts(learner=learner), Seed(0), ONE)
    true_c = data.n_labelled / y.sum()
    assert fitted.c == pytest.approx(true_c, abs=0.05)
    assert fitted.expected_positives == pytest.approx(y.sum(), rel=0.15)
    assert fitted.chosen["c"] == fitted.c


def test_elkan_orders_rows_as_naive_does() -> None:
    data, _ = draw(apart=1.5)
    parts = Parts(learner=LightGBM())
    naive = Naive().fit(data, parts, Seed(3), ONE).score(data.X, ONE).values
    fitted = Elkan().fit(data, parts, Seed(3), ONE)
    np.testing.assert_array_equal(fitted.score(data.X, ONE).values, naive / fitted.c)


def test_the_weights_on_a_worked_example() -> None:
    """With c = 1/4 a row is worth three times its odds: 3 x 1/9, 3 x 1/3, and never more than 1."""
    np.testing.assert_allclose(
        positive_share(np.array([0.0, 0.1, 0.25, 0.5, 1.0]), 0.25), [0, 1 / 3, 1, 1, 1]
    )
    np.testing.assert_array_equal(positive_share(np.array([0.5, 1.0]), 1.0), [0, 0])


@given(arrays(np.float64, 20, elements=st.floats(0, 1)), st.floats(0.001, 1))
def test_the_weights_are_the_chance_of_a_hidden_positive(p: np.ndarray, c: float) -> None:
    """P(y=1|x, s=0) = p (1 - c) / (1 - p c), by Bayes, where g = p c."""
    hidden = np.divide(p * (1 - c), 1 - p * c, out=np.zeros(20), where=p * c < 1)
    np.testing.assert_allclose(positive_share(p * c, c), hidden, atol=1e-6)


def test_the_weighted_method_counts_positives_and_finds_them() -> None:
    data, y = draw(apart=2.5)
    fitted = ElkanWeighted().fit(data, Parts(learner=LightGBM()), Seed(0), ONE)
    assert fitted.expected_positives == pytest.approx(y.sum(), rel=0.25)
    found = fitted.score(data.X, ONE).values
    assert auc(y[~data.s], found[~data.s]) > 0.95
    # Naive takes hidden positives for negatives; with weights a sure positive is nearly one.
    naive = Naive().fit(data, Parts(learner=LightGBM()), Seed(0), ONE).score(data.X, ONE).values
    assert np.quantile(naive, 0.95) < 0.7
    assert np.quantile(found, 0.95) > 0.85


def test_scores_out_of_fold_do_not_know_their_own_labels() -> None:
    """Labels of pure noise: a model that had seen a row would score labelled ones higher."""
    generator = np.random.default_rng(0)
    data = PUData(Table.from_array(generator.standard_normal((1500, 20))), generator.random(1500) < 0.2)
    learner = LightGBM(l2=0.3, min_hessian=0.01, depth=6)
    trainer = Parts(learner=learner).trainer(data.X, ONE)
    assert auc(data.s, out_of_fold(trainer, data, 5, Seed(0), ONE)) == pytest.approx(0.5, abs=0.06)
    seen = Naive().fit(data, Parts(learner=learner), Seed(0), ONE).score(data.X, ONE).values
    assert auc(data.s, seen) > 0.8


def test_two_labelled_rows_make_two_folds_and_one_makes_none() -> None:
    data, _ = draw(300)
    s = np.zeros(300, dtype=bool)
    s[np.flatnonzero(data.s)[:2]] = True
    two = PUData(data.X, s)
    trainer = Parts(learner=Logistic()).trainer(data.X, ONE)
    assert np.isfinite(out_of_fold(trainer, two, 5, Seed(0), ONE)).all()
    s = s.copy()
    s[np.flatnonzero(s)[0]] = False
    with pytest.raises(NotApplicableError, match="two labelled"):
        out_of_fold(trainer, PUData(data.X, s), 5, Seed(0), ONE)


def test_rows_that_all_look_alike_leave_no_negative() -> None:
    data = PUData(Table.from_array(np.ones((40, 2))), np.arange(40) < 8)
    with pytest.raises(NotApplicableError, match="none is left"):
        ElkanWeighted(folds=4).fit(data, Parts(learner=Logistic()), Seed(0), ONE)


@pytest.mark.parametrize("c", ["0", "1.5", '"x"', "null", "true"])
def test_a_file_without_a_sound_c_is_refused(c: str, tmp_path: Path) -> None:
    data, _ = draw(300)
    parts = Parts(learner=Logistic())
    Elkan().fit(data, parts, Seed(0), ONE).save(tmp_path)
    (tmp_path / "decided.json").write_text(f'{{"c": {c}}}')
    with pytest.raises(DataError, match="chance c"):
        Elkan().load(tmp_path, parts)

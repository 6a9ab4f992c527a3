"""Scores of training rows by models that were not trained on them."""

import numpy as np
import pytest

from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.configuration.configuration import Configuration, PluginSpec, configure
from pubench.crossfit.cross_fit import fit_with_own_scores, own_folds, own_scores
from pubench.metrics.aul import aul_pu_score
from pubench.seeds import Seed
from pubench.types import PUData, Resources, Table

SEED, TWO = Seed(0), Resources(2)


def forest() -> Configuration:
    learner = PluginSpec("forest", {"leaf_rows": 1, "trees": 30})
    return configure({Kind.METHOD: PluginSpec("naive"), Kind.LEARNER: learner}, load_registry())


def rows(labelled_by_chance: bool) -> tuple[PUData, np.ndarray]:
    """Return data, and which unlabeled rows are positive."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(1500, 4))
    positive = X[:, 0] + X[:, 1] > 1.8
    s = positive & (generator.random(1500) < 0.5)
    if labelled_by_chance:
        s = generator.random(1500) < 0.1
    return PUData(Table.from_array(X), s), positive & ~s


def test_hidden_positives_are_found_among_training_rows() -> None:
    data, hidden = rows(labelled_by_chance=False)
    configuration = forest()
    fitted, own = fit_with_own_scores(configuration.method, configuration.parts, data, SEED, TWO)
    assert own is not None
    unlabeled = ~data.s
    remembered = fitted.score(data.X, TWO).values
    assert aul_pu_score(hidden[unlabeled], own[unlabeled]) > 0.9
    assert aul_pu_score(hidden[unlabeled], remembered[unlabeled]) < 0.75


def test_labels_without_a_reason_are_not_found_again() -> None:
    data, _ = rows(labelled_by_chance=True)
    configuration = forest()
    fitted, own = fit_with_own_scores(configuration.method, configuration.parts, data, SEED, TWO)
    assert own is not None
    assert aul_pu_score(data.s, fitted.score(data.X, TWO).values) > 0.95
    assert aul_pu_score(data.s, own) == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize("labelled", [1, 2, 3, 40])
def test_every_row_is_tested_once_whatever_the_labels(labelled: int) -> None:
    s = np.arange(90) < labelled
    folds = own_folds(s, SEED)
    if labelled == 1:
        assert folds == ()
        return
    assert len(folds) == min(5, labelled)
    assert np.array_equal(np.sort(np.concatenate([fold.test for fold in folds])), np.arange(90))
    assert not any(np.isin(fold.test, fold.rows[fold.sample]).any() for fold in folds)


def test_a_single_labelled_row_gives_none() -> None:
    data, _ = rows(labelled_by_chance=False)
    one = PUData(data.X, np.arange(data.X.n_rows) == int(np.flatnonzero(data.s)[0]))
    configuration = forest()
    fitted = configuration.method.fit(one, configuration.parts, SEED, TWO)
    assert own_scores(configuration.method, configuration.parts, fitted, one, SEED, TWO) is None

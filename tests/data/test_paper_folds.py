"""The paper's protocol: what training and evaluation may see."""

from typing import Any

import numpy as np
import pytest

from pubench.api.dataset import Dataset
from pubench.api.method import Parts
from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.data.labelling import Labelling
from pubench.data.paper_folds import PaperFold, paper_folds
from pubench.data.splits import stratified_folds
from pubench.errors import ParameterError
from pubench.metrics.aul import aul_pu_score
from pubench.metrics.supervised import auc
from pubench.seeds import Seed
from pubench.truth import Truth
from pubench.types import PUData, Resources, Table

ROWS = 300
X = Table.from_array(np.arange(ROWS, dtype=float).reshape(-1, 1))
Y = np.arange(ROWS) % 5 == 0


def test_true_labels_become_pu_on_both_sides_and_test_keeps_its_truth() -> None:
    tested = []
    for fold in paper_folds(Dataset(X, truth=Truth(Y)), Labelling(0.5), 3, Seed(0)):
        assert fold.test_truth is not None
        rows = fold.test.X.values[:, 0].astype(int)
        np.testing.assert_array_equal(fold.test_truth.y, Y[rows])
        for data in (fold.train, fold.test):
            positives = Y[data.X.values[:, 0].astype(int)]
            assert data.n_labelled == round(positives.sum() / 2)
            assert not (data.s & ~positives).any()
        assert not set(rows) & set(fold.train.X.values[:, 0].astype(int))
        tested.append(rows)
    np.testing.assert_array_equal(np.sort(np.concatenate(tested)), np.arange(ROWS))


def test_observed_labels_are_not_changed() -> None:
    s = Y & (np.arange(ROWS) % 2 == 0)
    for fold in paper_folds(Dataset(X, observed=s, truth=Truth(Y)), None, 3, Seed(0)):
        np.testing.assert_array_equal(fold.train.s, s[fold.train.X.values[:, 0].astype(int)])
        assert fold.test_truth is not None
        assert fold.test.n_labelled == 10
    assert [fold.test_truth for fold in paper_folds(Dataset(X, observed=s), None, 3, Seed(0))] == [None] * 3


def test_a_labelling_is_only_for_true_labels() -> None:
    with pytest.raises(ParameterError, match="observed labels"):
        next(paper_folds(Dataset(X, observed=Y), Labelling(0.5), 3, Seed(0)))
    with pytest.raises(ParameterError, match="theta_O"):
        next(paper_folds(Dataset(X, truth=Truth(Y)), None, 3, Seed(0)))


class TouchedError(Exception):
    """Somebody looked at the truth."""


class Untouchable(Truth):
    """A truth that may be carried about, and raises when anybody looks at it."""

    def __init__(self) -> None:
        """Hold nothing."""

    def __getattribute__(self, name: str) -> object:
        if name == "take":
            return lambda rows: self  # noqa: ARG005 - the signature of take
        if name.startswith("__"):
            return super().__getattribute__(name)
        raise TouchedError(name)


def test_training_and_label_free_evaluation_do_not_touch_the_truth() -> None:
    truth = Untouchable()
    with pytest.raises(TouchedError):
        _ = truth.y
    registry = load_registry()
    method: Any = registry.find("naive", Kind.METHOD).plugin()
    learner: Any = registry.find("lightgbm", Kind.LEARNER).plugin()
    folds = list(stratified_folds(Y, 3, Seed(0)))
    data = PUData(X, Y)
    for split in folds:
        fold = PaperFold(
            data.take(split.train), data.take(split.test), truth.take(split.test), truth.take(split.train)
        )
        fitted = method.fit(fold.train, Parts(learner=learner), Seed(0), Resources())
        scores = fitted.score(fold.test.X, Resources())
        assert 0 <= aul_pu_score(fold.test.s, scores.values) <= 1
        assert fold.test_truth is not None
        with pytest.raises(TouchedError):
            auc(fold.test_truth.y, scores.values)

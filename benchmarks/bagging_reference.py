"""Compares the rankings of `bagging` and pulearn's BaggingPuClassifier: same learner, same size of bags, same folds.

Both use pubench's learner as base, so that only the bagging differs. Each line is a data set: mean AUC of both over folds
and seeds, their difference fold by fold, and its standard error over folds and seeds. pulearn is not a dependency of
pubench: to run this, install it beside pubench in a separate environment (`pip install pulearn`).
"""

import argparse
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from pubench import (
    Labelling,
    Parts,
    PUData,
    Resources,
    Seed,
    Table,
    Tags,
    Truth,
    auc,
    draw_view,
    stratified_folds,
)
from pubench.api.plugin import Kind, Learner
from pubench.api.registry import Registry, load_registry
from pubench.data.paper_folds import paper_folds
from pubench.data.sources import DatasetRequest, open_dataset

Matrix = npt.NDArray[Any]
TWO = Resources(n_threads=2)


class Base(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A learner of pubench as scikit-learn wants it."""

    def __init__(self, learner: Learner | None = None, random_state: int = 0) -> None:
        self.learner = learner
        self.random_state = random_state

    def fit(self, X: Matrix, y: Matrix, sample_weight: Matrix | None = None) -> "Base":
        """Train on all rows, those of weight 0 left out."""
        learner = cast("Learner", self.learner)
        tags = Tags((np.asarray(y) == 1).astype(np.float64), sample_weight)
        prepared = learner.prepare(Table.from_array(X), TWO)
        self.model_ = learner.train(prepared, tags, Seed(self.random_state), TWO)
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Matrix) -> Matrix:
        """Return P(negative) and P(positive)."""
        positive = self.model_.predict(Table.from_array(X), TWO)
        return np.column_stack([1 - positive, positive])

    def predict(self, X: Matrix) -> Matrix:
        """Return the likelier class."""
        return np.asarray(self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)])


@dataclass(frozen=True)
class Fold:
    """Rows to learn from, rows to judge by, and who is positive among them."""

    train: PUData
    test: Table
    truth: Matrix


def simulated(kind: str) -> Iterator[Fold]:
    """Yield three folds of 9,000 rows, 300 of them positive, half of those labelled."""
    generator = np.random.default_rng(3)
    X = generator.standard_normal((9000, 10))
    signal = 1.5 * X[:, 0] + X[:, 1] if kind == "linear" else 2.0 * X[:, 0] * X[:, 1] + X[:, 2]
    odds = np.exp(signal)
    y = np.zeros(len(X), dtype=bool)
    y[generator.choice(len(X), 300, replace=False, p=odds / odds.sum())] = True
    table = Table.from_array(X)
    for number, split in enumerate(stratified_folds(y, 3, Seed(0))):
        view = draw_view(table.take(split.train), Truth(y[split.train]), Labelling(0.5), Seed(number))
        yield Fold(view.data, table.take(split.test), y[split.test])


def real(name: str, registry: Registry) -> Iterator[Fold]:
    """Yield the folds of the paper's protocol with half of the positives labelled."""
    dataset = open_dataset(DatasetRequest(name), registry).dataset
    for fold in paper_folds(dataset, Labelling(0.5), 3, Seed(0)):
        if fold.test_truth is None:
            raise TypeError(f"Nobody knows the truth of {name}.")
        yield Fold(fold.train, fold.test.X, fold.test_truth.y)


def ours(fold: Fold, learner: Learner, members: int, seed: int, registry: Registry) -> float:
    """Return the AUC of pubench's bagging."""
    method: Any = registry.find("bagging", Kind.METHOD).plugin(members=members)
    fitted = method.fit(fold.train, Parts(learner=learner), Seed(seed), TWO)
    return auc(fold.truth, fitted.score(fold.test, TWO).values)


def theirs(fold: Fold, learner: Learner, members: int, seed: int) -> float:
    """Return the AUC of pulearn's."""
    from pulearn import BaggingPuClassifier  # noqa: PLC0415 - may be missing

    model = BaggingPuClassifier(
        Base(learner),
        n_estimators=members,
        max_samples=fold.train.n_labelled,
        random_state=seed,
        oob_score=False,
    )
    model.fit(fold.train.X.values, fold.train.s.astype(int))
    return auc(fold.truth, model.predict_proba(fold.test.values)[:, 1])


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    sets = ["linear", "interactions"]
    parser.add_argument(
        "--sets", nargs="+", default=sets, help="simulated ones, or names such as mammography"
    )
    parser.add_argument("--learners", nargs="+", default=["lightgbm", "logistic"], help="which learners")
    parser.add_argument("--members", type=int, default=50, help="of the ensembles")
    parser.add_argument("--seeds", type=int, default=3, help="of each fold")
    return parser.parse_args()


def main() -> None:
    """Print one line per set and learner."""
    options = arguments()
    try:
        import pulearn  # noqa: F401, PLC0415
    except ImportError:
        raise SystemExit(
            "This comparison needs pulearn, which is not installed: pip install pulearn."
        ) from None
    warnings.simplefilter("ignore")
    registry = load_registry()
    print(
        f"{'set':<14}{'learner':<10}{'pubench':>9}{'pulearn':>9}{'difference':>12}{'stderr':>9}", flush=True
    )
    for name in options.sets:
        folds = list(simulated(name) if name in ("linear", "interactions") else real(name, registry))
        for learner_name in options.learners:
            learner = cast("Learner", registry.find(learner_name, Kind.LEARNER).plugin())
            pairs = np.array(
                [
                    (
                        ours(fold, learner, options.members, seed, registry),
                        theirs(fold, learner, options.members, seed),
                    )
                    for fold in folds
                    for seed in range(options.seeds)
                ]
            )
            difference = pairs[:, 0] - pairs[:, 1]
            error = difference.std(ddof=1) / np.sqrt(len(difference))
            a, b = pairs.mean(axis=0)
            print(
                f"{name:<14}{learner_name:<10}{a:>9.4f}{b:>9.4f}{difference.mean():>+12.4f}{error:>9.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""How well pubench's learners rank with their defaults if positives are rare, compared with their libraries' defaults.

Each learner is trained naively, unlabeled rows as negatives, and evaluated by AUC with true labels on unseen rows.
Simulated sets have 20 features, one labelled row in about a thousand and the same number of hidden positives; real ones
(if PUBENCH_DATA names their folder) follow the paper's protocol with half of the positives labelled. `stock` is the
library's scikit-learn class with its defaults. Seconds are CPU time of one thread, all sets of a line together, so they
are comparable under load.
"""

import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import process_time
from typing import Any, cast

# Before any learner is imported: one thread each, and no spinning.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import numpy.typing as npt
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier

from pubench import Labelling, Resources, Seed, Table, Tags, auc
from pubench.api.plugin import Kind, Learner
from pubench.api.registry import Registry, load_registry
from pubench.data.paper_folds import paper_folds
from pubench.data.sources import DatasetRequest, open_dataset

Matrix = npt.NDArray[Any]
Labels = npt.NDArray[np.bool_]
Ranker = Callable[[Table, Labels, Table], npt.NDArray[np.float64]]
ONE = Resources(n_threads=1)
REAL = ("creditcard", "aps-part", "mammography", "bank1")


@dataclass(frozen=True)
class Case:
    """Rows to train on, rows to judge by, and who is positive among them."""

    train: Table
    labelled: Labels
    test: Table
    truth: Labels


def linear(X: Matrix) -> Matrix:
    """Ten features add up."""
    return np.asarray(1.35 * X[:, :10] @ np.array([3, -3, 3, -3, 3, 2, -2, 1, -1, 1]) / np.sqrt(56))


def interactions(X: Matrix) -> Matrix:
    """Two products matter, and one feature by itself."""
    return np.asarray(1.2 * (X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3]) + 0.5 * X[:, 4])


def steps(X: Matrix) -> Matrix:
    """Thresholds matter, one of them only beside another."""
    ridge = 1.5 * (X[:, 3] > 0) * (X[:, 4] > 0.5)
    return np.asarray(1.2 * ((X[:, 0] > 1).astype(float) + (X[:, 1] < -1) + (np.abs(X[:, 2]) > 1.5) + ridge))


def clusters(X: Matrix) -> Matrix:
    """Positives sit in four small clusters of six features, but for a few."""
    centres = np.random.default_rng(11).standard_normal((4, 6)) * 1.5
    squares = ((X[:, None, :6] - centres) ** 2).sum(axis=2)
    return np.asarray(np.log(1e-4 + np.exp(-squares / 1.0).sum(axis=1)))


SIGNALS: dict[str, Callable[[Matrix], Matrix]] = {
    "linear": linear,
    "interactions": interactions,
    "steps": steps,
    "clusters": clusters,
}


def simulated(signal: Callable[[Matrix], Matrix], rows: int, labelled: int, seed: int) -> Case:
    """Draw rows whose log-odds are `signal`, and label half of the positives at random."""
    generator = np.random.default_rng([seed, 7])

    def draw(size: int, positives: int) -> tuple[Matrix, Labels]:
        X = generator.standard_normal((size, 20))
        odds = np.exp(signal(X))
        y = np.zeros(size, dtype=bool)
        y[generator.choice(size, positives, replace=False, p=odds / odds.sum())] = True
        return X, y

    X, y = draw(rows, 2 * labelled)
    s = np.zeros(rows, dtype=bool)
    s[generator.choice(np.flatnonzero(y), labelled, replace=False)] = True
    fresh, truth = draw(50_000, 1000)
    return Case(Table.from_array(X), s, Table.from_array(fresh), truth)


def real(name: str, registry: Registry) -> Iterator[Case]:
    """Yield the folds of a real data set, of a bank those of 200,000 customers."""
    rows = 200_000 if name.startswith("bank") else None
    dataset = open_dataset(DatasetRequest(name, rows=rows), registry).dataset
    labelling = Labelling(theta_o=0.5) if dataset.observed is None else None
    for fold in paper_folds(dataset, labelling, 3, Seed(0)):
        if fold.test_truth is None:
            raise TypeError(f"Nobody knows the truth of {name}.")
        yield Case(fold.train.X, fold.train.s, fold.test.X, fold.test_truth.y)


def ours(name: str, registry: Registry) -> Ranker:
    """Return pubench's learner of this name at its defaults."""
    learner = cast("Learner", registry.find(name, Kind.LEARNER).plugin())

    def rank(train: Table, s: Labels, test: Table) -> npt.NDArray[np.float64]:
        return learner.train(learner.prepare(train, ONE), Tags(s.astype(np.float64)), Seed(0), ONE).predict(
            test, ONE
        )

    return rank


def stock(make: Callable[[], Any], *, fill: bool = False) -> Ranker:
    """Return a scikit-learn class as it comes; `fill` puts 0 for missing values."""

    def rank(train: Table, s: Labels, test: Table) -> npt.NDArray[np.float64]:
        known, asked = ((np.nan_to_num(X.values) if fill else X.values) for X in (train, test))
        return np.asarray(make().fit(known, s).predict_proba(asked)[:, 1], dtype=np.float64)

    return rank


STOCK = {
    "xgboost": stock(lambda: XGBClassifier(n_jobs=1)),
    "lightgbm": stock(lambda: LGBMClassifier(n_jobs=1, verbose=-1)),
    "catboost": stock(lambda: CatBoostClassifier(thread_count=1, silent=True, allow_writing_files=False)),
    "histgb": stock(HistGradientBoostingClassifier),
    "logistic": stock(lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)), fill=True),
    "mlp": stock(lambda: make_pipeline(StandardScaler(), MLPClassifier((64, 64), max_iter=60)), fill=True),
}


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", choices=(*SIGNALS, *REAL), help="which sets; all when not given")
    parser.add_argument(
        "--learners", nargs="+", choices=tuple(STOCK), default=list(STOCK), help="which learners"
    )
    parser.add_argument("--rows", type=int, default=100_000, help="of a simulated set")
    parser.add_argument("--labelled", type=int, default=80, help="rows of a simulated set")
    parser.add_argument("--seeds", type=int, default=3, help="simulated sets of each kind")
    parser.add_argument("--no-stock", action="store_true", help="without the libraries' own defaults")
    return parser.parse_args()


def cases(options: argparse.Namespace, registry: Registry) -> dict[str, list[Case]]:
    """Return the sets that were asked for; without PUBENCH_DATA only those that need no file."""
    names = options.sets or [*SIGNALS, *(REAL if os.environ.get("PUBENCH_DATA") else REAL[-1:])]
    return {
        name: [
            simulated(SIGNALS[name], options.rows, options.labelled, seed) for seed in range(options.seeds)
        ]
        if name in SIGNALS
        else list(real(name, registry))
        for name in names
    }


def main() -> None:
    """Print one line per learner, one column per set: the mean AUC over seeds or folds."""
    options = arguments()
    registry = load_registry()
    sets = cases(options, registry)
    print(f"{'':<18}" + "".join(f"{name[:12]:>13}" for name in sets) + f"{'seconds':>9}", flush=True)
    for name in options.learners:
        rankers = {name: ours(name, registry), f"stock {name}": STOCK[name]}
        for title, rank in list(rankers.items())[: 1 if options.no_stock else 2]:
            start = process_time()
            areas = [
                np.mean([auc(case.truth, rank(case.train, case.labelled, case.test)) for case in several])
                for several in sets.values()
            ]
            line = f"{title:<18}" + "".join(f"{area:>13.4f}" for area in areas)
            print(f"{line}{process_time() - start:>9.1f}", flush=True)


if __name__ == "__main__":
    main()

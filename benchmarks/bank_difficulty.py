"""The difficulty of the synthetic bank tables: AUL_PU of default boosted trees, 3 folds stratified by label.

Unlabeled rows count as negative. `lightgbm` and `xgboost` are pubench's learners with their defaults, `stock xgboost` has
the library's own defaults, as in the paper. AUL_PU needs only the observed labels; AUC uses the hidden true labels.
`limit` is the ranking by the demand model itself, which only the generator knows.
"""

import argparse
import os
from collections.abc import Callable
from time import perf_counter
from typing import cast

# Before any learner is imported: threads that spin while they wait starve their neighbours.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import numpy.typing as npt
import xgboost
from sklearn.model_selection import StratifiedKFold

from pubench import Dataset, Resources, Seed, Table, Tags, auc, aul_pu_score
from pubench.api.plugin import Kind, Learner
from pubench.api.registry import load_registry
from pubench_plugins.datasets.bank import Bank1, Bank2, Bank3
from pubench_plugins.datasets.bank_customers import Streams, observe
from pubench_plugins.datasets.bank_demand import DRIVERS, signal

Labels = npt.NDArray[np.bool_]
Ranker = Callable[[Table, Labels, Table], npt.NDArray[np.float64]]
BANKS = (Bank1, Bank2, Bank3)


def built_in(name: str, resources: Resources) -> Ranker:
    """Return pubench's learner of this name at its defaults."""
    learner = cast("Learner", load_registry().find(name, Kind.LEARNER).plugin())

    def rank(train: Table, s: Labels, test: Table) -> npt.NDArray[np.float64]:
        prepared = learner.prepare(train, resources)
        return learner.train(prepared, Tags(s.astype(np.float64)), Seed(0), resources).predict(
            test, resources
        )

    return rank


def stock(resources: Resources) -> Ranker:
    """Return xgboost as it comes; it takes codes of categories for numbers."""

    def rank(train: Table, s: Labels, test: Table) -> npt.NDArray[np.float64]:
        model = xgboost.XGBClassifier(n_jobs=resources.n_threads)
        model.fit(train.values, s)
        return np.asarray(model.predict_proba(test.values)[:, 1], dtype=np.float64)

    return rank


def opened(data: Dataset) -> tuple[Labels, Labels]:
    """Return what is observed and what is true."""
    if data.observed is None or data.truth is None:
        raise TypeError("A bank has both kinds of labels.")
    return data.observed, data.truth.y


def difficulty(rank: Ranker, data: Dataset, folds: int) -> tuple[float, float]:
    """Return the mean AUL_PU and the mean AUC against truth over the folds."""
    s, y = opened(data)
    values = []
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=0).split(s, s):
        scores = rank(data.X.take(train), s[train], data.X.take(test))
        values.append((aul_pu_score(s[test], scores), auc(y[test], scores)))
    aul, area = np.mean(values, axis=0)
    return float(aul), float(area)


def limit(data: Dataset, window: int) -> tuple[float, float]:
    """Return AUL_PU and AUC of the ranking by the demand model."""
    s, y = opened(data)
    known = signal(observe(Streams(data.X.n_rows, window), DRIVERS))
    return aul_pu_score(s, known), auc(y, known)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=None, help="customers; all of them when not given")
    parser.add_argument(
        "--windows", type=int, nargs="+", choices=(1, 2, 3), default=[1, 2, 3], help="which banks"
    )
    parser.add_argument("--folds", type=int, default=3, help="of the cross-validation")
    parser.add_argument("--threads", type=int, default=2, help="of each learner")
    return parser.parse_args()


def main() -> None:
    """Print one line per window and learner."""
    options = arguments()
    resources = Resources(n_threads=options.threads)
    rankers = {
        "lightgbm": built_in("lightgbm", resources),
        "xgboost": built_in("xgboost", resources),
        "stock xgboost": stock(resources),
    }
    print(
        f"{'data set':<10}{'rows':>9}{'labelled':>10}{'model':>16}{'AUL_PU':>9}{'AUC':>8}{'seconds':>9}",
        flush=True,
    )
    for window in options.windows:
        start = perf_counter()
        data = BANKS[window - 1]().load((), options.rows, Seed(0))
        made = perf_counter() - start
        labelled = int(opened(data)[0].sum())
        head = f"{f'bank{window}':<10}{data.X.n_rows:>9}{labelled:>10}"
        print(f"{head}{'(generated)':>16}{'':>17}{made:>9.1f}", flush=True)
        print(f"{head}{'limit':>16}" + "{:>9.4f}{:>8.4f}".format(*limit(data, window - 1)), flush=True)
        for name, rank in rankers.items():
            start = perf_counter()
            aul, area = difficulty(rank, data, options.folds)
            print(f"{head}{name:>16}{aul:>9.4f}{area:>8.4f}{perf_counter() - start:>9.1f}", flush=True)


if __name__ == "__main__":
    main()

"""The paper's protocol on public data: folds of true labels, half of the positives labelled, every method at its defaults.

    python benchmarks/paper_table.py                               # ProbTagging and naive, lightgbm
    python benchmarks/paper_table.py --learner xgboost catboost --dataset creditcard
    python benchmarks/paper_table.py --method all

Prints the means over folds of AUC and AUL on the truth of the test rows and of AUL_PU on their PU labels, the seconds
of one fit, and the paper's AUC / AUL where it has any. The data sets must be there: `pubench datasets fetch NAME`.
"""

import argparse
import time
from typing import Any

import numpy as np

from pubench.data.protocol import Fold, paper_folds
from pubench.data.sources import Wanted, open_dataset
from pubench.data.views import Labelling
from pubench.errors import NotApplicableError
from pubench.machine import cores
from pubench.method_api import Method, Parts
from pubench.metrics.label_free import aul_pu_score
from pubench.metrics.supervised import auc, aul_pn_score
from pubench.plugin_api import Kind
from pubench.registry import Registry, load_registry
from pubench.seeds import Seed
from pubench.types import PUData, Resources

#: AUC / AUL in the paper's tables; its APS is the part of 9,000 rows.
PAPER = {
    "creditcard": {
        "probtagging": ".9757 / .9794", "elkan": ".9612 / .9681", "liu": ".9652 / .9703",
        "bagging": ".9682 / .9730", "nnpu": ".8916 / .8858", "pu-auc": ".8768 / .8778",
    },
    "aps-part": {
        "probtagging": ".9921 / .9878", "elkan": ".9896 / .9848", "liu": ".9850 / .9806",
        "bagging": ".9883 / .9837", "nnpu": ".9233 / .9271", "pu-auc": ".9660 / .9653",
    },
}  # fmt: skip
FOLDS = {"aps-part": 5}


def parse() -> argparse.Namespace:
    """Return what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", nargs="+", default=["creditcard", "aps-part", "mammography"])
    parser.add_argument("--method", nargs="+", default=["probtagging", "naive"])
    parser.add_argument("--learner", nargs="+", default=["lightgbm"])
    parser.add_argument("--similarity", default="knn")
    parser.add_argument("--theta-o", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def judge(
    method: Method, parts: Parts, fold: Fold, number: int, seed: int
) -> tuple[float, float, float, float]:
    """Return AUC, AUL, AUL_PU and the seconds of the fit."""
    resources = Resources(n_threads=cores())
    if fold.test_truth is None or fold.train_truth is None:
        raise SystemExit("This table is about data sets whose truth is known.")
    train = PUData(fold.train.X, fold.train_truth.y) if method.wants_all_labels else fold.train
    start = time.perf_counter()
    fitted = method.fit(train, parts, Seed(seed).child("fit", number), resources)
    seconds = time.perf_counter() - start
    scores = fitted.score(fold.test.X, resources).values
    y = fold.test_truth.y
    return auc(y, scores), aul_pn_score(y, scores), aul_pu_score(fold.test.s, scores), seconds


def combinations(options: argparse.Namespace, registry: Registry) -> list[tuple[str, str]]:
    """Return (method, learner), each method that uses no learner once."""
    names = registry.names(Kind.METHOD) if options.method == ["all"] else options.method
    found = []
    for name in names:
        plugin = registry.find(name, Kind.METHOD).plugin
        uses = issubclass(plugin, Method) and Kind.LEARNER in plugin.uses
        found += [(name, learner) for learner in (options.learner if uses else ["-"])]
    return found


def made(registry: Registry, kind: Kind, name: str) -> Any:
    """Return a plugin at its defaults."""
    return registry.find(name, kind).plugin()


def main() -> None:
    """Print a table per data set."""
    options, registry = parse(), load_registry()
    for name in options.dataset:
        dataset = open_dataset(Wanted(name), registry).dataset
        count = FOLDS.get(name, 3)
        folds = list(paper_folds(dataset, Labelling(options.theta_o), count, Seed(options.seed)))
        print(
            f"{name}: {dataset.X.n_rows:,} x {dataset.X.n_features}, theta_O {options.theta_o:g}, {count} folds"
        )
        print(
            f"  {'method':15} {'learner':9} {'AUC':>6} {'AUL':>6} {'AUL_PU':>6} {'fit':>8}   paper's AUC / AUL"
        )
        for method, learner in combinations(options, registry):
            parts = Parts(
                made(registry, Kind.SIMILARITY, options.similarity),
                None if learner == "-" else made(registry, Kind.LEARNER, learner),
            )
            try:
                rows = [
                    judge(made(registry, Kind.METHOD, method), parts, fold, number, options.seed)
                    for number, fold in enumerate(folds)
                ]
            except NotApplicableError as error:
                print(f"  {method:15} {learner:9} {error}")
                continue
            figures = " ".join(f"{value:6.4f}" for value in np.mean(rows, axis=0)[:3])
            seconds = float(np.median([row[3] for row in rows]))
            print(
                f"  {method:15} {learner:9} {figures} {seconds:6.1f} s   {PAPER.get(name, {}).get(method, '-')}",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""What a model says about rows that it was trained on, beside the scores by models that were not trained on them.

People score the table they trained on: its unlabeled rows are the call list. On each table a method is fitted, and the
unlabeled training rows are scored twice: by the model itself, and by models of other folds, as `pubench predict` does. Both are
judged by true labels: the AUC of the hidden positives among the unlabeled training rows, and the share of the hidden
positives among the best 1% of them.

    python benchmarks/own_rows.py --table mammography --table vowels
"""

import argparse
from collections.abc import Mapping

import numpy as np

from peer_protocol import Protocol, draw, read_table
from pubench import PUData, Resources, Seed, auc
from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.configuration.configuration import PluginSpec, configure
from pubench.crossfit.cross_fit import fit_with_own_scores
from pubench.system.machine import cores
from pubench.types import BoolVector, FloatVector

_TABLES = ("vowels", "mammography", "satimage-2", "pendigits", "fault", "bank-marketing")
_KNN = PluginSpec("knn")
MODELS: Mapping[str, Mapping[Kind, PluginSpec]] = {
    "extra trees, leaves of 1": {
        Kind.METHOD: PluginSpec("naive"),
        Kind.LEARNER: PluginSpec("forest", {"leaf_rows": 1}),
    },
    "knn + forest": {
        Kind.METHOD: PluginSpec("probtagging"),
        Kind.SIMILARITY: _KNN,
        Kind.LEARNER: PluginSpec("forest"),
    },
    "knn + lightgbm": {
        Kind.METHOD: PluginSpec("probtagging"),
        Kind.SIMILARITY: _KNN,
        Kind.LEARNER: PluginSpec("lightgbm"),
    },
}


def found_on_top(hidden: BoolVector, scores: FloatVector) -> float:
    """Return the share of hidden positives among the best 1% of the rows."""
    best = np.argsort(-scores, kind="stable")[: max(1, len(scores) // 100)]
    return float(hidden[best].sum() / hidden.sum())


def main() -> None:
    """Print a line per table and model."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", action="append", help="a data set or an .npz file; may be repeated")
    parser.add_argument("--labelled", type=int, default=100, help="rows, at most half of the positives")
    parser.add_argument("--unlabeled", type=int, default=10_000, help="rows to train on, at most")
    options = parser.parse_args()
    registry, resources = load_registry(), Resources(n_threads=cores())
    protocol = Protocol(60.0, cores(), unlabeled=options.unlabeled)
    head = f"{'AUC':>18}{'found in top 1%':>26}\n{'':<44}" + 2 * f"{'itself':>12}{'others':>12}"
    print(f"{'table':<16}{'model':<28}{head}")
    for name in options.table or _TABLES:
        table = read_table(name, registry)
        sample = draw(table, 0, 0, options.labelled, protocol)
        hidden = sample.hidden_positives[~sample.s]
        for model, plugins in MODELS.items():
            configuration = configure(plugins, registry)
            data = PUData(sample.train, sample.s)
            fitted, own = fit_with_own_scores(
                configuration.method, configuration.parts, data, Seed(0), resources
            )
            if own is None:
                continue
            both = [fitted.score(sample.train, resources).values[~sample.s], own[~sample.s]]
            areas = "".join(f"{auc(hidden, scores):>12.3f}" for scores in both)
            shares = "".join(f"{found_on_top(hidden, scores):>12.3f}" for scores in both)
            print(f"{table.name:<16}{model:<28}{areas}{shares}", flush=True)


if __name__ == "__main__":
    main()

"""What label-free tuning is worth when truth is opened afterwards: tuned against default, and against a tuned oracle.

    python benchmarks/tuning_truth.py                          # creditcard, theta_O .5, 3 outer folds, 30 trials each
    python benchmarks/tuning_truth.py --dataset mammography --trials 10 --no-oracle

For each outer fold of the paper's protocol the training rows are searched by their PU labels alone; what is found, and
the default, are trained on all of them and judged by AUC on the test rows. The oracle is searched alike, with every
positive labelled. Kendall's tau says how AUL_PU from PU labels and AUC from truth rank the trials of a search alike, on
the same rows held out inside of it; of trials that saw all folds.
"""

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.stats import kendalltau

from pubench.data.protocol import Fold, paper_folds
from pubench.data.sources import Wanted, open_dataset
from pubench.data.views import Labelling
from pubench.keeping import machine_cache
from pubench.machine import cores
from pubench.metrics.supervised import auc
from pubench.plugin_api import Kind
from pubench.registry import Registry, load_registry
from pubench.saving.configuration import Configuration
from pubench.seeds import Seed
from pubench.tuner.choosing import choose_space
from pubench.tuner.orders import TuneOrder
from pubench.tuning.outcome import TUNED
from pubench.tuning.run import Found, Place, Run, Watcher, Wishes
from pubench.types import BoolVector, PUData, Resources

WORKER = [sys.executable, "-m", "pubench.cli.tuning_worker"]


def parse() -> argparse.Namespace:
    """Return what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="creditcard")
    parser.add_argument("--theta-o", type=float, default=0.5)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-oracle", action="store_true")
    return parser.parse_args()


def search(
    train: PUData, options: argparse.Namespace, registry: Registry, methods: list[str], folder: Path
) -> tuple[Found, Configuration]:
    """Return what a search on these rows finds, and the default it began with."""
    order = TuneOrder(Wanted(options.dataset), names={Kind.METHOD: methods}, trials=options.trials)
    space, _ = choose_space(order, registry, train)
    wishes = Wishes(options.trials, None, time.monotonic(), holdout=0.1, seed=options.seed)
    resources = Resources(n_threads=cores(), keep=machine_cache())
    found = Run(train, space, wishes, Place(folder, WORKER), resources, Watcher()).tune()
    return found, space.configuration(space.default())


def judged(configuration: Configuration, train: PUData, fold: Fold, y: BoolVector, seed: int) -> float:
    """Return the AUC of a configuration that is trained on all training rows."""
    resources = Resources(n_threads=cores(), keep=machine_cache())
    fitted = configuration.method.fit(train, configuration.parts, Seed(seed).child("fit"), resources)
    return float(auc(y, fitted.score(fold.test.X, resources).values))


def agreement(found: Found, y: BoolVector, folder: Path) -> tuple[float, int]:
    """Return Kendall's tau between AUL_PU and AUC of the trials that saw all folds, and how many these are."""
    inner = y[found.split.train]
    pairs = []
    for trial in found.trials:
        path = folder / f"scores-{trial.number}.npy"
        if trial.is_complete and path.exists():
            scores = np.split(np.load(path), np.cumsum([len(fold.test) for fold in found.folds])[:-1])
            truth = [auc(inner[fold.test], part) for fold, part in zip(found.folds, scores, strict=True)]
            pairs.append((trial.value, np.mean(truth)))
    tau = float(kendalltau(*zip(*pairs, strict=True)).statistic) if len(pairs) > 2 else float("nan")
    return tau, len(pairs)


def main() -> None:
    """Print a line per outer fold, and means."""
    options, registry = parse(), load_registry()
    dataset = open_dataset(Wanted(options.dataset), registry).dataset
    print(f"{options.dataset}, theta_O {options.theta_o:g}, {options.trials} trials per search", flush=True)
    rows = []
    for number, fold in enumerate(
        paper_folds(dataset, Labelling(options.theta_o), options.folds, Seed(options.seed))
    ):
        if fold.test_truth is None or fold.train_truth is None:
            raise SystemExit("This is about data sets whose truth is known.")
        y = fold.test_truth.y
        with TemporaryDirectory() as name:
            found, default = search(fold.train, options, registry, [], Path(name))
            tau, complete = agreement(found, fold.train_truth.y, Path(name))
        tuned = found.outcome.contenders[TUNED].configuration
        row = [judged(one, fold.train, fold, y, options.seed) for one in (tuned, default)]
        ceiling = "-"
        if not options.no_oracle:
            everything = PUData(fold.train.X, fold.train_truth.y)
            with TemporaryDirectory() as name:
                best, _ = search(everything, options, registry, ["oracle"], Path(name))
            row.append(
                judged(best.outcome.contenders[TUNED].configuration, everything, fold, y, options.seed)
            )
            ceiling = f"{row[-1]:.4f}"
        rows.append(row)
        print(
            f"  fold {number}: tuned {row[0]:.4f} ({tuned}), default {row[1]:.4f}, tuned oracle {ceiling}; "
            f"tau {tau:+.2f} over {complete} of {len(found.trials)} trials",
            flush=True,
        )
    print("  mean: " + ", ".join(f"{value:.4f}" for value in np.mean(rows, axis=0)))


if __name__ == "__main__":
    main()

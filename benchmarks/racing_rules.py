"""Which rule stops bad trials sooner: a paired test of placements, or Wilcoxon's test of the values of folds.

    python benchmarks/racing_rules.py                                    # bank1, 100,000 rows, 20 trials, 3 and 10 folds
    python benchmarks/racing_rules.py --dataset mammography --folds 5

One search without racing; then both rules look at the trials in their order, fold by fold, beside the best one before.
Prints how many folds each would have spared, and what the best trial that is left is worth. Wilcoxon's rule is that of
`optuna.pruners.WilcoxonPruner` at its defaults: at least two folds, and p below 0.1.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np
from scipy.stats import wilcoxon

from pubench.data.sources import Wanted, open_dataset
from pubench.fitting import pu_data
from pubench.keeping import machine_cache
from pubench.machine import cores
from pubench.registry import load_registry
from pubench.seeds import Seed
from pubench.tuner.choosing import choose_space
from pubench.tuner.orders import TuneOrder
from pubench.tuning.inner import Plan
from pubench.tuning.racing import Race
from pubench.tuning.run import Found, Place, Run, Watcher, Wishes
from pubench.tuning.study import Trial
from pubench.types import FloatVector, Resources

WORKER = [sys.executable, "-m", "pubench.cli.tuning_worker"]
Placements: TypeAlias = Sequence[FloatVector]
Rule: TypeAlias = Callable[[Placements, Placements], bool]


def by_folds(trial: Placements, best: Placements) -> bool:
    """Whether a trial is behind by Wilcoxon's signed-rank test of its folds' values."""
    differences = [float(a.mean() - b.mean()) for a, b in zip(trial, best, strict=False)]
    if len(differences) < 2 or np.mean(differences) >= 0:
        return False
    return bool(wilcoxon(differences, alternative="less", zero_method="zsplit").pvalue < 0.1)


RULES: dict[str, Rule] = {"paired placements": Race().is_lost, "Wilcoxon over folds": by_folds}


def search(name: str, rows: int | None, trials: int, folds: int, folder: Path) -> Found:
    """Return a search in which every trial sees all folds."""
    registry = load_registry()
    data, _ = pu_data(open_dataset(Wanted(name, rows=rows), registry).dataset, None, Seed(0))
    space, _ = choose_space(TuneOrder(Wanted(name), trials=trials), registry, data)
    wishes = Wishes(trials, None, time.monotonic(), Plan(folds=folds), race=Race(0))
    resources = Resources(n_threads=cores(), keep=machine_cache())
    return Run(data, space, wishes, Place(folder, WORKER), resources, Watcher()).tune()


def replay(trials: Sequence[Trial], rule: Rule) -> tuple[int, int, float]:
    """Return how many folds are seen, how many trials are stopped, and the value of the best that is left."""
    best, seen, stopped = trials[0], len(trials[0].placements), 0
    for trial in trials[1:]:
        count = len(trial.placements)
        end = next((k for k in range(1, count) if rule(trial.placements[:k], best.placements)), count)
        seen, stopped = seen + end, stopped + (end < count)
        if end == count and (trial.value or 0) > (best.value or 0):
            best = trial
    return seen, stopped, best.value or 0.0


def main() -> None:
    """Print a line per rule and number of folds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="bank1")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--folds", type=int, action="append")
    options = parser.parse_args()
    rows = 100_000 if options.dataset == "bank1" and options.rows is None else options.rows
    for folds in options.folds or (3, 10):
        with TemporaryDirectory() as name:
            found = search(options.dataset, rows, options.trials, folds, Path(name))
        trials = [trial for trial in found.trials if trial.is_complete]
        whole = sum(len(trial.placements) for trial in trials)
        print(
            f"{options.dataset}, {len(trials)} trials, {folds} folds: best {max(t.value or 0 for t in trials):.4f}"
        )
        for title, rule in RULES.items():
            seen, stopped, best = replay(trials, rule)
            print(
                f"  {title:20} sees {seen} of {whole} folds ({seen / whole:.0%}), stops {stopped}, best left {best:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()

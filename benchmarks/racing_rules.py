"""Which rule stops bad trials earlier: a paired test of placements, or Wilcoxon's test of the values of folds.

    python benchmarks/racing_rules.py                                    # bank1, 100,000 rows, 20 trials, 3 and 10 folds
    python benchmarks/racing_rules.py --dataset mammography --folds 5

One search without racing; then both rules are applied to the trials in their order, fold by fold, compared with the best
one before. Prints the number of folds each would have saved, and the value of the best remaining trial. Wilcoxon's rule is
that of `optuna.pruners.WilcoxonPruner` with its defaults: at least two folds, and p below 0.1.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np
from scipy.stats import wilcoxon

from pubench.api.registry import load_registry
from pubench.crossfit.folds import FoldPlan
from pubench.data.labelling import pu_data
from pubench.data.sources import DatasetRequest, open_dataset
from pubench.seeds import Seed
from pubench.system.cache import machine_cache
from pubench.system.machine import cores
from pubench.tuning.command import choose_space, run_trial_worker
from pubench.tuning.pruning import PlacementPruner
from pubench.tuning.request import SearchRequest, TuneRequest
from pubench.tuning.result import TuneResult
from pubench.tuning.run import TuneContext, TuningRun
from pubench.tuning.run_folder import RunFolder
from pubench.tuning.trial import Trial
from pubench.types import FloatVector, Resources

Placements: TypeAlias = Sequence[FloatVector]
Rule: TypeAlias = Callable[[Placements, Placements], bool]


def by_folds(trial: Placements, best: Placements) -> bool:
    """Whether a trial is behind by Wilcoxon's signed-rank test of its folds' values."""
    differences = [float(a.mean() - b.mean()) for a, b in zip(trial, best, strict=False)]
    if len(differences) < 2 or np.mean(differences) >= 0:
        return False
    return bool(wilcoxon(differences, alternative="less", zero_method="zsplit").pvalue < 0.1)


RULES: dict[str, Rule] = {
    "paired placements": PlacementPruner().should_prune,
    "Wilcoxon over folds": by_folds,
}


def search(name: str, rows: int | None, trials: int, folds: int, folder: Path) -> TuneResult:
    """Return a search in which every trial sees all folds."""
    registry = load_registry()
    data, _ = pu_data(open_dataset(DatasetRequest(name, rows=rows), registry).dataset, None, Seed(0))
    space = choose_space(TuneRequest(DatasetRequest(name)), registry)
    request = SearchRequest(trials, plan=FoldPlan(folds=folds), racing=False, ensemble=False)
    resources = Resources(n_threads=cores(), keep=machine_cache())
    return TuningRun(data, space, request, TuneContext(RunFolder(folder), run_trial_worker, resources)).tune()


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
            result = search(options.dataset, rows, options.trials, folds, Path(name))
        trials = [trial for trial in result.trials if trial.is_complete]
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

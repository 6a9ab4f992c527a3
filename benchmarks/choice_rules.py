"""Which rule should choose the model at the end of a search? Rules compared on the trials of a library, by true labels.

    python benchmarks/choice_rules.py --library LIBRARY          (made by trial_library.py)

Each rule sees the out-of-fold scores of all trials and PU labels, and returns the weights of a blend. What it chose is judged
by AUC with true labels on rows held out. Regret is the distance from the best single trial by true labels, which no rule
can know; below 0 a blend is better than every trial. To show what a rule does where a search found little, the
rules also choose among random subsets of the trials (--subset).
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from pubench import Seed
from pubench.tuning.ensemble_selection import RankedFold, mean_value, select_blend, select_single
from pubench.types import FloatVector
from trial_library import JudgedCell, read_library

_DEFAULT = "knn-drawn lightgbm"
#: Folds -> a weight per trial.
Rule = Callable[[Sequence[RankedFold]], Sequence[float]]


def _values(folds: Sequence[RankedFold]) -> FloatVector:
    count = folds[0].n_candidates
    return np.array([mean_value(folds, tuple(int(i == j) for j in range(count))) for i in range(count)])


def top(folds: Sequence[RankedFold], count: int) -> Sequence[float]:
    """Weigh the best few trials equally."""
    values = _values(folds)
    return [float(value >= np.sort(values)[-min(count, len(values))]) for value in values]


def greedy_once(folds: Sequence[RankedFold]) -> Sequence[float]:
    """Greedy selection with replacement, without bootstraps."""
    count = folds[0].n_candidates
    weights, best = (0,) * count, -np.inf
    for _ in range(25):
        options = [tuple(w + (i == j) for j, w in enumerate(weights)) for i in range(count)]
        values = [mean_value(folds, option) for option in options]
        if max(values) <= best + 1e-6:
            break
        best = max(values)
        weights = options[int(np.argmax(values))]
    return weights


def shrunk(folds: Sequence[RankedFold]) -> Sequence[float]:
    """Weigh trials by how many standard errors they are behind the best one."""
    values = _values(folds)
    n_labelled = sum(len(fold.rows) for fold in folds)
    stderr = 0.3 / np.sqrt(n_labelled)
    return list(np.exp((values - values.max()) / (0.25 * stderr)))


def guarded(folds: Sequence[RankedFold], default: int) -> Sequence[float]:
    """Leave the default for the best trial only if that is better by more than a standard error."""
    count = folds[0].n_candidates
    best = int(np.argmax(_values(folds)))
    single = [tuple(int(i == j) for j in range(count)) for i in (best, default)]
    gain = np.concatenate([fold.placements(single[0]) - fold.placements(single[1]) for fold in folds])
    return single[0] if gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)) else single[1]


def near(folds: Sequence[RankedFold], stderrs: float, initial: int = 5) -> Sequence[float]:
    """Select a blend among the trials that are at most this number of standard errors behind the best one."""
    count = folds[0].n_candidates
    singles = [tuple(int(i == j) for j in range(count)) for i in range(count)]
    placed = np.array([np.concatenate([fold.placements(single) for fold in folds]) for single in singles])
    behind = placed[int(np.argmax(_values(folds)))] - placed
    limit = stderrs * behind.std(axis=1, ddof=1) / np.sqrt(placed.shape[1])
    kept = np.flatnonzero(behind.mean(axis=1) <= limit)
    reduced = [
        replace(fold, labelled=fold.labelled[kept], unlabeled=fold.unlabeled[kept], _placements={})
        for fold in folds
    ]
    chosen = select_blend(reduced, Seed(0), initial=initial) if len(kept) > 1 else (1,)
    weights = np.zeros(count)
    weights[kept] = chosen
    return list(weights)


RULES: Mapping[str, Rule] = {
    "best": select_single,
    "mean of 3": partial(top, count=3),
    "mean of 5": partial(top, count=5),
    "mean of all": partial(top, count=10**6),
    "shrunk": shrunk,
    "greedy": greedy_once,
    "bagged from 1": partial(select_blend, seed=Seed(0), initial=1),
    "bagged greedy": partial(select_blend, seed=Seed(0)),
    "within 2 se": partial(near, stderrs=2.0),
    "within 1 se": partial(near, stderrs=1.0),
    "from 8": partial(select_blend, seed=Seed(0), initial=8),
    "1 se from 8": partial(near, stderrs=1.0, initial=8),
}


def judged(cell: JudgedCell, names: Sequence[str]) -> dict[str, float]:
    """Return the AUC of what each rule chooses among these trials."""
    folds = cell.ranked(names)
    rules = dict(RULES)
    if _DEFAULT in names:
        rules["one-se guard"] = partial(guarded, default=names.index(_DEFAULT))
    found = {"default": cell.auc[_DEFAULT]}
    for rule, choose in rules.items():
        weights = choose(folds)
        found[rule] = cell.blended({name: w for name, w in zip(names, weights, strict=True) if w > 0})
    return found


def main() -> None:
    """Print a line per table, then means, medians and worst cases over tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--library", type=Path, required=True, help="made by trial_library.py")
    parser.add_argument("--subset", type=int, help="choose among this number of trials, drawn anew per table")
    parser.add_argument("--draws", type=int, default=3, help="of each subset")
    options = parser.parse_args()
    generator = np.random.default_rng(0)
    regrets: list[list[float]] = []
    for cell in read_library(options.library):
        drawn = [cell.names]
        if options.subset:
            others = [name for name in cell.names if name != _DEFAULT]
            drawn = [
                [_DEFAULT, *generator.choice(others, options.subset - 1, replace=False)]
                for _ in range(options.draws)
            ]
        found = [judged(cell, names) for names in drawn]
        best = [max(cell.auc[name] for name in names) for names in drawn]
        rules = list(found[0])
        if not regrets:
            print(f"{'regret on':<24}{'labelled':>9}{'best':>8}" + "".join(f"{rule:>14}" for rule in rules))
        mean = [float(np.mean([b - f[rule] for b, f in zip(best, found, strict=True)])) for rule in rules]
        regrets.append(mean)
        print(_line(f"{cell.cell.table:<24}{int(cell.s.sum()):>9}{np.mean(best):>8.4f}", mean), flush=True)
    for name, summary in (("mean", np.mean), ("median", np.median), ("worst", np.max)):
        print(_line(f"{name:<41}", list(summary(np.array(regrets), axis=0))))


def _line(name: str, values: Sequence[float]) -> str:
    return name + "".join(f"{value:>14.4f}" for value in values)


if __name__ == "__main__":
    main()

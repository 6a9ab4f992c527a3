"""Paired comparisons of all contenders: who beats whom.

Where two contenders have placements of the same test fold, they are compared row by row, as in
`pubench.metrics.comparison`: the mean difference, with a variance that includes one additional difference of 0. The folds
of one split share no test row, so their variances add up. Different seeds and different tasks of a data set do share
rows; their standard errors are averaged, which is an upper bound. Data sets are independent. The p-value refers to these
data sets with other draws of their rows.

Contenders that share no such fold are compared by Wilcoxon's signed-rank test over the tasks that they share. All
p-values are corrected together (Holm 1979).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from pubench.leaderboard.ranking import RankedTask
from pubench.leaderboard.runs import BoardRuns, Run, Unit
from pubench.leaderboard.task_results import Mask, Matrix
from pubench.metrics.comparison import holm, variance_of_mean
from pubench.types import FloatVector

Test: TypeAlias = Literal["placements", "wilcoxon", "none"]
TestOutcome: TypeAlias = tuple[float, float, Test]

#: Maximum number of contenders that are compared, since the number of pairs grows with its square.
MAX_COMPARED = 150
#: With fewer tasks the p-value of Wilcoxon's test cannot be below 0.05.
_MIN_TASKS = 6


@dataclass(frozen=True)
class Pair:
    """Contender a against contender b.

    Attributes:
        a, b: numbers of the contenders.
        wins, losses, ties: number of tasks with runs of both, by mean AUL_PU; a contender whose runs all failed loses.
        difference: of mean AUL_PU over the folds or tasks of the test; above 0 if a is better.
        p_value: two-sided; 1 if there is nothing to test.
        p_holm: corrected for the number of pairs.
        test: whether placements or tasks were compared, or nothing.
    """

    a: int
    b: int
    wins: int
    losses: int
    ties: int
    difference: float
    p_value: float
    test: Test
    p_holm: float = 1.0


def compare_pairs(
    board_runs: BoardRuns, tasks: Sequence[RankedTask], entries: Sequence[int]
) -> tuple[Pair, ...]:
    """Return all pairs of the given contenders that share a task; a comes before b in `entries`."""
    numbers = {entry: i for i, entry in enumerate(entries)}
    aul = _task_means(tasks, numbers)
    by_placements = placement_tests(board_runs, numbers)
    pairs = []
    for a, b in combinations(range(len(entries)), 2):
        both = np.isfinite(aul[:, a]) & np.isfinite(aul[:, b])
        if not both.any():
            continue
        differences = aul[both, a] - aul[both, b]
        wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
        counts = wins, losses, int(both.sum()) - wins - losses
        p_value = float(by_placements.p_value[a, b])
        if np.isfinite(p_value):
            test: TestOutcome = (float(by_placements.difference[a, b]), p_value, "placements")
        else:
            test = _over_tasks(differences)
        pairs.append(Pair(entries[a], entries[b], *counts, *test))
    corrected = holm(np.array([pair.p_value for pair in pairs]))
    return tuple(replace(pair, p_holm=float(p)) for pair, p in zip(pairs, corrected, strict=True))


def _task_means(tasks: Sequence[RankedTask], numbers: Mapping[int, int]) -> Matrix:
    """Return mean AUL_PU, shape (n_tasks, n_contenders); 0 if all runs failed, NaN if there is none."""
    means = np.full((len(tasks), len(numbers)), np.nan)
    for row, task in zip(means, tasks, strict=True):
        values = np.where(task.results.all_failed, 0.0, task.aul)
        for entry, value in zip(task.results.entries.tolist(), values.tolist(), strict=True):
            if entry in numbers:
                row[numbers[entry]] = value
    return means


def _over_tasks(differences: FloatVector) -> TestOutcome:
    """Return the mean difference over tasks, with Wilcoxon's test if there are enough tasks."""
    from scipy.stats import wilcoxon  # noqa: PLC0415 - heavy imports happen when used

    mean = float(differences.mean())
    if np.count_nonzero(differences) < _MIN_TASKS:
        return mean, 1.0, "none"
    return mean, float(wilcoxon(differences, method="auto").pvalue), "wilcoxon"


@dataclass(frozen=True, eq=False)
class PlacementTests:
    """Paired tests of all pairs of contenders by placements, shape (n, n) each; NaN where two share no fold."""

    difference: Matrix
    stderr: Matrix
    p_value: Matrix


def placement_tests(board_runs: BoardRuns, numbers: Mapping[int, int]) -> PlacementTests:
    """Return the tests of all pairs of contenders; `numbers` maps a contender to its row and column."""
    from scipy.special import stdtr  # noqa: PLC0415

    n = len(numbers)
    total = {name: np.zeros((n, n)) for name in ("count", "difference", "variance", "freedom")}
    for splits in _by_dataset(board_runs, numbers):
        mean, stderr, freedom, shared = _of_dataset(splits, numbers)
        variance = np.where(shared, stderr**2, 0.0)
        total["count"] += shared
        total["difference"] += mean
        total["variance"] += variance
        total["freedom"] += np.divide(variance**2, freedom, out=np.zeros((n, n)), where=shared)
    with np.errstate(invalid="ignore", divide="ignore"):
        difference = total["difference"] / total["count"]
        stderr = np.sqrt(total["variance"]) / total["count"]
        # Satterthwaite's degrees of freedom of a sum of variances.
        freedom = total["variance"] ** 2 / total["freedom"]
        p_value = 2 * stdtr(freedom, -np.abs(difference) / stderr)
    p_value = np.where(difference == 0, 1.0, p_value)
    return PlacementTests(difference, stderr, p_value)


def _by_dataset(board_runs: BoardRuns, numbers: Mapping[int, int]) -> Iterable[list[list[list[Run]]]]:
    """Yield for each data set its splits, for each split its folds, and for each fold its runs with placements."""
    datasets: dict[int, dict[tuple[int, int, int], dict[tuple[Unit, int], list[Run]]]] = {}
    for run in board_runs.runs:
        if run.entry in numbers and len(run.placements) > 1:
            splits = datasets.setdefault(board_runs.tasks[run.task].dataset, {})
            folds = splits.setdefault((run.task, run.unit.seed, run.unit.folds), {})
            folds.setdefault((run.unit, len(run.placements)), []).append(run)
    for splits in datasets.values():
        yield [list(folds.values()) for folds in splits.values()]


def _of_dataset(
    splits: Iterable[Iterable[Sequence[Run]]], numbers: Mapping[int, int]
) -> tuple[Matrix, Matrix, Matrix, Mask]:
    """Return the mean difference, its standard error, degrees of freedom, and which pairs share a fold."""
    n = len(numbers)
    count, mean, stderr = np.zeros((3, n, n))
    freedom = np.full((n, n), np.inf)
    for folds in splits:
        shared, sums, variance, degrees = np.zeros((4, n, n))
        for runs in folds:
            cells = np.ix_(*[[numbers[run.entry] for run in runs]] * 2)
            difference, squared = _of_fold(np.stack([run.placements for run in runs]))
            shared[cells] += 1
            sums[cells] += difference
            variance[cells] += squared
            degrees[cells] += len(runs[0].placements) - 1
        known = shared > 0
        per = np.where(known, shared, 1)
        count += known
        mean += sums / per
        stderr += np.sqrt(variance) / per
        freedom = np.where(known, np.minimum(freedom, degrees), freedom)
    per = np.where(count > 0, count, 1)
    return mean / per, stderr / per, freedom, count > 0


def _of_fold(placements: Matrix) -> tuple[Matrix, Matrix]:
    """Return mean differences and their variances, shape (k, k), of placements of shape (k, m).

    The unlabeled rows' part of the variance in `compare_aul`, which placements do not contain, is omitted: it is small,
    as there are far more unlabeled than labelled rows.
    """
    m = placements.shape[1]
    centred = placements - placements.mean(
        axis=0
    )  # differences stay the same, and their squares lose no digits
    sums, inner = centred.sum(axis=1), centred @ centred.T
    own = np.diag(inner)
    difference = sums[:, None] - sums[None, :]
    squares = np.maximum(own[:, None] + own[None, :] - 2 * inner, 0.0)
    return difference / m, variance_of_mean(difference, squares, m)

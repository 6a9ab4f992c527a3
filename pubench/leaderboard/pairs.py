"""Who beats whom: contenders two by two, with paired tests.

Where two contenders placed the labelled rows of the same test fold, their placements are compared row by row, as
`pubench.metrics.comparison` does: the mean difference, with a variance that counts one difference of 0 more than there
is. Folds of one split of the data share no test row, so their variances add up. Different seeds and different tasks of
a data set do share rows; their standard errors are averaged, which is what they can be at most. Data sets are
independent. The p-value speaks of these data sets, for other draws of their rows.

Two contenders that share no such fold are compared by Wilcoxon's signed-rank test over the tasks that they share.
All p-values are corrected together (Holm 1979).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from pubench.leaderboard.evidence import Evidence, Run, Unit
from pubench.leaderboard.ranking import RankedTask
from pubench.leaderboard.results import Mask, Matrix
from pubench.metrics.comparison import holm
from pubench.types import FloatVector

Test: TypeAlias = Literal["placements", "wilcoxon", "none"]
Tested: TypeAlias = tuple[float, float, Test]

#: More contenders are not compared two by two: nobody reads the tables, and their number grows with the square.
MOST_COMPARED = 150
#: Wilcoxon's test can not fall below p = 0.05 on fewer tasks.
_FEWEST_TASKS = 6


@dataclass(frozen=True)
class Pair:
    """Contender a against contender b.

    Attributes:
        a, b: numbers of the contenders.
        wins, losses, ties: tasks that both were tried on, by their mean AUL_PU; to fail throughout is to lose.
        difference: of mean AUL_PU over the folds, or the tasks, that the test is about; above 0 when a is better.
        p_value: two-sided; 1 where there is nothing to test.
        p_holm: corrected for the number of pairs.
        test: what was compared.
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
    evidence: Evidence, tasks: Sequence[RankedTask], entries: Sequence[int]
) -> tuple[Pair, ...]:
    """Return all pairs of the given contenders that share a task, a before b as given."""
    numbers = {entry: i for i, entry in enumerate(entries)}
    aul = _task_means(tasks, numbers)
    placed = placement_tests(evidence, numbers)
    found = []
    for a, b in combinations(range(len(entries)), 2):
        both = np.isfinite(aul[:, a]) & np.isfinite(aul[:, b])
        if not both.any():
            continue
        differences = aul[both, a] - aul[both, b]
        wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
        counts = wins, losses, int(both.sum()) - wins - losses
        if np.isfinite(placed.p_value[a, b]):
            test: Tested = (float(placed.difference[a, b]), float(placed.p_value[a, b]), "placements")
        else:
            test = _over_tasks(differences)
        found.append(Pair(entries[a], entries[b], *counts, *test))
    corrected = holm(np.array([pair.p_value for pair in found]))
    return tuple(replace(pair, p_holm=float(p)) for pair, p in zip(found, corrected, strict=True))


def _task_means(tasks: Sequence[RankedTask], numbers: Mapping[int, int]) -> Matrix:
    """Return mean AUL_PU, shape (n_tasks, n_contenders): 0 for who failed throughout, NaN for who was not tried."""
    means = np.full((len(tasks), len(numbers)), np.nan)
    for row, task in zip(means, tasks, strict=True):
        values = np.where(task.results.all_failed, 0.0, task.aul)
        for entry, value in zip(task.results.entries.tolist(), values.tolist(), strict=True):
            if entry in numbers:
                row[numbers[entry]] = value
    return means


def _over_tasks(differences: FloatVector) -> Tested:
    """Return the mean difference over tasks, and Wilcoxon's test of it where there are enough."""
    from scipy.stats import wilcoxon  # noqa: PLC0415 - heavy imports happen when used

    mean = float(differences.mean())
    if np.count_nonzero(differences) < _FEWEST_TASKS:
        return mean, 1.0, "none"
    return mean, float(wilcoxon(differences, method="auto").pvalue), "wilcoxon"


@dataclass(frozen=True, eq=False)
class PlacementTests:
    """Paired tests of all pairs, shape (n, n) each; NaN where two contenders share no fold."""

    difference: Matrix
    stderr: Matrix
    p_value: Matrix


def placement_tests(evidence: Evidence, numbers: Mapping[int, int]) -> PlacementTests:
    """Return the tests of the contenders that `numbers` gives their places."""
    from scipy.special import stdtr  # noqa: PLC0415

    n = len(numbers)
    total = {name: np.zeros((n, n)) for name in ("count", "difference", "variance", "freedom")}
    for splits in _by_dataset(evidence, numbers):
        mean, stderr, freedom, known = _of_dataset(splits, numbers)
        variance = np.where(known, stderr**2, 0.0)
        total["count"] += known
        total["difference"] += mean
        total["variance"] += variance
        total["freedom"] += np.divide(variance**2, freedom, out=np.zeros((n, n)), where=known)
    with np.errstate(invalid="ignore", divide="ignore"):
        difference = total["difference"] / total["count"]
        stderr = np.sqrt(total["variance"]) / total["count"]
        # Satterthwaite's degrees of freedom of a sum of variances.
        freedom = total["variance"] ** 2 / total["freedom"]
        p_value = 2 * stdtr(freedom, -np.abs(difference) / stderr)
    p_value = np.where(difference == 0, 1.0, p_value)
    return PlacementTests(difference, stderr, p_value)


def _by_dataset(evidence: Evidence, numbers: Mapping[int, int]) -> Iterable[list[list[list[Run]]]]:
    """Yield for each data set its splits, and for each split its folds' runs that have placements."""
    found: dict[int, dict[tuple[int, int, int], dict[tuple[Unit, int], list[Run]]]] = {}
    for run in evidence.runs:
        if run.entry in numbers and len(run.placements) > 1:
            splits = found.setdefault(evidence.tasks[run.task].dataset, {})
            folds = splits.setdefault((run.task, run.unit.seed, run.unit.folds), {})
            folds.setdefault((run.unit, len(run.placements)), []).append(run)
    for splits in found.values():
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
            places = np.ix_(*[[numbers[run.entry] for run in runs]] * 2)
            difference, squared = _of_fold(np.stack([run.placements for run in runs]))
            shared[places] += 1
            sums[places] += difference
            variance[places] += squared
            degrees[places] += len(runs[0].placements) - 1
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

    With one difference of 0 more than there is, as `compare_aul`; the unlabeled rows' part of the variance, which
    placements do not show, is left out: they outnumber the labelled ones by far.
    """
    m = placements.shape[1]
    centred = placements - placements.mean(axis=0)  # differences stay, and their squares lose no digits
    sums, inner = centred.sum(axis=1), centred @ centred.T
    own = np.diag(inner)
    difference = sums[:, None] - sums[None, :]
    squares = np.maximum(own[:, None] + own[None, :] - 2 * inner, 0.0)
    variance = np.maximum(squares - difference**2 / (m + 1), 0.0) / m
    return difference / m, variance / m

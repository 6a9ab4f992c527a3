"""Ranks with their uncertainty.

On each task contenders are ranked by their mean AUL_PU, best first; ties share the mean of their ranks. Where not all of
the board's n contenders were run, ranks 1..k are stretched to 1..n, so that tasks with few contenders have the same
weight. A contender's mean rank is the mean over its data sets; each counts once, whatever its number of tasks.

The interval is a two-stage percentile bootstrap: data sets are drawn, and within each task its folds. Each draw is the
same for all contenders, as they were run on the same rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pubench.leaderboard.runs import BoardRuns, Run
from pubench.leaderboard.task_results import Matrix, TaskResults, filled, known
from pubench.seeds import Seed
from pubench.types import FloatVector, IndexVector

CONFIDENCE = 0.95
RESAMPLES = 1000
#: The seed of every bootstrap of a board: the same records give the same board.
_SEED = Seed(0).child("leaderboard")


@dataclass(frozen=True)
class Standing:
    """The ranking of a contender over a set of tasks.

    Attributes:
        entry: number of the contender.
        rank: mean rank among all contenders, 1 is best; None if no other contender was run on its tasks.
        low, high: interval that contains the mean rank; None if there is one data set with one fold.
        aul_pu: mean, with failed runs replaced (see `pubench.leaderboard.task_results`); None if all runs failed.
        auc: mean over the tasks whose truth is known; None without any.
        win_rate: share of the other contenders on its tasks that it beats, ties count half; None if `rank` is None.
        failures: share of its runs that failed.
        fit_seconds, predict_seconds: medians over its successful runs; None without any.
        tasks, runs: number of each.
        imputed: `rank` and `aul_pu` contain replaced values of failed runs.
    """

    entry: int
    rank: float | None
    low: float | None
    high: float | None
    aul_pu: float | None
    auc: float | None
    win_rate: float | None
    failures: float
    fit_seconds: float | None
    predict_seconds: float | None
    tasks: int
    runs: int
    imputed: bool


@dataclass(frozen=True, eq=False)
class RankedTask:
    """The ranks of one task.

    Attributes:
        dataset: number of the data set.
        results: of the task's runs.
        ranks: shape (k,): of its contenders, stretched; NaN if there is only one.
        wins: shape (k,): share of the others that each beats; NaN if there is only one.
        aul, auc: shape (k,): means over folds.
        resampled: shape (n_resamples, k), float32: ranks over resampled folds; NaN where a contender has no run on
            the folds that were drawn.
    """

    dataset: int
    results: TaskResults
    ranks: FloatVector
    wins: FloatVector
    aul: FloatVector
    auc: FloatVector
    resampled: Matrix


def rank_tasks(
    board_runs: BoardRuns, results: Sequence[TaskResults], n_resamples: int = RESAMPLES
) -> tuple[RankedTask, ...]:
    """Return each task with its ranks."""
    field = len(board_runs.entries)
    return tuple(
        _ranked(task.dataset, task_results, field, n_resamples, _SEED.child("splits", task.id))
        for task, task_results in zip(board_runs.tasks, results, strict=True)
    )


def _ranked(dataset: int, results: TaskResults, field: int, n_resamples: int, seed: Seed) -> RankedTask:
    aul = results.means(results.aul)
    values = np.where(results.all_failed, -np.inf, aul)[None, :]
    plain = _ranks(values)[0]
    k = len(plain)
    alone = k == 1
    return RankedTask(
        dataset,
        results,
        _stretched(_worst(plain[None, :], values), field)[0],
        np.full(1, np.nan) if alone else (k - plain) / (k - 1),
        aul,
        results.means(results.auc),
        _resampled(results, field, n_resamples, seed),
    )


def _resampled(results: TaskResults, field: int, n_resamples: int, seed: Seed) -> Matrix:
    n_units = len(results.units)
    drawn = seed.generator().multinomial(n_units, np.full(n_units, 1 / n_units), size=n_resamples)
    full = filled(results.aul, results.failed)
    finite = np.isfinite(full)
    weight = (drawn @ finite.T.astype(np.float64)).astype(np.float64)
    sums = drawn @ np.where(finite, full, 0.0).T
    with np.errstate(invalid="ignore", divide="ignore"):
        values = sums / weight
    finished = drawn @ (results.tried & ~results.failed).T.astype(np.int64) > 0
    tried = drawn @ results.tried.T.astype(np.int64) > 0
    values = np.where(tried, np.where(finished, values, -np.inf), np.nan)
    return _stretched(_worst(_ranks(values), values), field).astype(np.float32)


def _ranks(values: Matrix) -> Matrix:
    """Return ranks along the rows, the highest value first, ties sharing their mean; NaN stays NaN."""
    from scipy.stats import rankdata  # noqa: PLC0415 - heavy imports happen when used

    missing = np.isnan(values)
    # Missing contenders go last, where they do not shift the others.
    order = np.where(missing, np.inf, -values)
    order = np.where(np.isneginf(values), np.finfo(np.float64).max, order)
    ranks = np.asarray(rankdata(order, axis=1), dtype=np.float64)
    return np.where(missing, np.nan, ranks)


def _worst(ranks: Matrix, values: Matrix) -> Matrix:
    """Return the ranks, with the worst rank for contenders that failed in all runs; these do not share a mean rank."""
    present = (~np.isnan(ranks)).sum(axis=1, keepdims=True)
    return np.where(np.isneginf(values), present, ranks)


def _stretched(ranks: Matrix, field: int) -> Matrix:
    present = (~np.isnan(ranks)).sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        stretched = 1 + (ranks - 1) * (field - 1) / (present - 1)
    return np.where(present > 1, stretched, np.nan)


def standings(
    board_runs: BoardRuns, tasks: Sequence[RankedTask], selected: Sequence[int] | None = None
) -> tuple[Standing, ...]:
    """Return the ranking over the selected tasks, or all tasks, best mean rank first.

    It contains the contenders that were run on one of these tasks.
    """
    numbers = list(range(len(tasks))) if selected is None else list(selected)
    table = _TaskTable.of([tasks[i] for i in numbers], len(board_runs.entries))
    runs: dict[int, list[Run]] = {}
    for i in numbers:
        for run in board_runs.runs_by_task[i]:
            runs.setdefault(run.entry, []).append(run)
    seed = _SEED.child("datasets", *(board_runs.tasks[i].id for i in numbers))
    bounds, counts = table.interval(seed), table.tasks_of.tolist()
    ranks, means = table.mean("ranks"), {name: table.mean(name) for name in ("aul", "auc", "wins")}
    unordered = [_standing(entry, runs[entry], ranks, bounds, means, counts[entry]) for entry in sorted(runs)]
    return tuple(
        sorted(unordered, key=lambda own: (own.rank is None, own.rank, -(own.aul_pu or 0.0), own.entry))
    )


def _standing(
    entry: int,
    runs: Sequence[Run],
    ranks: FloatVector,
    bounds: tuple[FloatVector, FloatVector],
    means: Mapping[str, FloatVector],
    n_tasks: int,
) -> Standing:
    failed = sum(not run.ok for run in runs)
    rank = known(ranks[entry])
    low, high = (known(bound[entry]) for bound in bounds)
    return Standing(
        entry,
        rank,
        None if low is None or rank is None else min(low, rank),
        None if high is None or rank is None else max(high, rank),
        known(means["aul"][entry]),
        known(means["auc"][entry]),
        known(means["wins"][entry]),
        failed / len(runs),
        _median(run.fit_seconds for run in runs if run.ok),
        _median(run.predict_seconds for run in runs if run.ok),
        n_tasks,
        len(runs),
        failed > 0,
    )


def _median(values: Iterable[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return float(np.median(numbers)) if numbers else None


@dataclass(frozen=True, eq=False)
class _TaskTable:
    """A set of tasks, over which contenders are averaged.

    Attributes:
        tasks: the tasks.
        field: number of contenders.
        datasets: shape (n_tasks,): the data set of each task, numbered from 0 without gaps.
    """

    tasks: Sequence[RankedTask]
    field: int
    datasets: IndexVector

    @classmethod
    def of(cls, tasks: Sequence[RankedTask], field: int) -> "_TaskTable":
        return cls(tasks, field, np.unique([task.dataset for task in tasks], return_inverse=True)[1])

    @property
    def n_datasets(self) -> int:
        return int(self.datasets.max(initial=-1)) + 1

    @property
    def tasks_of(self) -> IndexVector:
        return np.bincount(
            np.concatenate([task.results.entries for task in self.tasks]), minlength=self.field
        )

    def mean(self, name: str) -> FloatVector:
        """Return the mean over the tasks of a data set, then over data sets, shape (field,); NaN where unknown."""
        entries = np.concatenate([task.results.entries for task in self.tasks])
        datasets = np.repeat(self.datasets, [len(task.results.entries) for task in self.tasks])
        values: FloatVector = np.concatenate([getattr(task, name) for task in self.tasks])
        finite = np.isfinite(values)
        pairs, pair_of = np.unique(datasets[finite] * self.field + entries[finite], return_inverse=True)
        of_dataset = np.bincount(pair_of, values[finite]) / np.bincount(pair_of)
        entry_of = pairs % self.field
        sums = np.bincount(entry_of, of_dataset, minlength=self.field).astype(np.float64)
        return _ratio(sums, np.bincount(entry_of, minlength=self.field))

    def interval(self, seed: Seed) -> tuple[FloatVector, FloatVector]:
        """Return the bounds of the mean rank, shape (field,) each; NaN if there is nothing to resample."""
        unknown = np.full(self.field, np.nan)
        if self.n_datasets < 2 and all(len(task.results.units) < 2 for task in self.tasks):
            return unknown, unknown
        n_resamples = len(self.tasks[0].resampled)
        n = self.n_datasets
        drawn = seed.generator().multinomial(n, np.full(n, 1 / n), size=n_resamples)
        tail = (1 - CONFIDENCE) / 2
        low, high = unknown.copy(), unknown.copy()
        for entry, means in self._resampled_means(drawn):
            finite = means[np.isfinite(means)]
            if len(finite):
                low[entry], high[entry] = np.quantile(finite, [tail, 1 - tail])
        return low, high

    def _resampled_means(self, drawn: IndexVector) -> Iterable[tuple[int, FloatVector]]:
        """Yield each contender with its mean rank in each resample; one at a time, as all would need much memory."""
        columns: dict[int, list[tuple[int, int]]] = {}
        for number, task in enumerate(self.tasks):
            for column, entry in enumerate(task.results.entries.tolist()):
                columns.setdefault(entry, []).append((number, column))
        for entry, own in columns.items():
            ranks = np.stack([self.tasks[number].resampled[:, column] for number, column in own], axis=1)
            datasets = self.datasets[[number for number, _ in own]]
            yield entry, _by_dataset(ranks.astype(np.float64), datasets, drawn)


def _by_dataset(ranks: Matrix, datasets: IndexVector, drawn: IndexVector) -> FloatVector:
    """Return mean ranks over the drawn data sets from ranks per task, shape (n_resamples, n_tasks)."""
    own, first = np.unique(datasets, return_index=True)  # tasks are ordered by data set
    finite = np.isfinite(ranks)
    counts = np.add.reduceat(finite.astype(np.float64), first, axis=1)
    sums = np.add.reduceat(np.where(finite, ranks, 0.0), first, axis=1)
    means = np.divide(sums, counts, out=np.zeros(sums.shape), where=counts > 0)
    weights = drawn[:, own] * (counts > 0)
    return _ratio((means * weights).sum(axis=1), weights.sum(axis=1))


def _ratio(sums: FloatVector, counts: FloatVector | IndexVector) -> FloatVector:
    return np.asarray(np.divide(sums, counts, out=np.full(np.shape(sums), np.nan), where=counts > 0))

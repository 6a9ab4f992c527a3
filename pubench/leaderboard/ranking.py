"""Ranks with their uncertainty.

On each task contenders are ranked by their mean AUL_PU, best first, ties sharing the mean of their ranks. Where not
all of the board's n contenders were tried, ranks 1..k are stretched to 1..n, so that tasks with few contenders count
like the others. A contender's mean rank is over its data sets, each counting once however many tasks it has.

The interval is a percentile bootstrap, in two steps: data sets are drawn, and within each task its splits. What is
drawn is drawn for all contenders at once, as they were run on the same rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pubench.leaderboard.evidence import Evidence, Run
from pubench.leaderboard.results import Matrix, TaskResults, filled
from pubench.seeds import Seed
from pubench.types import FloatVector, IndexVector

CONFIDENCE = 0.95
RESAMPLES = 1000
#: The one seed of every bootstrap of a board: the same records, the same board.
_SEED = Seed(0).child("leaderboard")


@dataclass(frozen=True)
class Standing:
    """How a contender stands on some tasks.

    Attributes:
        entry: number of the contender.
        rank: mean rank among all contenders, 1 is best; None where it met no other contender.
        low, high: interval of the mean rank, which holds it; None where neither data sets nor splits can be drawn.
        aul_pu: mean; a failed fold counts as `pubench.leaderboard.results` says. None where nobody finished.
        auc: mean over the tasks whose truth is known; None without any.
        win_rate: share of the other contenders on its tasks that it beats, ties half; None with `rank`.
        failures: share of its runs that failed.
        fit_seconds, predict_seconds: medians over its runs that went well; None without any.
        tasks, runs: how many.
        imputed: part of `rank` and `aul_pu` stands for failed folds.
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
    """One task's ranks.

    Attributes:
        dataset: number of the data set.
        results: what they are made of.
        ranks: shape (k,): of its contenders, stretched; NaN where there is only one.
        wins: shape (k,): share of the others that each beats; NaN where there is only one.
        aul, auc: shape (k,): means over splits.
        resampled: shape (n_resamples, k), float32: ranks with the splits drawn anew; NaN where a contender was on
            none of the drawn ones.
    """

    dataset: int
    results: TaskResults
    ranks: FloatVector
    wins: FloatVector
    aul: FloatVector
    auc: FloatVector
    resampled: Matrix


def rank_tasks(
    evidence: Evidence, results: Sequence[TaskResults], n_resamples: int = RESAMPLES
) -> tuple[RankedTask, ...]:
    """Return each task with its ranks."""
    field = len(evidence.entries)
    return tuple(
        _ranked(task.dataset, found, field, n_resamples, _SEED.child("splits", task.id))
        for task, found in zip(evidence.tasks, results, strict=True)
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
    known = np.isfinite(full)
    weight = (drawn @ known.T.astype(np.float64)).astype(np.float64)
    sums = drawn @ np.where(known, full, 0.0).T
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
    # Those that are missing go last, where they do not shift anybody.
    order = np.where(missing, np.inf, -values)
    order = np.where(np.isneginf(values), np.finfo(np.float64).max, order)
    ranks = np.asarray(rankdata(order, axis=1), dtype=np.float64)
    return np.where(missing, np.nan, ranks)


def _worst(ranks: Matrix, values: Matrix) -> Matrix:
    """Return the ranks with the worst one for everybody who failed throughout: they share no mean of ranks."""
    present = (~np.isnan(ranks)).sum(axis=1, keepdims=True)
    return np.where(np.isneginf(values), present, ranks)


def _stretched(ranks: Matrix, field: int) -> Matrix:
    present = (~np.isnan(ranks)).sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        stretched = 1 + (ranks - 1) * (field - 1) / (present - 1)
    return np.where(present > 1, stretched, np.nan)


def standings(
    evidence: Evidence, tasks: Sequence[RankedTask], chosen: Sequence[int] | None = None
) -> tuple[Standing, ...]:
    """Return how contenders stand on the chosen tasks, or on all, best mean rank first.

    Only those that were tried on one of the tasks are there.
    """
    numbers = list(range(len(tasks))) if chosen is None else list(chosen)
    table = _Table.of([tasks[i] for i in numbers], len(evidence.entries))
    runs: dict[int, list[Run]] = {}
    for i in numbers:
        for run in evidence.runs_by_task[i]:
            runs.setdefault(run.entry, []).append(run)
    seed = _SEED.child("datasets", *(evidence.tasks[i].id for i in numbers))
    bounds, counts = table.interval(seed), table.tasks_of.tolist()
    ranks, means = table.mean("ranks"), {name: table.mean(name) for name in ("aul", "auc", "wins")}
    found = [_standing(entry, runs[entry], ranks, bounds, means, counts[entry]) for entry in sorted(runs)]
    return tuple(sorted(found, key=lambda one: (one.rank is None, one.rank, -(one.aul_pu or 0.0), one.entry)))


def _standing(
    entry: int,
    runs: Sequence[Run],
    ranks: FloatVector,
    bounds: tuple[FloatVector, FloatVector],
    means: Mapping[str, FloatVector],
    n_tasks: int,
) -> Standing:
    failed = sum(not run.ok for run in runs)
    rank = _number(ranks[entry])
    low, high = (_number(bound[entry]) for bound in bounds)
    return Standing(
        entry,
        rank,
        None if low is None or rank is None else min(low, rank),
        None if high is None or rank is None else max(high, rank),
        _number(means["aul"][entry]),
        _number(means["auc"][entry]),
        _number(means["wins"][entry]),
        failed / len(runs),
        _median(run.fit_seconds for run in runs if run.ok),
        _median(run.predict_seconds for run in runs if run.ok),
        n_tasks,
        len(runs),
        failed > 0,
    )


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else None


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


@dataclass(frozen=True, eq=False)
class _Table:
    """Some tasks, and how much each counts for each contender.

    Attributes:
        tasks: the tasks.
        field: number of contenders.
        datasets: shape (n_tasks,): the data set of each, numbered from 0 without gaps.
    """

    tasks: Sequence[RankedTask]
    field: int
    datasets: IndexVector

    @classmethod
    def of(cls, tasks: Sequence[RankedTask], field: int) -> "_Table":
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
        """Return the mean over tasks of a data set, then over data sets, shape (field,); NaN where nothing is known."""
        entries = np.concatenate([task.results.entries for task in self.tasks])
        datasets = np.repeat(self.datasets, [len(task.results.entries) for task in self.tasks])
        values: FloatVector = np.concatenate([getattr(task, name) for task in self.tasks])
        known = np.isfinite(values)
        pairs, place = np.unique(datasets[known] * self.field + entries[known], return_inverse=True)
        of_dataset = np.bincount(place, values[known]) / np.bincount(place)
        whose = pairs % self.field
        sums = np.bincount(whose, of_dataset, minlength=self.field).astype(np.float64)
        return _ratio(sums, np.bincount(whose, minlength=self.field))

    def interval(self, seed: Seed) -> tuple[FloatVector, FloatVector]:
        """Return bounds of the mean rank, shape (field,) each; NaN where nothing can be drawn."""
        nothing = np.full(self.field, np.nan)
        if self.n_datasets < 2 and all(len(task.results.units) < 2 for task in self.tasks):
            return nothing, nothing
        n_resamples = len(self.tasks[0].resampled)
        n = self.n_datasets
        drawn = seed.generator().multinomial(n, np.full(n, 1 / n), size=n_resamples)
        tail = (1 - CONFIDENCE) / 2
        low, high = nothing.copy(), nothing.copy()
        for entry, means in self._resampled_means(drawn):
            known = means[np.isfinite(means)]
            if len(known):
                low[entry], high[entry] = np.quantile(known, [tail, 1 - tail])
        return low, high

    def _resampled_means(self, drawn: IndexVector) -> Iterable[tuple[int, FloatVector]]:
        """Yield for each contender its mean rank in each resample: one at a time, as all of them need much memory."""
        places: dict[int, list[tuple[int, int]]] = {}
        for number, task in enumerate(self.tasks):
            for column, entry in enumerate(task.results.entries.tolist()):
                places.setdefault(entry, []).append((number, column))
        for entry, where in places.items():
            ranks = np.stack([self.tasks[number].resampled[:, column] for number, column in where], axis=1)
            datasets = self.datasets[[number for number, _ in where]]
            yield entry, _by_dataset(ranks.astype(np.float64), datasets, drawn)


def _by_dataset(ranks: Matrix, datasets: IndexVector, drawn: IndexVector) -> FloatVector:
    """Return mean ranks over drawn data sets from ranks per task, shape (n_resamples, n_tasks)."""
    own, first = np.unique(datasets, return_index=True)  # tasks stand by data set
    known = np.isfinite(ranks)
    counts = np.add.reduceat(known.astype(np.float64), first, axis=1)
    sums = np.add.reduceat(np.where(known, ranks, 0.0), first, axis=1)
    means = np.divide(sums, counts, out=np.zeros(sums.shape), where=counts > 0)
    weights = drawn[:, own] * (counts > 0)
    return _ratio((means * weights).sum(axis=1), weights.sum(axis=1))


def _ratio(sums: FloatVector, counts: FloatVector | IndexVector) -> FloatVector:
    return np.asarray(np.divide(sums, counts, out=np.full(np.shape(sums), np.nan), where=counts > 0))

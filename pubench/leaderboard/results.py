"""How contenders did on a task: a value per contender and split, and what stands for runs that failed.

A fold on which a contender failed counts as an order drawn at random, AUL_PU 0.5, or as the lowest value that anybody
reached on it where that is less. Who failed on all its folds of a task gets the worst rank there. A fold that nobody
tried with a contender is left out of its mean: not tried is not failed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pubench.errors import DataError
from pubench.leaderboard.evidence import Evidence, Run, Unit
from pubench.types import FloatVector, IndexVector

Matrix: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[np.bool_]

#: A random order's AUL_PU and AUC.
CHANCE = 0.5
#: A task's contenders times its splits: beyond it no task is an honest one, and memory would run out.
_MOST_CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class TaskResults:
    """The runs of one task, contenders by splits.

    Attributes:
        entries: shape (k,): numbers of the contenders that were tried, ascending.
        units: the u splits.
        aul, auc: shape (k, u); NaN where a run failed, was not tried, or where the truth is not known.
        tried, failed: shape (k, u).
    """

    entries: IndexVector
    units: tuple[Unit, ...]
    aul: Matrix
    auc: Matrix
    tried: Mask
    failed: Mask

    @property
    def has_truth(self) -> bool:
        """Whether AUC is known of any run."""
        return bool(np.isfinite(self.auc).any())

    @property
    def all_failed(self) -> Mask:
        """Shape (k,): who failed wherever it was tried."""
        return np.asarray((self.failed == self.tried).all(axis=1))

    def means(self, values: Matrix) -> FloatVector:
        """Return the mean over splits per contender, shape (k,), with what stands for failures."""
        full = filled(values, self.failed)
        known = np.isfinite(full)
        sums, counts = np.where(known, full, 0).sum(axis=1), known.sum(axis=1)
        return np.asarray(np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0))


def filled(values: Matrix, failed: Mask) -> Matrix:
    """Return the values with what stands for failures; splits of which no value is known stay as they are."""
    known = np.isfinite(values)
    lowest = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
    floor = np.where(known.any(axis=0), np.minimum(lowest, CHANCE), np.nan)
    return np.where(failed, floor[None, :], values)


def results_of(evidence: Evidence) -> tuple[TaskResults, ...]:
    """Return the results of each task.

    Raises:
        DataError: a task has too many contenders and splits to be looked at.
    """
    return tuple(
        _task_results(task.label, runs)
        for task, runs in zip(evidence.tasks, evidence.runs_by_task, strict=True)
    )


def _task_results(label: str, runs: Iterable[Run]) -> TaskResults:
    runs = list(runs)
    entries = np.unique([run.entry for run in runs])
    units = sorted({run.unit for run in runs})
    if len(entries) * len(units) > _MOST_CELLS:
        raise DataError(
            f"Task '{label}' has {len(entries):,} contenders on {len(units):,} different splits, which is more than a "
            "board can hold; leave records out."
        )
    place = {unit: i for i, unit in enumerate(units)}
    shape = len(entries), len(units)
    aul, auc = np.full(shape, np.nan), np.full(shape, np.nan)
    tried, failed = np.zeros(shape, bool), np.zeros(shape, bool)
    for run in runs:
        cell = int(np.searchsorted(entries, run.entry)), place[run.unit]
        tried[cell], failed[cell] = True, not run.ok
        if run.ok:
            aul[cell], auc[cell] = _metric(run, "aul_pu"), _metric(run, "auc")
    return TaskResults(entries, tuple(units), aul, auc, tried, failed)


def _metric(run: Run, name: str) -> float:
    metrics: Mapping[str, float] = run.record.metrics
    return metrics.get(name, np.nan)

"""The results of a task: a value per contender and fold, and the value that replaces failed runs.

A fold on which a contender failed counts as a random order, AUL_PU 0.5, or as the lowest value of all contenders on that
fold if this is less. A contender that failed on all its folds of a task gets the worst rank there. A fold that was not
run with a contender is not part of its mean: a missing run is not a failed run.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pubench.errors import DataError
from pubench.leaderboard.runs import BoardRuns, Run, Unit
from pubench.types import FloatVector, IndexVector

Matrix: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[np.bool_]

#: AUL_PU and AUC of a random order.
CHANCE = 0.5
#: Limit for contenders x folds of a task; larger ones are not genuine and would exhaust memory.
_MAX_CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class TaskResults:
    """The runs of one task, as a table of contenders and folds.

    Attributes:
        entries: shape (k,): numbers of the contenders that were run, ascending.
        units: the u folds.
        aul, auc: shape (k, u); NaN where a run failed or is missing, or where the truth is unknown.
        tried, failed: shape (k, u): whether there is a run, and whether it failed.
    """

    entries: IndexVector
    units: tuple[Unit, ...]
    aul: Matrix
    auc: Matrix
    tried: Mask
    failed: Mask

    @property
    def has_truth(self) -> bool:
        """Whether the AUC of any run is known."""
        return bool(np.isfinite(self.auc).any())

    @property
    def all_failed(self) -> Mask:
        """Shape (k,): which contenders failed in all their runs."""
        return np.asarray((self.failed == self.tried).all(axis=1))

    def means(self, values: Matrix) -> FloatVector:
        """Return the mean over folds per contender, shape (k,), with failed runs replaced."""
        full = filled(values, self.failed)
        known = np.isfinite(full)
        sums, counts = np.where(known, full, 0).sum(axis=1), known.sum(axis=1)
        return np.asarray(np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0))


def filled(values: Matrix, failed: Mask) -> Matrix:
    """Return the values with failed runs replaced; folds without any known value stay NaN."""
    known = np.isfinite(values)
    lowest = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
    floor = np.where(known.any(axis=0), np.minimum(lowest, CHANCE), np.nan)
    return np.where(failed, floor[None, :], values)


def results_of(board_runs: BoardRuns) -> tuple[TaskResults, ...]:
    """Return the results of each task.

    Raises:
        DataError: a task has too many contenders and folds.
    """
    return tuple(
        _task_results(task.label, runs)
        for task, runs in zip(board_runs.tasks, board_runs.runs_by_task, strict=True)
    )


def _task_results(label: str, runs: Iterable[Run]) -> TaskResults:
    runs = list(runs)
    entries = np.unique([run.entry for run in runs])
    units = sorted({run.unit for run in runs})
    if len(entries) * len(units) > _MAX_CELLS:
        raise DataError(
            f"Task '{label}' has {len(entries):,} contenders on {len(units):,} different folds, which is more than a "
            "board can hold; leave records out."
        )
    column = {unit: i for i, unit in enumerate(units)}
    shape = len(entries), len(units)
    aul, auc = np.full(shape, np.nan), np.full(shape, np.nan)
    tried, failed = np.zeros(shape, bool), np.zeros(shape, bool)
    for run in runs:
        cell = int(np.searchsorted(entries, run.entry)), column[run.unit]
        tried[cell], failed[cell] = True, not run.ok
        if run.ok:
            aul[cell], auc[cell] = _metric(run, "aul_pu"), _metric(run, "auc")
    return TaskResults(entries, tuple(units), aul, auc, tried, failed)


def _metric(run: Run, name: str) -> float:
    metrics: Mapping[str, float] = run.record.metrics
    return metrics.get(name, np.nan)


def known(value: float) -> float | None:
    """Return a value, or None for NaN and infinity."""
    return float(value) if np.isfinite(value) else None

"""Which contenders differ significantly over data sets: Friedman's test, followed by Nemenyi's (Demšar 2006).

A data set is one block, whatever the number of its tasks, as these share its rows; contenders are compared by their mean
AUL_PU on it. The tests need complete blocks: data sets and contenders are left out, those with the largest share of
missing values first, until none is missing; what was left out is reported.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pubench.errors import PubenchError
from pubench.leaderboard.ranking import RankedTask
from pubench.leaderboard.task_results import Mask, Matrix
from pubench.types import FloatVector

ALPHA = 0.05
#: Contenders further down are not tested: with every additional one, fewer differences are significant.
MAX_TESTED = 60
#: Friedman's test needs at least these numbers.
_MIN_ENTRIES, _MIN_DATASETS = 3, 3


@dataclass(frozen=True, eq=False)
class PostHoc:
    """The tests over data sets.

    Attributes:
        entries: numbers of the contenders, best mean rank first.
        mean_ranks: shape (k,): within the blocks, 1 is best.
        datasets: numbers of the blocks.
        left_out_entries, left_out_datasets: numbers of those with missing values.
        statistic, p_value: of Friedman's test.
        critical_difference: of mean ranks, at `ALPHA`.
        p_values: shape (k, k): Nemenyi's.
        groups: contenders without a significant difference, as (first, last) positions in `entries`; maximal ones.
    """

    entries: tuple[int, ...]
    mean_ranks: FloatVector
    datasets: tuple[int, ...]
    left_out_entries: tuple[int, ...]
    left_out_datasets: tuple[int, ...]
    statistic: float
    p_value: float
    critical_difference: float
    p_values: Matrix
    groups: tuple[tuple[int, int], ...]


def post_hoc(tasks: Sequence[RankedTask], entries: Sequence[int]) -> PostHoc | None:
    """Return the tests of the given contenders; None if fewer than three share three data sets, or all are equal.

    Raises:
        PubenchError: scikit-posthocs is not installed.
    """
    datasets = sorted({task.dataset for task in tasks})
    blocks = _blocks(tasks, datasets, entries)
    rows, columns = _complete(np.isfinite(blocks))
    if len(rows) < _MIN_DATASETS or len(columns) < _MIN_ENTRIES:
        return None
    values = blocks[np.ix_(rows, columns)]
    if np.ptp(values, axis=1).max() == 0:
        return None
    return _tested(
        values,
        [entries[i] for i in columns],
        [datasets[i] for i in rows],
        (
            tuple(sorted(set(entries) - {entries[i] for i in columns})),
            tuple(sorted(set(datasets) - {datasets[i] for i in rows})),
        ),
    )


def _blocks(tasks: Sequence[RankedTask], datasets: Sequence[int], entries: Sequence[int]) -> Matrix:
    """Return mean AUL_PU, shape (n_datasets, n_entries); 0 if all runs failed, NaN if runs are missing."""
    row = {dataset: i for i, dataset in enumerate(datasets)}
    column = {entry: i for i, entry in enumerate(entries)}
    sums, counts = np.zeros((2, len(datasets), len(entries)))
    for task in tasks:
        values = np.where(task.results.all_failed, 0.0, task.aul)
        for entry, value in zip(task.results.entries.tolist(), values.tolist(), strict=True):
            if entry in column:
                sums[row[task.dataset], column[entry]] += value
                counts[row[task.dataset], column[entry]] += 1
    # A mean over fewer tasks than others have cannot be compared with theirs; it counts as missing.
    whole = (counts > 0) & (counts == counts.max(axis=1, keepdims=True))
    return np.asarray(np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=whole))


def _complete(known: Mask) -> tuple[list[int], list[int]]:
    """Return rows and columns without missing values; the emptiest are dropped first, a row before a column."""
    missing = ~known
    rows, columns = np.ones(len(missing), bool), np.ones(missing.shape[1], bool)
    in_row, in_column = missing.sum(axis=1), missing.sum(axis=0)
    while (in_row[rows] > 0).any():
        row = int(np.where(rows, in_row, -1).argmax())
        column = int(np.where(columns, in_column, -1).argmax())
        if in_row[row] / columns.sum() >= in_column[column] / rows.sum():
            rows[row] = False
            in_column = in_column - missing[row]
        else:
            columns[column] = False
            in_row = in_row - missing[:, column]
    return np.flatnonzero(rows).tolist(), np.flatnonzero(columns).tolist()


def _tested(
    values: Matrix,
    entries: Sequence[int],
    datasets: Sequence[int],
    left_out: tuple[tuple[int, ...], tuple[int, ...]],
) -> PostHoc:
    from scipy.stats import friedmanchisquare, rankdata, studentized_range  # noqa: PLC0415 - when used

    n, k = values.shape
    mean_ranks = np.asarray(rankdata(-values, axis=1)).mean(axis=0)
    order = np.argsort(mean_ranks, kind="stable")
    statistic, p_value = friedmanchisquare(*values.T)
    p_values = _nemenyi(values)[np.ix_(order, order)]
    return PostHoc(
        tuple(entries[i] for i in order),
        mean_ranks[order],
        tuple(datasets),
        *left_out,
        float(statistic),
        float(p_value),
        float(studentized_range.ppf(1 - ALPHA, k, np.inf) * np.sqrt(k * (k + 1) / (12 * n))),
        p_values,
        _groups(p_values),
    )


def _nemenyi(values: Matrix) -> Matrix:
    try:
        from scikit_posthocs import posthoc_nemenyi_friedman  # noqa: PLC0415
    except ImportError as error:
        raise PubenchError(
            "The tests over data sets need scikit-posthocs; install it with: pip install 'pubench[leaderboard]'."
        ) from error
    return np.asarray(posthoc_nemenyi_friedman(values), dtype=np.float64)


def _groups(p_values: Matrix) -> tuple[tuple[int, int], ...]:
    """Return the maximal ranges of contenders, in the order of mean ranks, without a significant difference."""
    groups: list[tuple[int, int]] = []
    for first, row in enumerate(p_values):
        equal = np.flatnonzero(row[first:] >= ALPHA)
        last = first + int(equal.max(initial=0))
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return tuple(groups)

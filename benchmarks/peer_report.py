"""What the results of `benchmarks/peers.py` say, as plain text.

A task is a table with a number of labelled rows; its value is the mean over folds and seeds. A failure counts as chance:
AUC and AUL .5, average precision the share of positives; such values have a star. Ranks, shares and gains are means over
tasks that every system was measured on in every fold, with 95% intervals from a bootstrap over tables, in which the tasks
of a table stay together. A gain of one system over another on one task has an interval from the pairs of placements of
positive test rows, which leaves out what other draws of training rows and of negatives would have changed. The best peer of
a task is known only afterwards, so a system that is as good as all peers is behind it a little.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata, t

from peer_protocol import OK, Result

METRICS = ("auc", "ap", "aul")
#: Pubench's own; all others are peers.
TUNE, DEFAULT = "tune", "default"
#: Less than this behind the best peer is not reported.
MARGIN = 0.005
#: Number of largest gains that are left out once, to see what the mean rests on.
LARGEST = 3
_DRAWS = 2000

Vector = npt.NDArray[np.float64]
Fold = tuple[int, int]


@dataclass(frozen=True)
class Estimate:
    """A mean and its 95% interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:+.4f} [{self.low:+.4f}, {self.high:+.4f}]"


@dataclass(frozen=True)
class TaskResults:
    """The results on a table with a number of labelled rows, by system, and by seed and fold."""

    table: str
    labelled: int
    results: dict[str, dict[Fold, Result]] = field(default_factory=lambda: defaultdict(dict))

    def value(self, system: str, metric: str) -> float:
        """Return the mean over folds and seeds."""
        return float(np.mean([value_of(result, metric) for result in self.results[system].values()]))

    def failures(self, system: str) -> int:
        """Return how many results of a system are failures."""
        return sum(result.status != OK for result in self.results[system].values())

    def is_complete(self, systems: Sequence[str]) -> bool:
        """Return whether each system has a result for every seed and fold that another one has."""
        folds = [set(self.results.get(system, ())) for system in systems]
        return bool(folds) and bool(folds[0]) and all(found == folds[0] for found in folds)


def tasks(results: Sequence[Result]) -> list[TaskResults]:
    """Return the tasks that there are results of, by table and number of labelled rows."""
    found: dict[tuple[str, int], TaskResults] = {}
    for result in results:
        cell = result.cell
        task = found.setdefault((cell.table, cell.labelled), TaskResults(cell.table, cell.labelled))
        task.results[cell.system][cell.seed, cell.fold] = result
    return [found[key] for key in sorted(found)]


def systems_of(results: Sequence[Result]) -> list[str]:
    """Return the systems, pubench's own first."""
    names = {result.cell.system for result in results}
    return sorted(names, key=lambda name: (name != TUNE, name != DEFAULT, name))


def value_of(result: Result, metric: str) -> float:
    """Return a metric of a result; of a failure, what constant scores would get."""
    if result.status == OK:
        return result.metrics[metric]
    if metric == "ap":
        return result.counts.get("test_positives", 0) / max(1, result.counts.get("test", 0))
    return 0.5


def mean_interval(values: Vector, tables: Sequence[str]) -> Estimate:
    """Return the mean of the values of tasks, with an interval from a bootstrap over tables."""
    names, group = np.unique(tables, return_inverse=True)
    generator = np.random.default_rng(0)
    drawn = generator.multinomial(len(names), np.full(len(names), 1 / len(names)), size=_DRAWS)
    weights = drawn[:, group]
    means = (weights @ values) / weights.sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return Estimate(float(values.mean()), float(low), float(high))


def ranks(found: Sequence[TaskResults], systems: Sequence[str], metric: str) -> Vector:
    """Return the rank of each system on each task, 1 the best, ties shared: shape (tasks, systems)."""
    values = np.array([[task.value(system, metric) for system in systems] for task in found])
    return np.asarray(rankdata(-values.round(9), axis=1), dtype=np.float64)


def gains(found: Sequence[TaskResults], system: str, other: str, metric: str) -> Vector:
    """Return by how much a system is above another one on each task."""
    return np.array([task.value(system, metric) - task.value(other, metric) for task in found]).round(9)


def ahead(difference: Vector) -> Vector:
    """Return 1 where a gain is positive, 1/2 where there is none, 0 elsewhere."""
    return np.asarray((np.sign(difference) + 1) / 2, dtype=np.float64)


def paired_gain(first: Mapping[Fold, Result], second: Mapping[Fold, Result]) -> Estimate:
    """Return the gain in AUC of one system over another on the folds of a task.

    The variance within folds is pooled; several seeds hold out the same positives, so they do not make it smaller.
    """
    by_seed: dict[int, list[Vector]] = defaultdict(list)
    for seed, fold in first:
        pair = [_placements(results[seed, fold]) for results in (first, second)]
        by_seed[seed].append(pair[0] - pair[1])
    means, variances, freedom = [], [], []
    for differences in by_seed.values():
        sizes = np.array([len(one) for one in differences])
        centres = [one.mean() for one in differences]
        rest = int(sizes.sum()) - len(sizes)
        squares = sum(
            float(np.sum((one - centre) ** 2)) for one, centre in zip(differences, centres, strict=True)
        )
        means.append(np.mean(centres))
        variances.append(squares / max(1, rest) * np.sum(1 / sizes) / len(sizes) ** 2)
        freedom.append(max(1, rest))
    mean = float(np.mean(means))
    margin = float(t.ppf(0.975, min(freedom)) * np.sqrt(np.mean(variances)))
    return Estimate(mean, mean - margin, mean + margin)


def _placements(result: Result) -> Vector:
    if result.status == OK:
        return np.array(result.placements)
    return np.full(max(1, result.counts.get("test_positives", 1)), 0.5)


def best_peer(task: TaskResults, peers: Sequence[str]) -> str:
    """Return the peer with the greatest mean AUC on a task."""
    return max(peers, key=lambda peer: task.value(peer, "auc"))


def report(results: Sequence[Result], metric: str = "auc") -> str:
    """Return the report on all results."""
    systems = systems_of(results)
    found = tasks(results)
    complete = [task for task in found if task.is_complete(systems)]
    lines = [
        f"{len(results)} results: {len(found)} tasks, {len({task.table for task in found})} tables, {len(systems)} systems",
        "",
        f"{metric.upper()} by task, mean over folds",
        *_by_task(found, systems, metric),
    ]
    if complete and len(systems) > 1:
        rest = len(found) - len(complete)
        lines += [
            "",
            f"Systems, on {len(complete)} tasks" + (f"; {rest} are not complete" if rest else ""),
            *_by_system(complete, systems, metric),
        ]
        if TUNE in systems:
            lines += _of_tune(complete, systems, metric)
    failures = list(_failures(results))
    if failures:
        lines += ["", "Failures", *_aligned(["system", "number", "reason"], failures)]
    return "\n".join(lines) + "\n"


def _by_task(found: Sequence[TaskResults], systems: Sequence[str], metric: str) -> list[str]:
    rows = []
    for task in found:
        values = [
            f"{task.value(system, metric):.4f}{'*' if task.failures(system) else ''}"
            if system in task.results
            else "-"
            for system in systems
        ]
        rows.append([task.table, str(task.labelled), *values])
    return _aligned(["table", "labelled", *systems], rows)


def _by_system(found: Sequence[TaskResults], systems: Sequence[str], metric: str) -> list[str]:
    names = [task.table for task in found]
    ranked = ranks(found, systems, metric)
    rows = []
    for column, system in enumerate(systems):
        results = [result for task in found for result in task.results[system].values()]
        rank = mean_interval(ranked[:, column], names)
        means = [f"{np.mean([task.value(system, one) for task in found]):.4f}" for one in METRICS]
        seconds = np.median([result.seconds for result in results])
        failed = sum(result.status != OK for result in results)
        rank_text = f"{rank.mean:.2f} [{rank.low:.2f}, {rank.high:.2f}]"
        rows.append([system, rank_text, *means, f"{seconds:.1f}", f"{failed} of {len(results)}"])
    return _aligned(["system", f"rank by {metric}", *METRICS, "median s", "failures"], rows)


def _of_tune(found: Sequence[TaskResults], systems: Sequence[str], metric: str) -> list[str]:
    names = [task.table for task in found]
    rows = []
    for system in systems:
        if system != TUNE:
            difference = gains(found, TUNE, system, metric)
            share = mean_interval(ahead(difference), names)
            gain = mean_interval(difference, names)
            share_text = f"{share.mean:.0%} [{share.low:.0%}, {share.high:.0%}]"
            rows.append([system, share_text, str(gain), f"{np.median(difference):+.4f}"])
    lines = [
        "",
        f"tune, compared by {metric}",
        *_aligned(["with", "ahead", "mean gain", "median gain"], rows),
    ]
    if DEFAULT in systems:
        lines += ["", *gain_lines(gains(found, TUNE, DEFAULT, metric), names)]
    peers = [system for system in systems if system not in (TUNE, DEFAULT)]
    if peers:
        lines += ["", *_behind(found, peers)]
    return lines


def gain_lines(difference: Vector, tables: Sequence[str]) -> list[str]:
    """Return lines on the gain of tune over the default, and on what is left without the largest gains."""
    middle = f"median {np.median(difference):+.4f}, {len(difference)} tasks"
    lines = [f"tune over default: mean {mean_interval(difference, tables)}, {middle}"]
    if len(difference) > LARGEST:
        kept = np.sort(np.argsort(difference, kind="stable")[:-LARGEST])
        rest = mean_interval(difference[kept], [tables[index] for index in kept])
        lines.append(
            f"  without the {LARGEST} largest gains: mean {rest}, median {np.median(difference[kept]):+.4f}"
        )
    return lines


def behind(found: Sequence[TaskResults], peers: Sequence[str]) -> list[tuple[TaskResults, str, Estimate]]:
    """Return tasks with a mean AUC of tune that is more than `MARGIN` below the best peer's, the farthest first."""
    lags = []
    for task in found:
        peer = best_peer(task, peers)
        lag = paired_gain(task.results[peer], task.results[TUNE])
        if lag.mean > MARGIN:
            lags.append((task, peer, lag))
    return sorted(lags, key=lambda one: -one[2].mean)


def _behind(found: Sequence[TaskResults], peers: Sequence[str]) -> list[str]:
    lags = behind(found, peers)
    clear = sum(lag.low > MARGIN for _, _, lag in lags)
    rows = [
        [task.table, str(task.labelled), peer, str(lag), "yes" if lag.low > MARGIN else "no"]
        for task, peer, lag in lags
    ]
    clearly = f"{len(lags)} of {len(found)} tasks, {clear} beyond the paired interval"
    lines = [f"tune more than {MARGIN} in AUC behind the best peer: {clearly}"]
    if rows:
        lines += _aligned(["table", "labelled", "best peer", "behind by", "beyond the interval"], rows)
    return lines


def _failures(results: Sequence[Result]) -> Iterator[list[str]]:
    reasons = Counter(
        (result.cell.system, f"{result.status}: {result.reason}") for result in results if result.status != OK
    )
    for (system, reason), number in sorted(reasons.items()):
        yield [system, str(number), reason]


def _aligned(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(len(heads))]
    return [
        "  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in [heads, *rows]
    ]

"""How long jobs will take: estimated from earlier records of the same method on data of a similar size, or roughly."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from pubench.bench.plan import BenchJob, label_of
from pubench.errors import DataError
from pubench.record.record import Record, RunSpec
from pubench.record.record_file import read_record
from pubench.types import Status

#: Data of a similar size is at most this many times larger or smaller.
_SIMILAR = 10.0
#: Without records: seconds per million values of the training rows, measured on Credit Card with an ensemble of 50 on two
#: cores, and the seconds of the smallest job.
_SECONDS_PER_MILLION = 5.0
_MIN_SECONDS = 1.0
#: Number of earlier records that are read at most.
_MAX_RECORDS = 5000


@dataclass(frozen=True)
class Estimate:
    """Seconds that a job will take, and whether they are estimated from records."""

    seconds: float
    from_records: bool


def earlier_records(out: Path) -> list[Record]:
    """Return the records of the runs in and beside `out`."""
    paths = sorted(out.parent.glob("*/records/*.json")) if out.parent.is_dir() else []
    records = []
    for path in paths[-_MAX_RECORDS:]:
        try:
            records.append(read_record(path, follow_link=False))
        except DataError:
            continue  # reported when that run is resumed
    return records


class Estimator:
    """Estimates jobs by earlier records.

    Args:
        records: of any runs.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self._known: dict[tuple[str, int], list[tuple[int, float]]] = {}
        for record in records:
            seconds = record.seconds.get("total")
            if record.status is Status.OK and record.data and seconds:
                size = record.data.rows * record.data.features
                self._known.setdefault(_kind(record.spec), []).append((size, seconds))

    def estimate(self, job: BenchJob) -> Estimate:
        """Return how long a job will take; the time is assumed to be proportional to the number of values."""
        if job.problem:
            return Estimate(0.0, from_records=True)
        size = job.rows * job.features
        known = [
            seconds * size / seen
            for seen, seconds in self._known.get(_kind(job.spec), [])
            if size and seen and 1 / _SIMILAR <= size / seen <= _SIMILAR
        ]
        if known:
            return Estimate(max(median(known), 0.1), from_records=True)
        single = _MIN_SECONDS + _SECONDS_PER_MILLION * size / 1e6
        return Estimate(single * (1 + _trials(job.spec)), from_records=False)


def longest_first(jobs: Sequence[BenchJob], estimator: Estimator) -> list[BenchJob]:
    """Return jobs in an order in which several workers end at about the same time: no long job starts last."""
    return sorted(jobs, key=lambda job: -estimator.estimate(job).seconds)


def total_seconds(estimates: Sequence[Estimate], workers: int) -> float:
    """Return how long all take with a number of workers side by side."""
    return sum(estimate.seconds for estimate in estimates) / max(1, workers)


def _kind(spec: RunSpec) -> tuple[str, int]:
    return label_of(spec.configuration), _trials(spec)


def _trials(spec: RunSpec) -> int:
    trials = spec.tuning.get("trials")
    return trials if isinstance(trials, int) else 0

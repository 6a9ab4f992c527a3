"""How long jobs will take: as earlier records of the same method on data of a similar size say, else a rough guess."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from pubench.errors import DataError
from pubench.experiment.planning import Job, label_of
from pubench.records.files import read_record
from pubench.records.record import Record, RunSpec
from pubench.types import Status

#: Records of data up to so many times larger or smaller count as similar.
_SIMILAR = 10.0
#: Without records: seconds per million values of the training rows, measured on Credit Card with an ensemble of 50 on two
#: cores, and what a job takes however small it is.
_SECONDS_PER_MILLION = 5.0
_LEAST_SECONDS = 1.0
#: Earlier runs are looked for in so many records at most.
_MOST_RECORDS = 5000


@dataclass(frozen=True)
class Estimate:
    """Seconds that a job will take, and whether records say so."""

    seconds: float
    from_records: bool


def earlier_records(out: Path) -> list[Record]:
    """Return records of runs that lie in and beside `out`."""
    places = sorted(out.parent.glob("*/records/*.json")) if out.parent.is_dir() else []
    found = []
    for path in places[-_MOST_RECORDS:]:
        try:
            found.append(read_record(path))
        except DataError:
            continue  # not ours to judge here
    return found


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

    def estimate(self, job: Job) -> Estimate:
        """Return how long a job will take; time is taken to grow as the number of values does."""
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
        once = _LEAST_SECONDS + _SECONDS_PER_MILLION * size / 1e6
        return Estimate(once * (1 + _trials(job.spec)), from_records=False)


def longest_first(jobs: Sequence[Job], estimator: Estimator) -> list[Job]:
    """Return jobs so that several workers are done at about the same time: nobody begins a long one last."""
    return sorted(jobs, key=lambda job: -estimator.estimate(job).seconds)


def total_seconds(estimates: Sequence[Estimate], workers: int) -> float:
    """Return how long all take with so many side by side."""
    return sum(estimate.seconds for estimate in estimates) / max(1, workers)


def _kind(spec: RunSpec) -> tuple[str, int]:
    return label_of(spec.configuration), _trials(spec)


def _trials(spec: RunSpec) -> int:
    trials = spec.tuning.get("trials")
    return trials if isinstance(trials, int) else 0

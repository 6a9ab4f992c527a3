"""The one maker of records: collects what is known of a run while it goes on, and makes its record however it ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from pubench.configuration.configuration import Configuration
from pubench.metrics.intervals import aul_pu_interval
from pubench.metrics.ranks import share_below
from pubench.record.environment import hardware, versions_of
from pubench.record.record import DataFacts, Record, RunSpec
from pubench.system.fingerprint import content_key
from pubench.types import BoolVector, FloatVector, Json, Status, Table

#: The schema of records allows at most this many placements, and this many characters of a reason.
_MAX_PLACEMENTS = 100_000
_MAX_REASON = 1000


def rows_hash(X: Table, labels: BoolVector) -> str:
    """Return the hash of all rows that a run took of a data set, with their labels and the names of their features."""
    return content_key(X.values, labels, [feature.name for feature in X.features])


def data_facts(
    X: Table, hash_of_rows: str, train_s: BoolVector, test_s: BoolVector, *, stand_in: bool
) -> DataFacts:
    """Return the facts about a run's rows, given the labels of its fold; see `rows_hash`."""
    return DataFacts(
        hash=hash_of_rows,
        rows=X.n_rows,
        features=X.n_features,
        train_rows=len(train_s),
        train_labelled=int(train_s.sum()),
        test_rows=len(test_s),
        test_labelled=int(test_s.sum()),
        stand_in=stand_in,
    )


@dataclass
class RecordDraft:
    """What is known of a run so far.

    Attributes:
        data: facts about its rows.
        seconds: phase -> wall clock; see `timed`.
        chosen: what fitting, or tuning, decided by itself.
        origins: kind of plugin -> the package and version it comes from; see `add_plugins`.
        environment: the hardware and the threads from the beginning, versions, and what else describes where it ran.
        metrics: see `add_scores`; those that need truth are computed by whoever may see it, and added here.
        placements: of the labelled test rows.
        peak_memory_bytes: of the run's process, where it is measured.
    """

    data: DataFacts | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    chosen: dict[str, Json] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    environment: dict[str, Json] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    placements: tuple[float, ...] = ()
    peak_memory_bytes: int | None = None

    @classmethod
    def begin(cls, n_threads: int) -> "RecordDraft":
        """Return a draft of a run that may use some threads of this machine."""
        return cls(environment={"hardware": hardware(), "threads": n_threads})

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Record the wall clock of a phase, if it succeeds."""
        start = perf_counter()
        yield
        self.seconds[phase] = perf_counter() - start

    def add_plugins(self, configuration: Configuration) -> None:
        """Record where the plugins of a configuration come from, and the versions of the libraries that they use."""
        plugins = [plugin for single in configuration.singles for plugin in single.plugins.values()]
        self.origins = {kind.value: origin for kind, origin in configuration.origins.items()}
        self.environment["versions"] = dict(versions_of(*plugins))

    def add_scores(self, s: BoolVector, scores: FloatVector, prefix: str = "") -> None:
        """Record AUL_PU of the test rows' scores and its standard error; without a prefix the placements, too."""
        interval = aul_pu_interval(s, scores)
        self.metrics |= {
            f"{prefix}aul_pu": interval.estimate,
            f"{prefix}aul_pu_stderr": interval.stderr,
        }
        if not prefix and int(s.sum()) <= _MAX_PLACEMENTS:
            self.placements = tuple(share_below(scores, scores[s]).tolist())

    def record(self, spec: RunSpec, status: Status = Status.OK, reason: str = "") -> Record:
        """Return the record of a run that has ended; metrics and placements are left out unless it succeeded."""
        succeeded = status is Status.OK
        return Record(
            spec,
            status,
            reason[:_MAX_REASON],
            data=self.data,
            metrics=self.metrics if succeeded else {},
            placements=self.placements if succeeded else (),
            seconds=self.seconds,
            peak_memory_bytes=self.peak_memory_bytes,
            chosen=self.chosen,
            origins=self.origins,
            environment=self.environment,
        )

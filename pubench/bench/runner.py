"""A whole `pubench bench`: runs the jobs of a plan that have no record, and writes records, results, tables and figures.

A run has a folder, and a lock lets one runner work in it:

    OUT/suite.toml, records/KEY.json, logs/KEY.log, results.csv, results.parquet, tables.md, figures/
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pubench.api.registry import Registry
from pubench.bench.dask_cluster import ClusterExecutor
from pubench.bench.executors import Executor, JobResult, LocalExecutor
from pubench.bench.figures import draw_figures
from pubench.bench.paper_tables import PaperTable, fill_tables, to_markdown
from pubench.bench.plan import BenchJob, BenchPlan
from pubench.bench.suite import Suite
from pubench.bench.time_estimates import Estimator, earlier_records, longest_first
from pubench.errors import DataError
from pubench.record.record import Record
from pubench.record.record_file import read_record, write_record
from pubench.record.results_file import write_results
from pubench.system.files import locked_folder, make_folder, remove_old_temporaries, write_whole
from pubench.system.machine import free_memory
from pubench.types import Status
from pubench.workers.limits import Limits
from pubench.workers.server import ForkServer

_HOUR = 3600.0
#: Share of the free memory that the jobs that run side by side divide.
_MEMORY_SHARE = 0.9
RETRIES: Mapping[str, frozenset[Status]] = {
    "failed": frozenset({Status.FAILED}),
    "timeout": frozenset({Status.TIMEOUT}),
    "out-of-memory": frozenset({Status.OUT_OF_MEMORY}),
    "all": frozenset(Status) - {Status.OK},
}
#: A temporary file this old belongs to a runner that died.
_OLD_SECONDS = 60.0


@dataclass(frozen=True)
class BenchRequest:
    """A run of a suite.

    Attributes:
        suite: the suite.
        plan: its jobs.
        out: the folder.
        resume: the run must exist already.
        retry: run jobs again whose record has one of these statuses.
        workers: number of jobs side by side.
        seconds, memory_bytes: limits of each job; None: the suite's, or else an hour and a share of the free memory.
        cluster: address of a Dask scheduler, or "local"; None: processes of this machine.
        plugin_files: single-file plugins that jobs on a cluster load.
        threads: of each job on a cluster; None: its share of the cores of its machine.
    """

    suite: Suite
    plan: BenchPlan
    out: Path
    resume: bool = False
    retry: frozenset[Status] = frozenset()
    workers: int = 1
    seconds: float | None = None
    memory_bytes: int | None = None
    cluster: str | None = None
    plugin_files: tuple[str, ...] = ()
    threads: int | None = None

    @property
    def limits(self) -> Limits:
        """The limits of each job."""
        suite = self.suite.limits
        seconds = _HOUR if suite.minutes is None else 60 * suite.minutes
        share = int(_MEMORY_SHARE * free_memory() / self.workers)
        memory_bytes = share if suite.memory_gib is None else int(suite.memory_gib * 2**30)
        return Limits(self.seconds or seconds, self.memory_bytes or memory_bytes)

    def due(self, records: Mapping[str, Record]) -> list[BenchJob]:
        """Return the jobs that must be run, given the existing records by key."""
        return [job for job in self.plan.jobs if _is_due(job, records.get(job.spec.key), self.retry)]


@dataclass(frozen=True)
class BenchCallbacks:
    """Called with what a run does: the plan, jobs as they start (from any thread) and end, and the phases after them."""

    planned: Callable[[int, int], None] = lambda due, known: None  # noqa: ARG005
    started: Callable[[BenchJob], None] = lambda job: None  # noqa: ARG005
    ended: Callable[[BenchJob, Record], None] = lambda job, record: None  # noqa: ARG005
    phase: Callable[[str], None] = lambda name: None  # noqa: ARG005


@dataclass(frozen=True)
class BenchResult:
    """The result of a run.

    Attributes:
        request: what was run.
        records: of the plan's jobs, by key.
        ran: number of jobs that were run now.
        tables: filled.
        files: that were written, besides records.
        notices: one sentence each.
    """

    request: BenchRequest
    records: Mapping[str, Record]
    ran: int
    tables: tuple[PaperTable, ...]
    files: tuple[Path, ...]
    notices: tuple[str, ...] = ()

    @property
    def has_result(self) -> bool:
        """Whether at least one job succeeded."""
        return any(record.status is Status.OK for record in self.records.values())


def run_suite(
    request: BenchRequest, registry: Registry, servers: Sequence[ForkServer], callbacks: BenchCallbacks
) -> BenchResult:
    """Run the jobs that have no record yet, and write records, results, tables and figures into the folder.

    Args:
        request: what to run.
        registry: where plugins are found.
        servers: of this machine, one per job at a time; none are needed on a cluster.
        callbacks: progress.

    Raises:
        DataError: the folder cannot be used, or a record cannot be written.
    """
    folder = BenchFolder(request.out)
    with folder.locked(request.suite, must_exist=request.resume):
        records = folder.read_records(request.plan.jobs)
        due = request.due(records)
        callbacks.planned(len(due), len(request.plan.jobs) - len(due))
        for job, result in _run(request, due, servers, callbacks):
            records[job.spec.key] = folder.write(result, replace=job.spec.key in records)
            callbacks.ended(job, records[job.spec.key])
        return _write_results(request, registry, records, len(due), callbacks)


def _is_due(job: BenchJob, record: Record | None, retry: frozenset[Status]) -> bool:
    if record is None or record.status in retry:
        return True
    never_ran = record.status is Status.FAILED and not record.seconds
    return never_ran and not job.problem  # what was missing, data or a plugin, is here by now


def _run(
    request: BenchRequest,
    due: list[BenchJob],
    servers: Sequence[ForkServer],
    callbacks: BenchCallbacks,
) -> Iterator[tuple[BenchJob, JobResult]]:
    if not due:
        return
    if request.workers > 1 or request.cluster is not None:
        due = longest_first(due, Estimator(earlier_records(request.out)))
    yield from _executor(request, servers).run(due, request.limits, callbacks.started)


def _executor(request: BenchRequest, servers: Sequence[ForkServer]) -> Executor:
    if request.cluster is None:
        return LocalExecutor(servers)
    return ClusterExecutor(request.cluster, request.workers, request.plugin_files, request.threads)


def _write_results(
    request: BenchRequest,
    registry: Registry,
    records: Mapping[str, Record],
    ran: int,
    callbacks: BenchCallbacks,
) -> BenchResult:
    suite, jobs, out = request.suite, request.plan.jobs, request.out
    files = write_results([records[job.spec.key] for job in jobs if job.spec.key in records], out)
    tables = fill_tables(suite, jobs, records)
    with write_whole(out / "tables.md") as temporary:
        temporary.write_text(to_markdown(suite, tables), encoding="utf-8")
    notices = list(request.plan.notices)
    if suite.figures:
        callbacks.phase("drawing figures")
    try:
        files += draw_figures(suite, jobs, tables, registry, out / "figures")
    except DataError as error:
        notices.append(f"A figure could not be drawn: {error}")
    return BenchResult(request, records, ran, tuple(tables), (*files, out / "tables.md"), tuple(notices))


@dataclass(frozen=True)
class BenchFolder:
    """The files of a suite's run.

    Attributes:
        path: the folder.
    """

    path: Path

    @property
    def records(self) -> Path:
        """The folder of the records."""
        return self.path / "records"

    def read_records(self, jobs: Sequence[BenchJob]) -> dict[str, Record]:
        """Return the records of these jobs that exist and can be read, by key."""
        records = {}
        for job in jobs:
            path = self.records / f"{job.spec.key}.json"
            with suppress(DataError):
                if path.exists():
                    records[job.spec.key] = read_record(path)
        return records

    def write(self, result: JobResult, *, replace: bool) -> Record:
        """Write the record of a job, and its log if it failed; return the record that counts.

        A record that exists counts, unless it is to be replaced or cannot be read.
        """
        record = result.record
        path = self.records / f"{record.spec.key}.json"
        if path.exists() and not replace:
            with suppress(DataError):
                return read_record(path)
        write_record(self.records, record, replace=True)
        if record.status is not Status.OK and result.log:
            self._write_log(record, result.log)
        return record

    def _write_log(self, record: Record, log: str) -> None:
        logs = self.path / "logs"
        with suppress(OSError, DataError):  # the record is what counts
            logs.mkdir(exist_ok=True)
            with write_whole(logs / f"{record.spec.key}.log") as temporary:
                temporary.write_text(f"{log}\n", encoding="utf-8")

    @contextmanager
    def locked(self, suite: Suite, *, must_exist: bool) -> Iterator[None]:
        """Make the folder and lock it, so that no other runner works in it; the lock of a process that died is released.

        Raises:
            DataError: it cannot be written, another runner has locked it, or it does not exist and must.
        """
        if must_exist and not self.records.is_dir():
            raise DataError(
                f"{self.path} holds no run that could be resumed; leave --resume out to begin one."
            )
        make_folder(self.records)
        with locked_folder(self.path):
            remove_old_temporaries(self.records, _OLD_SECONDS)
            with write_whole(self.path / "suite.toml") as temporary:
                temporary.write_text(suite.text, encoding="utf-8")
            yield

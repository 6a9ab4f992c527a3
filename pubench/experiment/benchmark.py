"""A whole `pubench bench`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pubench.atomic import replacing
from pubench.errors import DataError
from pubench.experiment.cluster import ClusterExecutor
from pubench.experiment.estimates import Estimator, earlier_records, longest_first
from pubench.experiment.executors import Executor, LocalExecutor
from pubench.experiment.figures import draw_figures
from pubench.experiment.folders import OutFolder
from pubench.experiment.isolation import Finished
from pubench.experiment.limits import Limits
from pubench.experiment.planning import Job, Plan
from pubench.experiment.results import write_results
from pubench.experiment.servers import Server
from pubench.experiment.suite import Suite
from pubench.experiment.tables import ResultTable, fill_tables, to_markdown
from pubench.machine import free_memory
from pubench.records.record import Record
from pubench.registry import Registry
from pubench.types import Status

_HOUR = 3600.0
#: Of the free memory, to be shared by the jobs that run side by side.
_MEMORY_SHARE = 0.9
RETRIES: Mapping[str, frozenset[Status]] = {
    "failed": frozenset({Status.FAILED}),
    "timeout": frozenset({Status.TIMEOUT}),
    "out-of-memory": frozenset({Status.OUT_OF_MEMORY}),
    "all": frozenset(Status) - {Status.OK},
}


@dataclass(frozen=True)
class BenchOrder:
    """What a person asked for.

    Attributes:
        suite: the suite.
        plan: its jobs.
        out: the folder.
        resume: a run must be there.
        retry: run jobs again that ended like this.
        workers: jobs side by side.
        seconds, memory_bytes: limits of each job; None: the suite's, or else an hour and a share of what is free.
        servers: of this machine, as many as workers; none on a cluster.
        cluster: address of a Dask scheduler, or "local"; None: processes of this machine.
        plugin_files: single-file plugins that jobs on a cluster load.
        threads: of each job on a cluster; None: the cores of its machine, shared by the jobs there.
    """

    suite: Suite
    plan: Plan
    out: Path
    resume: bool = False
    retry: frozenset[Status] = frozenset()
    workers: int = 1
    seconds: float | None = None
    memory_bytes: int | None = None
    servers: Sequence[Server] = ()
    cluster: str | None = None
    plugin_files: tuple[str, ...] = ()
    threads: int | None = None

    @property
    def limits(self) -> Limits:
        """Those of each job."""
        stated = self.suite.limits
        minutes = _HOUR if stated.minutes is None else 60 * stated.minutes
        share = int(_MEMORY_SHARE * free_memory() / self.workers)
        memory = share if stated.memory_gib is None else int(stated.memory_gib * 2**30)
        return Limits(self.seconds or minutes, self.memory_bytes or memory)

    def due(self, records: Mapping[str, Record]) -> list[Job]:
        """Return the jobs that are to be run, given the records that are there, by key."""
        return [job for job in self.plan.jobs if _is_due(job, records.get(job.spec.key), self.retry)]

    @property
    def executor(self) -> Executor:
        """Where jobs run."""
        if self.cluster is None:
            return LocalExecutor(self.servers)
        return ClusterExecutor(self.cluster, self.workers, self.plugin_files, self.threads)


@dataclass(frozen=True)
class Watcher:
    """Whom a run tells what happens: before, as jobs begin (from any thread) and end, and while figures are drawn."""

    planned: Callable[[int, int], None] = lambda due, known: None  # noqa: ARG005
    begun: Callable[[Job], None] = lambda job: None  # noqa: ARG005
    ended: Callable[[Job, Record], None] = lambda job, record: None  # noqa: ARG005
    phase: Callable[[str], None] = lambda name: None  # noqa: ARG005


@dataclass(frozen=True)
class Benched:
    """What came of it.

    Attributes:
        order: what was asked for.
        records: of the plan's jobs, by key.
        ran: how many jobs were run now.
        tables: filled.
        files: that were written, besides records.
        notices: a sentence each.
    """

    order: BenchOrder
    records: Mapping[str, Record]
    ran: int
    tables: tuple[ResultTable, ...]
    files: tuple[Path, ...]
    notices: tuple[str, ...] = ()

    @property
    def has_result(self) -> bool:
        """Whether a single job went well."""
        return any(record.status is Status.OK for record in self.records.values())


def bench(order: BenchOrder, registry: Registry, watcher: Watcher) -> Benched:
    """Run what has no record yet, and leave records, results, tables and figures in the folder.

    Raises:
        DataError: the folder can not be used, or a record can not be written.
    """
    folder = OutFolder(order.out)
    with folder.held(order.suite, must_exist=order.resume):
        records = folder.known(order.plan.jobs)
        due = order.due(records)
        watcher.planned(len(due), len(order.plan.jobs) - len(due))
        for job, finished in _executed(order, due, watcher):
            records[job.spec.key] = folder.keep(finished, replace=job.spec.key in records)
            watcher.ended(job, records[job.spec.key])
        return _left(order, registry, records, len(due), watcher)


def _is_due(job: Job, record: Record | None, retry: frozenset[Status]) -> bool:
    if record is None or record.status in retry:
        return True
    never_ran = record.status is Status.FAILED and not record.seconds
    return never_ran and not job.problem  # what was missing, data or a plugin, is here by now


def _executed(order: BenchOrder, due: list[Job], watcher: Watcher) -> Iterator[tuple[Job, Finished]]:
    if not due:
        return
    if order.workers > 1 or order.cluster is not None:
        due = longest_first(due, Estimator(earlier_records(order.out)))
    yield from order.executor.run(due, order.limits, watcher.begun)


def _left(
    order: BenchOrder, registry: Registry, records: Mapping[str, Record], ran: int, watcher: Watcher
) -> Benched:
    jobs = order.plan.jobs
    kept = [records[job.spec.key] for job in jobs if job.spec.key in records]
    files = write_results(kept, order.out)
    tables = fill_tables(order.suite, jobs, records)
    with replacing(order.out / "tables.md") as temporary:
        temporary.write_text(to_markdown(order.suite, tables), encoding="utf-8")
    notices = list(order.plan.notices)
    if order.suite.figures:
        watcher.phase("drawing figures")
    try:
        files += draw_figures(order.suite, jobs, tables, registry, order.out / "figures")
    except DataError as error:
        notices.append(f"A figure could not be drawn: {error}")
    return Benched(order, records, ran, tuple(tables), (*files, order.out / "tables.md"), tuple(notices))

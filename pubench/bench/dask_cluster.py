"""Jobs on the machines of a Dask cluster: workers may die and join; no job is lost, and each is recorded once.

A worker runs a job as this machine would, in a process with limits of its own, and returns the record. Only the runner
writes records. All workers need pubench, and the data and the plugin files at the same paths.
"""

import atexit
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

from pubench.bench.executors import JobResult, run_isolated
from pubench.bench.job_server import job_server
from pubench.bench.plan import BenchJob
from pubench.errors import PubenchError, one_line
from pubench.record.draft import RecordDraft
from pubench.record.record import RunSpec
from pubench.record.record_file import from_document, to_document
from pubench.system.machine import cores
from pubench.types import Status
from pubench.workers.limits import Limits
from pubench.workers.server import ForkServer

#: Time that a scheduler may take to answer.
_CONNECT_TIMEOUT = "10s"
_MAX_REASON = 500


@dataclass(frozen=True)
class ClusterExecutor:
    """Runs jobs on a Dask cluster.

    Attributes:
        address: of its scheduler, such as tcp://host:8786; or "local": a cluster of this machine.
        workers: number of workers of a local cluster.
        plugin_files: single-file plugins that jobs load.
        threads: of each job; None: its share of its machine's cores.
    """

    address: str
    workers: int = 1
    plugin_files: tuple[str, ...] = ()
    threads: int | None = None

    def run(
        self, jobs: Sequence[BenchJob], limits: Limits, started: Callable[[BenchJob], None]
    ) -> Iterator[tuple[BenchJob, JobResult]]:
        """Yield every job with its result; a job whose workers die again and again fails."""
        with ExitStack() as stack:
            client = self._client(stack)
            jobs_per_host = _jobs_per_host(client)
            waiting = {}
            for job in jobs:
                if job.problem:
                    yield job, JobResult(RecordDraft().record(job.spec, Status.FAILED, job.problem))
                    continue
                started(job)
                arguments = (
                    job.spec.to_json(),
                    asdict(limits),
                    self.plugin_files,
                    jobs_per_host,
                    self.threads,
                )
                future = client.submit(run_on_worker, *arguments, key=f"pubench-{job.spec.key}", pure=False)
                waiting[future] = job
            yield from self._results(waiting)

    def _results(self, waiting: dict[Any, BenchJob]) -> Iterator[tuple[BenchJob, JobResult]]:
        from distributed import as_completed  # noqa: PLC0415 - heavy imports happen when used

        for future in as_completed(list(waiting)):
            if future.status in {"finished", "error"}:
                yield waiting[future], _result(waiting[future], future)
                future.release()
                continue
            raise PubenchError(f"The cluster {self.address} was lost; the same command goes on where it was.")

    def _client(self, stack: ExitStack) -> Any:
        """Return a client of the cluster, which the stack closes."""
        try:
            from distributed import Client, LocalCluster  # noqa: PLC0415
        except ImportError:
            raise PubenchError(
                "Clusters need Dask, which is not installed; install it with pip install 'pubench[cluster]'."
            ) from None
        try:
            if self.address != "local":
                return stack.enter_context(Client(self.address, timeout=_CONNECT_TIMEOUT))
            cluster = LocalCluster(self.workers, threads_per_worker=1, dashboard_address=None)
            return stack.enter_context(Client(stack.enter_context(cluster)))
        except (OSError, ValueError) as error:
            reason = one_line(str(error))[:200]
            raise PubenchError(
                f"The cluster {self.address} does not answer ({reason}); is its scheduler running?"
            ) from error


def _jobs_per_host(client: Any) -> dict[str, int]:
    """Return the number of jobs that each machine runs at a time."""
    jobs: dict[str, int] = {}
    for worker in client.scheduler_info(n_workers=-1)["workers"].values():
        jobs[worker["host"]] = jobs.get(worker["host"], 0) + int(worker["nthreads"])
    return jobs


def _result(job: BenchJob, future: Any) -> JobResult:
    if future.status == "error":
        reason = one_line(str(future.exception()))[:_MAX_REASON]
        return JobResult(
            RecordDraft().record(job.spec, Status.FAILED, f"The cluster gave up the job: {reason}")
        )
    document, log = future.result()
    return JobResult(from_document(document), log)


class _ThreadServers(threading.local):
    """The servers of a thread in which a Dask worker runs jobs, by their threads and plugin files."""

    def __init__(self) -> None:
        self.servers: dict[tuple[int | None, tuple[str, ...]], ForkServer] = {}


_thread = _ThreadServers()


def run_on_worker(
    spec: dict[str, Any],
    limits: dict[str, Any],
    plugin_files: Sequence[str],
    jobs_per_host: Mapping[str, int],
    threads: int | None = None,
) -> tuple[dict[str, Any], str]:
    """Run a job on the worker that calls this, and return its record and the end of its log."""
    from distributed import get_worker  # noqa: PLC0415

    worker = get_worker()
    key = (threads, tuple(plugin_files))
    if key not in _thread.servers:
        host = worker.address.rpartition(":")[0].partition("://")[2]
        jobs = jobs_per_host.get(host, worker.state.nthreads)
        _thread.servers[key] = job_server(threads or max(1, cores() // jobs), plugin_files)
        atexit.register(_thread.servers[key].close)
    result = run_isolated(BenchJob(RunSpec(**spec)), Limits(**limits), _thread.servers[key])
    return dict(to_document(result.record)), result.log

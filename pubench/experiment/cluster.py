"""Jobs on the machines of a Dask cluster: workers may die and join; no job is lost, and each is recorded once.

A worker runs a job as this machine would, in a process with limits of its own, and hands the record back. Only the
runner writes records. Workers need pubench, the data and the plugin files in the same places.
"""

import atexit
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

from pubench.errors import PubenchError, one_line
from pubench.experiment.isolation import Finished, run_isolated
from pubench.experiment.limits import Limits
from pubench.experiment.planning import Job
from pubench.experiment.servers import Server
from pubench.machine import cores
from pubench.records.files import from_document, to_document
from pubench.records.record import Record, RunSpec
from pubench.types import Status

#: How long a scheduler may take to answer.
_PATIENCE = "10s"


@dataclass(frozen=True)
class ClusterExecutor:
    """Runs jobs on a Dask cluster.

    Attributes:
        address: of its scheduler, such as tcp://host:8786; or "local": a cluster of this machine.
        workers: of a local cluster.
        plugin_files: single-file plugins that jobs load.
        threads: of each job; None: its share of its machine's cores.
    """

    address: str
    workers: int = 1
    plugin_files: tuple[str, ...] = ()
    threads: int | None = None

    def run(
        self, jobs: Sequence[Job], limits: Limits, begun: Callable[[Job], None]
    ) -> Iterator[tuple[Job, Finished]]:
        """Yield every job with what came of it; one whose workers die again and again fails."""
        with ExitStack() as stack:
            client = self._client(stack)
            crowd = _crowd(client)
            waiting = {}
            for job in jobs:
                if job.problem:
                    yield job, Finished(Record(job.spec, Status.FAILED, job.problem))
                    continue
                begun(job)
                order = (job.spec.to_json(), asdict(limits), self.plugin_files, crowd, self.threads)
                future = client.submit(run_on_worker, *order, key=f"pubench-{job.spec.key}", pure=False)
                waiting[future] = job
            yield from self._ended(waiting)

    def _ended(self, waiting: dict[Any, Job]) -> Iterator[tuple[Job, Finished]]:
        from distributed import as_completed  # noqa: PLC0415 - heavy imports happen when used

        for future in as_completed(list(waiting)):
            if future.status in {"finished", "error"}:
                yield waiting[future], _finished(waiting[future], future)
                future.release()
                continue
            raise PubenchError(f"The cluster {self.address} was lost; the same command goes on where it was.")

    def _client(self, stack: ExitStack) -> Any:
        """Return a client of the cluster, which the stack ends."""
        try:
            from distributed import Client, LocalCluster  # noqa: PLC0415
        except ImportError:
            raise PubenchError(
                "Clusters need Dask, which is not here; get it with pip install 'pubench[cluster]'."
            ) from None
        try:
            if self.address != "local":
                return stack.enter_context(Client(self.address, timeout=_PATIENCE))
            cluster = LocalCluster(self.workers, threads_per_worker=1, dashboard_address=None)
            return stack.enter_context(Client(stack.enter_context(cluster)))
        except (OSError, ValueError) as error:
            reason = one_line(str(error))[:200]
            raise PubenchError(
                f"The cluster {self.address} does not answer ({reason}); is its scheduler running?"
            ) from error


def _crowd(client: Any) -> dict[str, int]:
    """Return how many jobs each machine runs at a time."""
    crowd: dict[str, int] = {}
    for worker in client.scheduler_info(n_workers=-1)["workers"].values():
        crowd[worker["host"]] = crowd.get(worker["host"], 0) + int(worker["nthreads"])
    return crowd


def _finished(job: Job, future: Any) -> Finished:
    if future.status == "error":
        reason = one_line(str(future.exception()))[:500]
        return Finished(Record(job.spec, Status.FAILED, f"The cluster gave it up: {reason}"))
    document, log = future.result()
    return Finished(from_document(document), log)


class _Servers(threading.local):
    """The servers of a thread in which a worker runs jobs, by their threads and the plugins they have loaded."""

    def __init__(self) -> None:
        self.by_files: dict[tuple[int | None, tuple[str, ...]], Server] = {}


_servers = _Servers()


def run_on_worker(
    spec: dict[str, Any],
    limits: dict[str, Any],
    plugin_files: Sequence[str],
    crowd: Mapping[str, int],
    threads: int | None = None,
) -> tuple[dict[str, Any], str]:
    """Run a job on the worker that this is called on, and return its record and the end of what it printed."""
    from distributed import get_worker  # noqa: PLC0415

    worker = get_worker()
    servers = _servers.by_files
    files = tuple(plugin_files)
    kind = (threads, files)
    if kind not in servers:
        host = worker.address.rpartition(":")[0].partition("://")[2]
        at_once = crowd.get(host, worker.state.nthreads)
        servers[kind] = Server(threads or max(1, cores() // at_once), files)
        atexit.register(servers[kind].close)
    finished = run_isolated(Job(RunSpec(**spec)), Limits(**limits), servers[kind])
    return dict(to_document(finished.record)), finished.log

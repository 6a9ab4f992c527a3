"""Where jobs run: processes of this machine. See `pubench.experiment.cluster` for other machines."""

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from pubench.experiment.isolation import Finished, run_isolated
from pubench.experiment.limits import Limits
from pubench.experiment.planning import Job
from pubench.experiment.servers import ClosedError, Server


class Executor(Protocol):
    """Runs jobs."""

    def run(
        self, jobs: Sequence[Job], limits: Limits, begun: Callable[[Job], None]
    ) -> Iterator[tuple[Job, Finished]]:
        """Yield every job with what came of it, in the order in which they end; each exactly once.

        Whoever stops asking ends the jobs that are running.
        """


@dataclass(frozen=True)
class LocalExecutor:
    """Runs jobs side by side.

    Attributes:
        servers: of this machine, one per job at a time; closed after a run.
    """

    servers: Sequence[Server]

    def run(
        self, jobs: Sequence[Job], limits: Limits, begun: Callable[[Job], None]
    ) -> Iterator[tuple[Job, Finished]]:
        """Yield every job with what came of it."""
        waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
        for job in jobs:
            waiting.put(job)
        ended: queue.SimpleQueue[tuple[Job, Finished] | BaseException] = queue.SimpleQueue()
        servers = self.servers[: len(jobs)]
        threads = [
            threading.Thread(target=_work, args=(server, waiting, ended, limits, begun), daemon=True)
            for server in servers
        ]
        for thread in threads:
            thread.start()
        try:
            for _ in jobs:
                result = ended.get()
                if isinstance(result, BaseException):
                    raise result
                yield result
        finally:
            for server in servers:
                server.close()
            for thread in threads:
                thread.join()


def _work(
    server: Server,
    waiting: "queue.SimpleQueue[Job]",
    ended: "queue.SimpleQueue[tuple[Job, Finished] | BaseException]",
    limits: Limits,
    begun: Callable[[Job], None],
) -> None:
    """Run jobs until there are none, or the server is closed."""
    try:
        while True:
            try:
                job = waiting.get_nowait()
            except queue.Empty:
                return
            begun(job)
            ended.put((job, run_isolated(job, limits, server)))
    except ClosedError:  # nobody waits any more
        return
    except BaseException as error:  # noqa: BLE001 - raised again where results are waited for
        ended.put(error)

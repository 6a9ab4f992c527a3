"""Where jobs run: processes of this machine. See `pubench.experiment.cluster` for other machines."""

import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from pubench.experiment.isolation import ClosedError, Finished, IsolatedJobs
from pubench.experiment.limits import Limits
from pubench.experiment.planning import Job
from pubench.machine import cores


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
    """Runs so many jobs side by side, each on its share of the cores.

    Attributes:
        workers: jobs at a time.
        plugin_files: single-file plugins that jobs load.
        threads: of each job; None: its share of the cores.
    """

    workers: int
    plugin_files: tuple[str, ...] = ()
    threads: int | None = None

    def run(
        self, jobs: Sequence[Job], limits: Limits, begun: Callable[[Job], None]
    ) -> Iterator[tuple[Job, Finished]]:
        """Yield every job with what came of it."""
        waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
        for job in jobs:
            waiting.put(job)
        ended: queue.SimpleQueue[tuple[Job, Finished] | BaseException] = queue.SimpleQueue()
        slots = [self._slot(number) for number in range(min(self.workers, len(jobs)))]
        threads = [
            threading.Thread(target=_work, args=(slot, waiting, ended, limits, begun), daemon=True)
            for slot in slots
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
            for slot in slots:
                slot.close()
            for thread in threads:
                thread.join()

    def _slot(self, number: int) -> IsolatedJobs:
        n_threads = self.threads or max(1, cores() // self.workers)
        if self.workers == 1 or not hasattr(os, "sched_getaffinity"):
            return IsolatedJobs(n_threads, self.plugin_files)
        own = sorted(os.sched_getaffinity(0))
        cpus = {own[(number * n_threads + core) % len(own)] for core in range(n_threads)}
        return IsolatedJobs(n_threads, self.plugin_files, sorted(cpus))


def _work(
    slot: IsolatedJobs,
    waiting: "queue.SimpleQueue[Job]",
    ended: "queue.SimpleQueue[tuple[Job, Finished] | BaseException]",
    limits: Limits,
    begun: Callable[[Job], None],
) -> None:
    """Run jobs until there are none, or the slot is closed."""
    try:
        while True:
            try:
                job = waiting.get_nowait()
            except queue.Empty:
                return
            begun(job)
            ended.put((job, slot.run(job, limits)))
    except ClosedError:  # nobody waits any more
        return
    except BaseException as error:  # noqa: BLE001 - raised again where results are waited for
        ended.put(error)

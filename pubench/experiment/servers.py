"""The server processes that jobs are forked from, as their runner sees them.

Light to import: servers are started before anything else, and load their libraries while the runner loads its own.
"""

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence

from pubench.errors import PubenchError
from pubench.machine import cores

_PROGRAM = "pubench.cli.benchmark_job"
#: Libraries that start threads by themselves look here.
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_PATIENCE = 5.0


class ClosedError(PubenchError):
    """Jobs are not run any more."""


class Server:
    """A process that runs one job at a time; started when asked, and again after it died.

    Args:
        n_threads: of each job.
        plugin_files: single-file plugins that jobs load.
        cpus: the cores that jobs are kept on; none: all.
    """

    def __init__(self, n_threads: int, plugin_files: Sequence[str] = (), cpus: Sequence[int] = ()) -> None:
        self._command = [
            *(sys.executable, "-m", _PROGRAM, "--threads", str(n_threads)),
            *("--cpus", ",".join(map(str, cpus))),
            *plugin_files,
        ]
        # Threads that wait give their core to others: spinning, two jobs side by side slow each other down manyfold.
        self._environment = {
            "OMP_WAIT_POLICY": "passive",
            **os.environ,
            **dict.fromkeys(_THREAD_VARIABLES, str(n_threads)),
        }
        self._lock = threading.Lock()
        self._closed = False
        self._is_busy = False
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> subprocess.Popen[bytes]:
        """Start the process, if it is not there, and return it.

        Raises:
            ClosedError: it was closed.
        """
        with self._lock:
            if self._closed:
                raise ClosedError("No more jobs are started.")
            if self._process is None:
                self._process = subprocess.Popen(  # noqa: S603 - our own command
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=self._environment,
                    start_new_session=True,  # Ctrl-C is for the runner, which ends it
                )
            return self._process

    def ask(self, line: bytes) -> bytes:
        """Hand over a line and return the one that answers it; nothing if the process died meanwhile."""
        process = self.start()
        assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018 - both are pipes
        self._is_busy = True
        try:
            process.stdin.write(line)
            process.stdin.flush()
            answer = process.stdout.readline()
        except (OSError, ValueError):
            answer = b""
        if not answer:
            self._end()
        self._is_busy = False
        return answer

    def close(self) -> None:
        """End the process and the job it is at, for good; may be called from another thread, and again."""
        with self._lock:
            self._closed = True
        self._end()

    def _end(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        if not self._is_busy:
            process.kill()  # it holds nothing, and may still be loading libraries, which takes a second
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()  # it kills its job and ends
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


@contextlib.contextmanager
def local_servers(
    workers: int, plugin_files: Sequence[str] = (), threads: int | None = None
) -> Iterator[list[Server]]:
    """Yield servers, to run so many jobs side by side on this machine, and end them with the context.

    As many as there are cores are started at once, the others once they are asked: there may be few jobs.

    Args:
        workers: jobs at a time; each is kept on cores of its own.
        plugin_files: single-file plugins that jobs load.
        threads: of each job; None: its share of the cores.
    """
    servers = [_local_server(number, workers, plugin_files, threads) for number in range(workers)]
    try:
        for server in servers[: cores()]:
            server.start()
        yield servers
    finally:
        for server in servers:
            server.close()


def _local_server(number: int, workers: int, plugin_files: Sequence[str], threads: int | None) -> Server:
    n_threads = threads or max(1, cores() // workers)
    if workers == 1 or not hasattr(os, "sched_getaffinity"):
        return Server(n_threads, plugin_files)
    own = sorted(os.sched_getaffinity(0))
    cpus = {own[(number * n_threads + core) % len(own)] for core in range(n_threads)}
    return Server(n_threads, plugin_files, sorted(cpus))

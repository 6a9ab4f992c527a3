"""Thread pools, and a limit on the threads of matrix products (BLAS) that several callers can set at once.

    with thread_pool(n_threads) as pool:
        for result in map_in_order(pool, work, tasks): ...

Inside, each thread multiplies matrices alone.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Task = TypeVar("Task")
Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


@contextmanager
def thread_pool(n_threads: int) -> Iterator[Executor]:
    """Yield a pool of this number of threads, in which matrix products use one thread each.

    With 0 threads each task runs when it is submitted, in the caller's thread: for small work that takes less time
    than to start threads.
    """
    with blas_threads(1), ThreadPoolExecutor(n_threads) if n_threads else INLINE as pool:
        yield pool


class _InlineExecutor(Executor):
    """Runs each task when it is submitted, in the caller's thread."""

    def submit(
        self, work: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Future[Result]:
        future: Future[Result] = Future()
        future.set_result(work(*args, **kwargs))
        return future


#: Faster than threads for small work.
INLINE: Executor = _InlineExecutor()


def map_in_order(
    pool: Executor, work: Callable[[Task], Result], tasks: Iterable[Task], ahead: int = 8
) -> Iterator[Result]:
    """Yield `work(task)` for each task, in order; at most `ahead` results are computed ahead of the caller.

    When the caller stops early, be it by an exception or an interrupt, tasks that have not begun are cancelled.
    """
    waiting: deque[Future[Result]] = deque()
    try:
        for task in tasks:
            waiting.append(pool.submit(work, task))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


@contextmanager
def blas_threads(n_threads: int) -> Iterator[None]:
    """Limit BLAS to `n_threads` threads inside; several threads may be inside at once."""
    with _BLAS.limited(n_threads):
        yield


class _SharedBLAS:
    """The limit of BLAS, of which there is one for the whole process: the lowest one that is in use counts.

    If each caller set and restored the limit by itself, the first one to end would give all cores to those that are
    still at work.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._limits: list[int] = []
        self._restore: Callable[[], None] = lambda: None

    @contextmanager
    def limited(self, n_threads: int) -> Iterator[None]:
        """Limit BLAS to `n_threads` inside, or to fewer if another caller asks for fewer."""
        with self._lock:
            self._limits.append(n_threads)
            self._apply()
        try:
            yield
        finally:
            with self._lock:
                self._limits.remove(n_threads)
                self._apply()

    def _apply(self) -> None:
        self._restore()
        self._restore = lambda: None
        if self._limits:
            limiter = _controller(len(sys.modules)).limit(limits=min(self._limits), user_api="blas")
            self._restore = limiter.restore_original_limits


@lru_cache(maxsize=1)
def _controller(_modules: int) -> "ThreadpoolController":
    """Search the loaded libraries for BLAS, which takes some milliseconds: again only after modules were imported."""
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415 - only needed to multiply matrices

    return ThreadpoolController()


_BLAS = _SharedBLAS()

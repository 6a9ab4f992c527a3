"""Threads that work side by side on compiled code, and stop when told."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from pubench.blas import blas_threads

Task = TypeVar("Task")
Result = TypeVar("Result")


@contextmanager
def working(n_threads: int) -> Iterator[ThreadPoolExecutor]:
    """Yield a pool of so many threads, in which matrix products use one thread each."""
    with blas_threads(1), ThreadPoolExecutor(n_threads) as pool:
        yield pool


def in_order(
    pool: ThreadPoolExecutor, work: Callable[[Task], Result], tasks: Iterable[Task], ahead: int = 8
) -> Iterator[Result]:
    """Yield `work(task)` for each task, in order, computed at most so many ahead.

    When the caller stops asking, be it for an exception or an interrupt, little is left to wait for.
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

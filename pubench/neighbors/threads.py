"""Threads that work side by side on compiled code, and stop when told."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
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
    pool: ThreadPoolExecutor, work: Callable[[Task], Result], tasks: Sequence[Task]
) -> Iterator[Result]:
    """Yield `work(task)` for each task, in order, computed a few ahead.

    Only a few: when the caller stops asking, be it for an exception or an interrupt, little is left to wait for.
    """
    ahead: deque[Future[Result]] = deque()
    try:
        for task in tasks:
            ahead.append(pool.submit(work, task))
            if len(ahead) > 8:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:
        for future in ahead:
            future.cancel()

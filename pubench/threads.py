"""Threads that work side by side on compiled code, and stop when told."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from pubench.blas import blas_threads

Task = TypeVar("Task")
Result = TypeVar("Result")
Given = ParamSpec("Given")


@contextmanager
def working(n_threads: int) -> Iterator[Executor]:
    """Yield a pool of so many threads, in which matrix products use one thread each.

    With 0 there are none: what is asked for is done at once by who asks, which is sooner for small work than threads start.
    """
    with blas_threads(1), ThreadPoolExecutor(n_threads) if n_threads else AT_ONCE as pool:
        yield pool


class _AtOnce(Executor):
    """Does what it is given before it returns."""

    def submit(
        self, work: Callable[Given, Result], /, *args: Given.args, **kwargs: Given.kwargs
    ) -> Future[Result]:
        done: Future[Result] = Future()
        done.set_result(work(*args, **kwargs))
        return done


#: Sooner than threads, for small work.
AT_ONCE: Executor = _AtOnce()


def in_order(
    pool: Executor, work: Callable[[Task], Result], tasks: Iterable[Task], ahead: int = 8
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

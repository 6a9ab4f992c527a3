"""Limits the threads of learners, also when several of them work at once."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Condition
from typing import TypeAlias

import numpy as np

from pubench import FloatVector, Table

Predict: TypeAlias = "Callable[[np.ndarray[tuple[int, int], np.dtype[np.float32 | np.float64]]], FloatVector]"


def by_rows(predict: Predict, X: Table, n_threads: int) -> FloatVector:
    """Return `predict` of all rows, computed in `n_threads` parts in parallel; `predict` itself uses one thread.

    A row's value must not depend on the rows beside it; then the result is the same for every `n_threads`.
    """
    if n_threads == 1 or X.n_rows < 2 * n_threads:
        return predict(X.values)
    with ThreadPoolExecutor(n_threads) as pool:
        return np.concatenate(list(pool.map(predict, np.array_split(X.values, n_threads))))


class SharedThreadCount:
    """Lets calls into a library run in parallel only if they use the same number of threads.

    For a library that has one number for the whole process and sizes its buffers by it: if a call raises the number
    while another call works, that one writes beyond its buffers.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._n_threads = 0
        self._working = 0

    @contextmanager
    def using(self, n_threads: int) -> Iterator[None]:
        """Wait until no call uses another number, and reserve this one for the duration of the context."""
        with self._changed:
            self._changed.wait_for(lambda: self._working == 0 or self._n_threads == n_threads)
            self._n_threads = n_threads
            self._working += 1
        try:
            yield
        finally:
            with self._changed:
                self._working -= 1
                self._changed.notify_all()


@contextmanager
def openmp_threads(n_threads: int) -> Iterator[None]:
    """Limit OpenMP loops that this thread starts to `n_threads`.

    OpenMP has a limit for each thread that starts loops, so trainings side by side do not disturb each other.
    """
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - inspects all loaded libraries

    with threadpool_limits(n_threads, user_api="openmp"):
        yield

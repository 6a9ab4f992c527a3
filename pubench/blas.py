"""Holds matrix products to a number of threads, also where several parts of a program want it at once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock


class _SharedBLAS:
    """BLAS has one limit for the whole process: who comes first sets it, who leaves last puts the old one back.

    With a limit of its own for each, the first one to end would give all cores to those still at work.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: list[int] = []
        self._restore: Callable[[], None] = lambda: None

    @contextmanager
    def limited(self, n_threads: int) -> Iterator[None]:
        """Hold BLAS to `n_threads`, or to less if another one at work asks for less."""
        with self._lock:
            self._held.append(n_threads)
            self._apply()
        try:
            yield
        finally:
            with self._lock:
                self._held.remove(n_threads)
                self._apply()

    def _apply(self) -> None:
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 - looks at all loaded libraries

        self._restore()
        self._restore = lambda: None
        if self._held:
            self._restore = threadpool_limits(min(self._held), user_api="blas").restore_original_limits


_BLAS = _SharedBLAS()


@contextmanager
def blas_threads(n_threads: int) -> Iterator[None]:
    """Hold BLAS to `n_threads` threads inside; several threads may be inside at once."""
    with _BLAS.limited(n_threads):
        yield

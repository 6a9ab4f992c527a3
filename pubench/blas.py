"""Holds matrix products to a number of threads, also where several parts of a program want it at once."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


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
        self._restore()
        self._restore = lambda: None
        if self._held:
            limiter = _controller(len(sys.modules)).limit(limits=min(self._held), user_api="blas")
            self._restore = limiter.restore_original_limits


@lru_cache(maxsize=1)
def _controller(_modules: int) -> "ThreadpoolController":
    """Look at all loaded libraries, which takes some milliseconds: again only after modules were imported."""
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415 - only who multiplies matrices needs it

    return ThreadpoolController()


_BLAS = _SharedBLAS()


@contextmanager
def blas_threads(n_threads: int) -> Iterator[None]:
    """Hold BLAS to `n_threads` threads inside; several threads may be inside at once."""
    with _BLAS.limited(n_threads):
        yield

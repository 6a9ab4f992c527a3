"""What a job is given to work with."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pubench.experiment.opening import JobData
from pubench.keeping import ArrayCache
from pubench.registry import Registry
from pubench.types import Arrays


@dataclass(frozen=True)
class Means:
    """What a job is given.

    Attributes:
        registry: where plugins are found.
        plugin_files: single-file plugins, for processes that the job starts itself.
        cache: for what is dear to compute.
        n_threads: so many may work at once.
        folder: for files of its own; exists, and is removed after it.
        data: its rows, where they were opened beforehand.
    """

    registry: Registry
    plugin_files: tuple[str, ...]
    cache: ArrayCache
    n_threads: int
    folder: Path
    data: JobData | None = None


@dataclass
class WatchedCache:
    """A cache that knows whether it was of use: a fit that found its neighbours there took less time than one alone."""

    cache: ArrayCache
    served: int = 0

    def __call__(self, key: str, make: Callable[[], Arrays], /) -> Arrays:
        """Return the arrays of this key."""
        made = False

        def note_and_make() -> Arrays:
            nonlocal made
            made = True
            return make()

        arrays = self.cache(key, note_and_make)
        self.served += not made
        return arrays

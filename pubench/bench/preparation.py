"""What the server of jobs does before it forks one, so that no job repeats imports, compilation and reading of small data."""

import contextlib
import importlib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import distribution

import numpy as np

from pubench.api.plugin import Kind
from pubench.api.registry import Registry
from pubench.bench.job_data import JobData, JobDataCache
from pubench.record.environment import libraries_of, versions_of
from pubench.record.record import RunSpec


class Preparation:
    """Imports each library of a plugin once; a forked process has it too. Nothing here starts a thread that stays.

    Args:
        registry: where plugins are found.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._data = JobDataCache(registry)
        self._imported = {"pubench"}

    def prepare(self, spec: RunSpec) -> JobData | None:
        """Import what the plugins of a job import, and return its rows if they are in memory.

        An error here is ignored: the job tries the same, and its record gets the reason.
        """
        if Kind.SIMILARITY in spec.configuration:
            _load_neighbor_search()
        for kind, part in spec.configuration.items():
            if isinstance(part, Mapping):
                with contextlib.suppress(Exception):
                    self._import_libraries(str(part["name"]), Kind(kind))
        with contextlib.suppress(Exception):
            return self._data.find(spec)
        return None

    def _import_libraries(self, name: str, kind: Kind) -> None:
        plugin = self._registry.find(name, kind).plugin()
        versions_of(plugin)  # cached, for all forked processes
        for library in libraries_of(plugin) - self._imported:
            self._imported.add(library)
            for module in _modules_of(library):
                importlib.import_module(module)  # noqa: TID251 - libraries of plugins, none of ours


def _modules_of(library: str) -> set[str]:
    """Return the packages that a distribution installs, by its list of files."""
    files = distribution(library).files or []
    packages = {file.parts[0] for file in files if file.name == "__init__.py" and len(file.parts) == 2}
    return {package for package in packages if not package.startswith("_")}


@cache
def _load_neighbor_search() -> None:
    """Load the compiled neighbour search; the first time on a machine, compile it."""
    from pubench.neighbors.search import positive_neighbors  # noqa: PLC0415 - heavy imports happen when used

    for n_rows in (20, 600, 7000):  # one table for each algorithm of the search
        values = np.arange(2 * n_rows, dtype=np.float32).reshape(n_rows, 2)
        positive_neighbors(values, np.arange(n_rows) < 3, 2, n_threads=1)

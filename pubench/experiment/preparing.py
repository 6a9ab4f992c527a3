"""What a server does before it forks a job, so that no job pays again for imports, compiled code and small data."""

import contextlib
import importlib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import distribution

import numpy as np

from pubench.experiment.opening import HeldData, JobData
from pubench.plugin_api import Kind
from pubench.records.record import RunSpec
from pubench.registry import Registry
from pubench.saving.versions import libraries_of, versions_of


class Preparation:
    """Imports the libraries of plugins once; a fork has them too. Nothing here starts a thread that stays.

    Args:
        registry: where plugins are found.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._held = HeldData(registry)
        self._done = {"pubench"}

    def prepare(self, spec: RunSpec) -> JobData | None:
        """Import what the plugins of a job import, and return its rows if they are at hand.

        What goes wrong here is the job's own trouble: it tries the same.
        """
        if Kind.SIMILARITY in spec.configuration:
            _load_search()
        for kind, part in spec.configuration.items():
            if isinstance(part, Mapping):
                with contextlib.suppress(Exception):
                    self._import_libraries(str(part["name"]), Kind(kind))
        with contextlib.suppress(Exception):
            return self._held.find(spec)
        return None

    def _import_libraries(self, name: str, kind: Kind) -> None:
        plugin = self._registry.find(name, kind).plugin()
        versions_of(plugin)  # found once, and known to all forks
        for library in libraries_of(plugin) - self._done:
            self._done.add(library)
            for module in _modules_of(library):
                importlib.import_module(module)  # noqa: TID251 - libraries of plugins, none of ours


def _modules_of(library: str) -> set[str]:
    """Return the packages that a distribution brings, by its list of files."""
    files = distribution(library).files or []
    packages = {file.parts[0] for file in files if file.name == "__init__.py" and len(file.parts) == 2}
    return {package for package in packages if not package.startswith("_")}


@cache
def _load_search() -> None:
    """Bring the compiled neighbour search into memory; the first time on a machine, compile it."""
    from pubench.neighbors.search import positive_neighbors  # noqa: PLC0415 - heavy imports happen when used

    for rows in (20, 600, 7000):  # a table for each way that it can go
        values = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)
        positive_neighbors(values, np.arange(rows) < 3, 2, n_threads=1)

"""The rows of a job: its data set, cached in a form that is fast to read, and its fold; and what is loaded once for all jobs.

A server of jobs forks a process per job. What it has prepared, each of them has: libraries, compiled code, small data.
"""

import contextlib
import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distribution

import numpy as np

from pubench.api.dataset import Dataset, DatasetLoader
from pubench.api.plugin import Kind
from pubench.api.registry import PluginEntry, Registry
from pubench.data.aliases import find_alias
from pubench.data.labelling import Labelling, pu_data
from pubench.data.paper_folds import PaperFold, paper_fold
from pubench.data.sources import (
    DatasetRequest,
    aliases_folder,
    cached_dataset,
    find_cached_dataset,
    generated_key,
    local_files,
    open_dataset,
)
from pubench.data.splits import holdout
from pubench.errors import DataError
from pubench.record.draft import data_facts, rows_hash
from pubench.record.environment import libraries_of, versions_of
from pubench.record.record import DataFacts, RunSpec
from pubench.seeds import Seed
from pubench.system.fingerprint import content_key
from pubench.system.paths import cache_folder, cache_limit

#: The entry of a view that says that its fold is the holdout of a `pubench tune`.
HOLDOUT = "holdout"
#: Larger data sets are read by each job: their jobs take much longer than reading.
_MAX_BYTES = 64 * 2**20


@dataclass(frozen=True, eq=False)
class JobData:
    """The fold of a job, and the facts about the data for its record."""

    fold: PaperFold
    facts: DataFacts


def open_job_data(spec: RunSpec, registry: Registry) -> JobData:
    """Return the fold that a job runs on; nothing is downloaded.

    The seed of a job decides folds and labels, not the rows of a data set.

    Raises:
        DataError: the data is not here, or has too few rows of a kind.
        ParameterError: theta_O is missing, or given for labels that were observed.
    """
    dataset = _open(spec, registry)
    return _fold(spec, registry, dataset, rows_hash(dataset.X, dataset.labels))


class JobDataCache:
    """Holds the last data set in memory, read once for all processes that are forked from this one.

    No loader runs here, which could crash or use all memory: only data sets that a job has written to the cache on disk
    are found.

    Args:
        registry: where data sets are found.
        max_bytes: a larger data set is not held.
    """

    def __init__(self, registry: Registry, max_bytes: int = _MAX_BYTES) -> None:
        self._registry = registry
        self._max_bytes = max_bytes
        self._key = ""
        self._dataset: Dataset | None = None
        self._hash = ""
        self._fold: tuple[object, JobData] | None = None

    def find(self, spec: RunSpec) -> JobData | None:
        """Return what `open_job_data` would return, if the data set is small and in the cache."""
        key = _cache_key(spec, self._registry)
        if key is None:
            return None
        if key != self._key or self._dataset is None:
            self._key, self._fold = key, None
            dataset = self._dataset = find_cached_dataset(cache_folder(), key, self._max_bytes)
            self._hash = "" if dataset is None else rows_hash(dataset.X, dataset.labels)
        if self._dataset is None:
            return None
        fold = (spec.dataset, dict(spec.view), spec.folds, spec.fold, spec.seed)
        if self._fold is None or self._fold[0] != fold:
            self._fold = fold, _fold(spec, self._registry, self._dataset, self._hash)
        return self._fold[1]


def _fold(spec: RunSpec, registry: Registry, dataset: Dataset, hash_of_rows: str) -> JobData:
    seed = Seed(spec.seed)
    if HOLDOUT in spec.view:
        fold = _holdout_fold(dataset, spec, seed)
    else:
        fold = paper_fold(dataset, _labelling(spec), spec.folds, spec.fold, seed)
    registered = _registered(spec, registry)
    stand_in = registered is not None and registered[1].info.stand_in
    return JobData(fold, data_facts(dataset.X, hash_of_rows, fold.train.s, fold.test.s, stand_in=stand_in))


def _holdout_fold(dataset: Dataset, spec: RunSpec, seed: Seed) -> PaperFold:
    """Return the rows of the search and the holdout of a `pubench tune`, whose seed decides the labels, too."""
    theta_o, share = spec.view["theta_o"], spec.view[HOLDOUT]
    if not isinstance(share, float):
        raise DataError(f"The holdout of a record is a share of rows; got {share!r}.")
    data, _ = pu_data(dataset, theta_o if isinstance(theta_o, float) else None, seed)
    split = holdout(data.s, share, seed)
    train_truth, test_truth = (
        None if dataset.truth is None else dataset.truth.take(rows) for rows in (split.train, split.test)
    )
    return PaperFold(data.take(split.train), data.take(split.test), test_truth, train_truth)


def _request(spec: RunSpec) -> DatasetRequest:
    rows = spec.view["rows"]
    # The seed of a `pubench tune` decides its rows, that of a job does not.
    seed = spec.seed if HOLDOUT in spec.view else 0
    return DatasetRequest(spec.dataset, rows=rows if isinstance(rows, int) else None, seed=seed)


def _labelling(spec: RunSpec) -> Labelling | None:
    view = dict(spec.view)
    del view["rows"]
    return None if view["theta_o"] is None else Labelling(**view)  # type: ignore[arg-type]  # checked by Labelling


def _registered(spec: RunSpec, registry: Registry) -> tuple[PluginEntry, type[DatasetLoader]] | None:
    """Return where a data set comes from and its loader; None for a user's file."""
    name = spec.dataset
    if find_alias(aliases_folder(), name) is not None or name not in registry.names(Kind.DATASET):
        return None
    entry = registry.find(name, Kind.DATASET)
    return (entry, entry.plugin) if issubclass(entry.plugin, DatasetLoader) else None


def _cache_key(spec: RunSpec, registry: Registry) -> str | None:
    """Return the key of the rows in the cache on disk; None for rows that are not cached, as those of a user's file."""
    registered = _registered(spec, registry)
    if registered is None:
        return None
    entry, loader = registered
    if not loader.files:
        return generated_key(entry, loader, _request(spec))
    paths = local_files(loader.files)
    if paths is None:
        raise DataError(
            f"The data set '{spec.dataset}' is not here; get it with 'pubench datasets fetch {spec.dataset}'."
        )
    stamps = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
    request = _request(spec)
    revision = str(entry.origin), loader.revision
    return content_key("bench", spec.dataset, *revision, request.rows, request.seed, stamps)


def _open(spec: RunSpec, registry: Registry) -> Dataset:
    """Return a data set; reading a text file takes seconds, which only the first job spends."""
    registered, key = _registered(spec, registry), _cache_key(spec, registry)

    def make() -> Dataset:
        return open_dataset(_request(spec), registry).dataset

    if registered is None or key is None or not registered[1].files:
        return make()  # which caches generated data itself
    return cached_dataset(cache_folder(), key, make, cache_limit()).dataset


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

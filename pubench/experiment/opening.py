"""The rows of a job: its data set, kept in a form that is read in no time, and its fold."""

from dataclasses import dataclass

from pubench.data.aliases import find_alias
from pubench.data.cache import found_dataset, kept_dataset
from pubench.data.protocol import Fold, paper_fold
from pubench.data.sources import Wanted, aliases_folder, generated_key, local_files, open_dataset
from pubench.data.views import Labelling
from pubench.dataset_api import Dataset, DatasetLoader
from pubench.errors import DataError
from pubench.keeping import content_key
from pubench.paths import cache_folder, cache_limit
from pubench.plugin_api import Kind
from pubench.records.record import DataFacts, RunSpec
from pubench.registry import Entry, Registry
from pubench.seeds import Seed

#: In bytes. Larger data sets are read by each job itself: it takes so long that this does not count.
_MOST_HELD = 64 * 2**20


@dataclass(frozen=True, eq=False)
class JobData:
    """The fold of a job and what its record says about the data."""

    fold: Fold
    facts: DataFacts


def open_job_data(spec: RunSpec, registry: Registry) -> JobData:
    """Return the fold that a job runs on; nothing is downloaded.

    The rows of a data set are the same whatever the seed of the job, which decides folds and labels.

    Raises:
        DataError: the data is not here, or has too few rows of a kind.
        ParameterError: theta_O is missing, or given for labels that were observed.
    """
    dataset = _opened(spec, registry)
    return _folded(spec, registry, dataset, _hash(dataset))


class HeldData:
    """Hands jobs the rows that an earlier job has left in the cache, read once for all forks of this process.

    No loader runs here, which could crash or take all memory: what no job has kept yet is not found.

    Args:
        registry: where data sets are found.
        most_bytes: of a data set that is held.
    """

    def __init__(self, registry: Registry, most_bytes: int = _MOST_HELD) -> None:
        self._registry = registry
        self._most_bytes = most_bytes
        self._key = ""
        self._dataset: Dataset | None = None
        self._hash = ""
        self._fold: tuple[object, JobData] | None = None

    def find(self, spec: RunSpec) -> JobData | None:
        """Return what `open_job_data` would, if the data set is small and in the cache."""
        key = _kept_key(spec, self._registry)
        if key is None:
            return None
        if key != self._key or self._dataset is None:
            self._key, self._fold = key, None
            self._dataset = found_dataset(cache_folder(), key, self._most_bytes)
            self._hash = "" if self._dataset is None else _hash(self._dataset)
        if self._dataset is None:
            return None
        asked = (spec.dataset, dict(spec.view), spec.folds, spec.fold, spec.seed)
        if self._fold is None or self._fold[0] != asked:
            self._fold = asked, _folded(spec, self._registry, self._dataset, self._hash)
        return self._fold[1]


def _hash(dataset: Dataset) -> str:
    return content_key(dataset.X.values, dataset.labels, [feature.name for feature in dataset.X.features])


def _folded(spec: RunSpec, registry: Registry, dataset: Dataset, hash_of_rows: str) -> JobData:
    fold = paper_fold(dataset, _labelling(spec), spec.folds, spec.fold, Seed(spec.seed))
    entry = _registered(spec, registry)
    facts = DataFacts(
        hash=hash_of_rows,
        rows=dataset.X.n_rows,
        features=dataset.X.n_features,
        train_rows=fold.train.X.n_rows,
        train_labelled=fold.train.n_labelled,
        test_rows=fold.test.X.n_rows,
        test_labelled=fold.test.n_labelled,
        stand_in=entry is not None and entry[1].info.stand_in,
    )
    return JobData(fold, facts)


def _wanted(spec: RunSpec) -> Wanted:
    rows = spec.view["rows"]
    return Wanted(spec.dataset, rows=rows if isinstance(rows, int) else None)


def _labelling(spec: RunSpec) -> Labelling | None:
    view = dict(spec.view)
    del view["rows"]
    return None if view["theta_o"] is None else Labelling(**view)  # type: ignore[arg-type]  # checked by Labelling


def _registered(spec: RunSpec, registry: Registry) -> tuple[Entry, type[DatasetLoader]] | None:
    """Return where a data set comes from and its loader; None for a file of somebody's."""
    name = spec.dataset
    if find_alias(aliases_folder(), name) is not None or name not in registry.names(Kind.DATASET):
        return None
    entry = registry.find(name, Kind.DATASET)
    return (entry, entry.plugin) if issubclass(entry.plugin, DatasetLoader) else None


def _kept_key(spec: RunSpec, registry: Registry) -> str | None:
    """Return the name under which the rows are kept in the cache; None where they are not, as of a file."""
    found = _registered(spec, registry)
    if found is None:
        return None
    entry, loader = found
    if not loader.files:
        return generated_key(entry, loader, _wanted(spec))
    paths = local_files(loader.files)
    if paths is None:
        raise DataError(
            f"The data set '{spec.dataset}' is not here; get it with 'pubench datasets fetch {spec.dataset}'."
        )
    stamps = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
    return content_key("bench", spec.dataset, str(entry.origin), loader.revision, _wanted(spec).rows, stamps)


def _opened(spec: RunSpec, registry: Registry) -> Dataset:
    """Return a data set; reading a file of text takes seconds, which all jobs but the first are spared."""
    found, key = _registered(spec, registry), _kept_key(spec, registry)

    def make() -> Dataset:
        return open_dataset(_wanted(spec), registry).dataset

    if found is None or key is None or not found[1].files:
        return make()  # which keeps what a generator made
    return kept_dataset(cache_folder(), key, make, cache_limit()).dataset

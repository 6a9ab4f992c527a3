"""The rows of a job: its data set, kept in a form that is read in no time, and its fold."""

from dataclasses import dataclass
from itertools import islice

from pubench.data.aliases import find_alias
from pubench.data.cache import kept_dataset
from pubench.data.protocol import Fold, paper_folds
from pubench.data.sources import Wanted, aliases_folder, local_files, open_dataset
from pubench.data.views import Labelling
from pubench.dataset_api import Dataset, DatasetLoader
from pubench.errors import DataError
from pubench.keeping import content_key
from pubench.paths import cache_folder, cache_limit
from pubench.plugin_api import Kind
from pubench.records.record import DataFacts, RunSpec
from pubench.registry import Registry
from pubench.seeds import Seed


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
    dataset = _opened(spec.dataset, _rows(spec), registry)
    labelling = _labelling(spec)
    folds = paper_folds(dataset, labelling, spec.folds, Seed(spec.seed))
    fold = next(islice(folds, spec.fold, None))
    stand_in = spec.dataset in registry.names(Kind.DATASET) and _info_says_stand_in(spec.dataset, registry)
    facts = DataFacts(
        hash=content_key(dataset.X.values, dataset.labels, [feature.name for feature in dataset.X.features]),
        rows=dataset.X.n_rows,
        features=dataset.X.n_features,
        train_rows=fold.train.X.n_rows,
        train_labelled=fold.train.n_labelled,
        test_rows=fold.test.X.n_rows,
        test_labelled=fold.test.n_labelled,
        stand_in=stand_in,
    )
    return JobData(fold, facts)


def _rows(spec: RunSpec) -> int | None:
    rows = spec.view["rows"]
    return rows if isinstance(rows, int) else None


def _labelling(spec: RunSpec) -> Labelling | None:
    view = dict(spec.view)
    del view["rows"]
    return None if view["theta_o"] is None else Labelling(**view)  # type: ignore[arg-type]  # checked by Labelling


def _info_says_stand_in(name: str, registry: Registry) -> bool:
    if find_alias(aliases_folder(), name) is not None:
        return False
    loader = registry.find(name, Kind.DATASET).plugin
    return issubclass(loader, DatasetLoader) and loader.info.stand_in


def _opened(name: str, rows: int | None, registry: Registry) -> Dataset:
    """Return a data set; reading a file of text takes seconds, which all jobs but the first are spared."""
    wanted = Wanted(name, rows=rows)
    if find_alias(aliases_folder(), name) is not None or name not in registry.names(Kind.DATASET):
        return open_dataset(wanted, registry).dataset
    entry = registry.find(name, Kind.DATASET)
    loader = entry.plugin
    if not issubclass(loader, DatasetLoader) or not loader.files:
        return open_dataset(wanted, registry).dataset
    paths = local_files(loader.files)
    if paths is None:
        raise DataError(f"The data set '{name}' is not here; get it with 'pubench datasets fetch {name}'.")
    stamps = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
    key = content_key("bench", name, str(entry.origin), loader.revision, rows, stamps)
    return kept_dataset(
        cache_folder(), key, lambda: open_dataset(wanted, registry).dataset, cache_limit()
    ).dataset

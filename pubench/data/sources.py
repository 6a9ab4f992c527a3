"""From what a person types after `--dataset` to data: an alias, a registered data set, or a file.

Only this module knows all three; what comes out is the same whichever it was.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pubench.data.aliases import find_alias, list_aliases
from pubench.data.cache import kept_dataset
from pubench.data.download import find, obtain
from pubench.data.reading import FileSpec, read_file
from pubench.dataset_api import DataFile, Dataset, DatasetInfo, DatasetLoader
from pubench.errors import DataError, InputError, suggestion
from pubench.keeping import content_key
from pubench.paths import cache_folder, cache_limit, config_folder, data_folder
from pubench.plugin_api import Kind
from pubench.registry import Entry, Registry
from pubench.seeds import Seed
from pubench.types import BoolVector, IndexVector

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class Wanted:
    """What a person asked for.

    Attributes:
        name: an alias, the name of a registered data set, or a path.
        label, positive, drop, id: what the columns of a file mean; see `FileSpec`.
        rows: draw about so many rows with the same rates; None: all.
        seed: decides the draw.
    """

    name: str
    label: str | None = None
    positive: str | None = None
    drop: tuple[str, ...] = ()
    id: str | None = None
    rows: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.rows is not None and self.rows < 2:
            raise InputError(f"--rows is a number of rows, at least 2; got {self.rows}.")


@dataclass(frozen=True, eq=False)
class Opened:
    """A data set in memory.

    Attributes:
        name: what it is called: the alias, the registered name or the file's name.
        dataset: the data.
        info: what was known of it beforehand; None for a file.
        place: the file, or how it came about.
        ids: the id column of a file, one value per row; None without one.
        notices: one sentence each, for the person who asked.
    """

    name: str
    dataset: Dataset
    info: DatasetInfo | None
    place: str
    ids: npt.NDArray[np.generic] | None = None
    notices: tuple[str, ...] = ()


def aliases_folder() -> Path:
    """Where aliases are kept."""
    return config_folder() / "datasets"


def open_dataset(wanted: Wanted, registry: Registry, progress: Progress | None = None) -> Opened:
    """Bring a data set into memory: an alias first, then a registered name, then a file.

    Raises:
        InputError: nothing goes by that name; the message suggests what does.
        DataError: the file or download is not what it should be.
    """
    alias = find_alias(aliases_folder(), wanted.name)
    if alias is not None:
        if not alias.path.is_file():
            raise DataError(
                f"'{wanted.name}' stands for {alias.path}, which is not there; point it elsewhere with "
                f"'pubench datasets add {wanted.name} FILE --replace'."
            )
        opened = _open_file(_override(alias, wanted), wanted.name)
    elif _is_registered(registry, wanted.name):
        opened = _open_registered(registry.find(wanted.name, Kind.DATASET), wanted, progress)
    elif Path(wanted.name).exists():
        path = Path(wanted.name)
        opened = _open_file(FileSpec(path, wanted.label, wanted.positive, wanted.drop, wanted.id), path.name)
    else:
        raise _unknown(wanted.name, registry)
    return _drawn(opened, wanted)


def fetch_files(loader: type[DatasetLoader], progress: Progress | None = None) -> list[Path]:
    """Return the places of a loader's files; those that are not here are downloaded."""
    return [obtain(file, data_folder(), progress=progress) for file in loader.files]


def fetch_dataset(name: str, registry: Registry, progress: Progress | None = None) -> list[Path]:
    """Download what a registered data set needs and is not here; raises `UnknownPluginError` for another name."""
    loader = registry.find(name, Kind.DATASET).plugin
    return fetch_files(loader, progress) if issubclass(loader, DatasetLoader) else []


def local_files(files: Sequence[DataFile]) -> list[Path] | None:
    """Return the places of files, or None if one of them is not here."""
    found = [find(file, [data_folder()]) for file in files]
    present = [path for path in found if path is not None]
    return present if len(present) == len(found) else None


def generated_key(entry: Entry, loader: type[DatasetLoader], wanted: Wanted) -> str:
    """Return the name under which a generated data set is kept in the cache."""
    return content_key("dataset", wanted.name, str(entry.origin), loader.revision, wanted.rows, wanted.seed)


def _is_registered(registry: Registry, name: str) -> bool:
    contested = any(failure.kind is Kind.DATASET and failure.name == name for failure in registry.failures)
    return contested or name in registry.names(Kind.DATASET)


def _override(alias: FileSpec, wanted: Wanted) -> FileSpec:
    """What is typed now goes before what was registered."""
    changes = {name: getattr(wanted, name) for name in ("label", "positive", "drop", "id")}
    return replace(alias, **{name: value for name, value in changes.items() if value})


def _open_file(spec: FileSpec, name: str) -> Opened:
    read = read_file(spec)
    return Opened(name, read.dataset, None, str(spec.path), read.ids, read.notices)


def _open_registered(entry: Entry, wanted: Wanted, progress: Progress | None) -> Opened:
    given = [name for name in ("label", "positive", "drop", "id") if getattr(wanted, name)]
    if given:
        raise InputError(f"'{wanted.name}' knows its own columns; --{given[0]} is for files.")
    loader = entry.plugin
    if not issubclass(loader, DatasetLoader):
        raise InputError(f"'{wanted.name}' is no data set.")
    seed = Seed(wanted.seed).child("dataset", wanted.name)
    if loader.files:
        paths = fetch_files(loader, progress)
        dataset = loader().load(paths, wanted.rows, seed)
        return Opened(wanted.name, dataset, loader.info, ", ".join(map(str, paths)))
    key = generated_key(entry, loader, wanted)
    kept = kept_dataset(cache_folder(), key, lambda: loader().load([], wanted.rows, seed), cache_limit())
    notices = (kept.notice,) if kept.notice else ()
    return Opened(wanted.name, kept.dataset, loader.info, "generated", notices=notices)


def _unknown(name: str, registry: Registry) -> InputError:
    known = [*list_aliases(aliases_folder()), *registry.names(Kind.DATASET)]
    return InputError(
        f"There is no data set and no file '{name}'.{suggestion(name, known)} 'pubench datasets list' shows the data sets."
    )


def _drawn(opened: Opened, wanted: Wanted) -> Opened:
    """Draw rows if more came than were asked for, labelled and other rows in the same proportion."""
    dataset = opened.dataset
    if wanted.rows is None or dataset.X.n_rows <= wanted.rows:
        return opened
    rows = _stratified_rows(dataset.labels, wanted.rows, Seed(wanted.seed).child("rows"))
    return replace(
        opened,
        dataset=Dataset(
            dataset.X.take(rows),
            None if dataset.observed is None else dataset.observed[rows],
            None if dataset.truth is None else dataset.truth.take(rows),
        ),
        ids=None if opened.ids is None else opened.ids[rows],
    )


def _stratified_rows(labels: BoolVector, rows: int, seed: Seed) -> IndexVector:
    positives, others = np.flatnonzero(labels), np.flatnonzero(~labels)
    count = min(max(1, round(rows * len(positives) / len(labels))), len(positives))
    drawn = [
        seed.child(name).generator().permutation(group)[:size]
        for name, group, size in (("positives", positives, count), ("others", others, rows - count))
    ]
    return np.sort(np.concatenate(drawn))

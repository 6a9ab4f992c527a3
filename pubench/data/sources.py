"""Opens the data set that a person names after `--dataset`: an alias, a registered data set, or a file.

    DatasetRequest -> open_dataset -> DatasetResult

Only this module knows all three; the result is the same for each of them.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pubench.api.dataset import DataFile, Dataset, DatasetInfo, DatasetLoader
from pubench.api.plugin import Kind
from pubench.api.registry import PluginEntry, Registry
from pubench.data.aliases import find_alias, list_aliases
from pubench.data.dataset_cache import cached_dataset
from pubench.data.download import Progress, find, obtain
from pubench.data.user_file import FileSpec, read_file
from pubench.errors import DataError, InputError, shown, suggestion
from pubench.seeds import Seed
from pubench.system.fingerprint import content_key
from pubench.system.paths import cache_folder, cache_limit, config_folder, data_folder
from pubench.types import BoolVector, IndexVector


@dataclass(frozen=True)
class DatasetRequest:
    """Which data set to open.

    Attributes:
        name: an alias, the name of a registered data set, or a path.
        label, positive, drop, id: what the columns of a file mean; see `FileSpec`.
        rows: the number of rows to draw, with the same rates, from a larger data set; None: all.
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
class DatasetResult:
    """A data set in memory.

    Attributes:
        name: the alias, the registered name or the file's name.
        dataset: the data.
        info: what its loader declares; None for a file.
        location: the file or files, or "generated".
        ids: the id column of a file, one value per row; None without one.
        notices: what the user should know, a sentence each.
    """

    name: str
    dataset: Dataset
    info: DatasetInfo | None
    location: str
    ids: npt.NDArray[np.generic] | None = None
    notices: tuple[str, ...] = ()


def aliases_folder() -> Path:
    """The folder of aliases."""
    return config_folder() / "datasets"


def open_dataset(
    request: DatasetRequest, registry: Registry, progress: Progress | None = None
) -> DatasetResult:
    """Read a data set into memory; its name is looked up among aliases, then registered names, then files.

    Raises:
        InputError: nothing has that name; the message suggests a similar name.
        DataError: the file or download is damaged, or cannot be used.
    """
    alias = find_alias(aliases_folder(), request.name)
    if alias is not None:
        if not alias.path.is_file():
            raise DataError(
                f"'{request.name}' stands for {alias.path}, which does not exist; change that with "
                f"'pubench datasets add {request.name} FILE --replace'."
            )
        opened = _open_file(_override(alias, request), request.name)
    elif _is_registered(registry, request.name):
        opened = _open_registered(registry.find(request.name, Kind.DATASET), request, progress)
    elif os.path.exists(request.name):  # noqa: PTH110 - False where `Path.exists` raises: for a name that is too long
        path = Path(request.name)
        opened = _open_file(
            FileSpec(path, request.label, request.positive, request.drop, request.id), path.name
        )
    else:
        raise _unknown(request.name, registry)
    return _draw_rows(opened, request)


def fetch_files(loader: type[DatasetLoader], progress: Progress | None = None) -> list[Path]:
    """Return the paths of a loader's files; missing ones are downloaded."""
    return [obtain(file, data_folder(), progress=progress) for file in loader.files]


def fetch_dataset(name: str, registry: Registry, progress: Progress | None = None) -> list[Path]:
    """Download the missing files of a registered data set; raises `UnknownPluginError` for another name."""
    loader = registry.find(name, Kind.DATASET).plugin
    return fetch_files(loader, progress) if issubclass(loader, DatasetLoader) else []


def local_files(files: Sequence[DataFile]) -> list[Path] | None:
    """Return the paths of files in the data folder, or None if one of them is missing."""
    paths = [find(file, [data_folder()]) for file in files]
    present = [path for path in paths if path is not None]
    return present if len(present) == len(paths) else None


def generated_key(entry: PluginEntry, loader: type[DatasetLoader], request: DatasetRequest) -> str:
    """Return the cache key of a generated data set."""
    return content_key(
        "dataset", request.name, str(entry.origin), loader.revision, request.rows, request.seed
    )


def _is_registered(registry: Registry, name: str) -> bool:
    contested = any(failure.kind is Kind.DATASET and failure.name == name for failure in registry.failures)
    return contested or name in registry.names(Kind.DATASET)


def _override(alias: FileSpec, request: DatasetRequest) -> FileSpec:
    """Return what the alias stands for, with what the request says instead."""
    changes = {name: getattr(request, name) for name in ("label", "positive", "drop", "id")}
    return replace(alias, **{name: value for name, value in changes.items() if value})


def _open_file(spec: FileSpec, name: str) -> DatasetResult:
    contents = read_file(spec)
    return DatasetResult(name, contents.dataset, None, str(spec.path), contents.ids, contents.notices)


def _open_registered(entry: PluginEntry, request: DatasetRequest, progress: Progress | None) -> DatasetResult:
    given = [name for name in ("label", "positive", "drop", "id") if getattr(request, name)]
    if given:
        raise InputError(f"'{request.name}' knows its own columns; --{given[0]} is for files.")
    loader = entry.plugin
    if not issubclass(loader, DatasetLoader):
        raise InputError(f"'{request.name}' is no data set.")
    seed = Seed(request.seed).child("dataset", request.name)
    if loader.files:
        paths = fetch_files(loader, progress)
        dataset = loader().load(paths, request.rows, seed)
        return DatasetResult(request.name, dataset, loader.info, ", ".join(map(str, paths)))
    key = generated_key(entry, loader, request)
    cached = cached_dataset(cache_folder(), key, lambda: loader().load([], request.rows, seed), cache_limit())
    notices = (cached.notice,) if cached.notice else ()
    return DatasetResult(request.name, cached.dataset, loader.info, "generated", notices=notices)


def _unknown(name: str, registry: Registry) -> InputError:
    known = [*list_aliases(aliases_folder()), *registry.names(Kind.DATASET)]
    return InputError(
        f"There is no data set and no file '{shown(name, 300)}'.{suggestion(name, known)} 'pubench datasets list' shows the data sets."
    )


def _draw_rows(opened: DatasetResult, request: DatasetRequest) -> DatasetResult:
    """Draw rows if there are more than requested: labelled and other rows in the same proportion."""
    dataset = opened.dataset
    if request.rows is None or dataset.X.n_rows <= request.rows:
        return opened
    rows = _stratified_rows(dataset.labels, request.rows, Seed(request.seed).child("rows"))
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

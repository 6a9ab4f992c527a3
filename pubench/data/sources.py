"""Opens the data set that a person names after `--dataset`: an alias, a registered data set, or a file.

    DatasetRequest -> open_dataset -> DatasetResult

Only this module knows all three; the result is the same for each of them. Data sets that are generated are cached on disk,
with their truth, so that they are generated once; see `pubench.system.cache`.
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pubench.api.dataset import DataFile, Dataset, DatasetInfo, DatasetLoader
from pubench.api.plugin import Kind
from pubench.api.registry import PluginEntry, Registry
from pubench.data.aliases import find_alias, list_aliases
from pubench.data.download import Progress, find, obtain
from pubench.data.user_file import FileSpec, read_file
from pubench.errors import DataError, InputError, shown, suggestion
from pubench.seeds import Seed
from pubench.system.cache import ArrayCache
from pubench.system.fingerprint import content_key
from pubench.system.paths import DEFAULT_CACHE_LIMIT, cache_folder, cache_limit, config_folder, data_folder
from pubench.truth import Truth
from pubench.types import Arrays, BoolVector, Feature, IndexVector, Table

_SECTION = "datasets"


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


@dataclass(frozen=True, eq=False)
class CachedDataset:
    """A data set and, if its entry was damaged or could not be written, a sentence about that."""

    dataset: Dataset
    notice: str = ""


def cached_dataset(
    folder: Path, key: str, make: Callable[[], Dataset], limit_bytes: int = DEFAULT_CACHE_LIMIT
) -> CachedDataset:
    """Return the entry `key` of the cache in `folder`; make and cache it if it does not exist or is damaged.

    A cache that cannot be written costs time, not the answer.
    """
    notices: list[str] = []
    cache = ArrayCache(folder, limit_bytes, notices.append, _SECTION)
    arrays = cache(key, lambda: _to_arrays(make()))
    return CachedDataset(_from_arrays(arrays), " ".join(notices))


def find_cached_dataset(folder: Path, key: str, max_bytes: int) -> Dataset | None:
    """Return the entry `key` of the cache in `folder`; None if it does not exist or is larger than `max_bytes`."""
    arrays = ArrayCache(folder, section=_SECTION).get(key, max_bytes)
    return None if arrays is None else _from_arrays(arrays)


def _to_arrays(dataset: Dataset) -> Arrays:
    features = json.dumps([asdict(feature) for feature in dataset.X.features])
    arrays: dict[str, npt.NDArray[Any]] = {
        "values": dataset.X.values,
        "features": np.frombuffer(features.encode(), dtype=np.uint8),
    }
    if dataset.observed is not None:
        arrays["observed"] = dataset.observed
    if dataset.truth is not None:
        arrays["truth"] = dataset.truth.y
    return arrays


def _from_arrays(arrays: Arrays) -> Dataset:
    described = json.loads(arrays["features"].tobytes())
    features = tuple(Feature(f["name"], f["kind"], tuple(f["categories"])) for f in described)
    truth = Truth(arrays["truth"]) if "truth" in arrays else None
    return Dataset(Table(arrays["values"], features), arrays.get("observed"), truth)

"""All data sets by name, and one of them in figures, for people and for `--json`. Nothing is downloaded."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from pubench.api.dataset import Dataset, DatasetInfo, DatasetLoader
from pubench.api.registry import Registry
from pubench.data.aliases import list_aliases
from pubench.data.sources import DatasetRequest, aliases_folder, local_files, open_dataset

NOT_FETCHED = "not fetched"


@dataclass(frozen=True)
class CatalogueEntry:
    """A data set by name.

    Attributes:
        name: what `--dataset` takes.
        package: the package it comes from, or "yours".
        state: "here", "generated", "not fetched" or, for a file of yours that does not exist, "missing".
        place: the file or files; empty where there are none.
        info: what its loader declares; None for a file of yours.
    """

    name: str
    package: str
    state: str
    place: str
    info: DatasetInfo | None


def catalogue(registry: Registry) -> list[CatalogueEntry]:
    """Return the aliases, then the registered data sets without an alias of the same name."""
    aliases = list_aliases(aliases_folder())
    yours = [
        CatalogueEntry(name, "yours", "here" if spec.path.is_file() else "missing", str(spec.path), None)
        for name, spec in aliases.items()
    ]
    registered = [
        CatalogueEntry(entry.name, str(entry.origin), *_state(entry.plugin), entry.plugin.info)
        for entry in registry.entries
        if issubclass(entry.plugin, DatasetLoader) and entry.name not in aliases
    ]
    return yours + registered


@dataclass(frozen=True)
class ColumnSummary:
    """One feature in figures; `low` and `high` are None for categories and where all values are missing.

    Those of a date are written like 2024-12-31.
    """

    name: str
    kind: str
    missing: float
    distinct: int
    low: float | str | None
    high: float | str | None


@dataclass(frozen=True)
class DatasetSummary:
    """A data set in figures.

    Attributes:
        rows, features: its size.
        labelled: number of labelled positives; None without observed labels.
        positives: number of true positives; None where the truth is not known.
        kinds: number of features of each kind.
        missing: share of missing values.
        columns: each feature.
        fingerprint: 32 hex digits made of all values and labels; equal data has an equal one on every machine.
    """

    rows: int
    features: int
    labelled: int | None
    positives: int | None
    kinds: dict[str, int]
    missing: float
    columns: tuple[ColumnSummary, ...]
    fingerprint: str


@dataclass(frozen=True)
class DatasetDescription:
    """One data set in figures.

    Attributes:
        name: its name; that of the file for a file.
        place: the file or files, "generated" or "not fetched".
        info: what its loader declares; None for a file.
        notices: what the user should know, a sentence each.
        summary: its figures; None for one that is not fetched.
    """

    name: str
    place: str
    info: DatasetInfo | None
    notices: tuple[str, ...]
    summary: DatasetSummary | None


def describe(request: DatasetRequest, registry: Registry) -> DatasetDescription:
    """Return a data set in figures; of one that is not fetched, what its loader declares. Raises as `open_dataset`."""
    for entry in catalogue(registry):
        if (entry.name, entry.state) == (request.name, NOT_FETCHED):
            return DatasetDescription(entry.name, NOT_FETCHED, entry.info, (), None)
    opened = open_dataset(request, registry)
    return DatasetDescription(
        opened.name, opened.location, opened.info, opened.notices, summarise(opened.dataset)
    )


def _state(loader: type[DatasetLoader]) -> tuple[str, str]:
    if not loader.files:
        return "generated", ""
    paths = local_files(loader.files)
    return (NOT_FETCHED, "") if paths is None else ("here", ", ".join(str(path) for path in paths))


def summarise(dataset: Dataset) -> DatasetSummary:
    """Return the figures of a data set; a pass over each column, no copy of the table."""
    columns = tuple(_column(dataset, number) for number in range(dataset.X.n_features))
    return DatasetSummary(
        rows=dataset.X.n_rows,
        features=dataset.X.n_features,
        labelled=None if dataset.observed is None else int(dataset.observed.sum()),
        positives=None if dataset.truth is None else int(dataset.truth.y.sum()),
        kinds=dict(Counter(feature.kind for feature in dataset.X.features)),
        missing=float(np.mean([column.missing for column in columns])),
        columns=columns,
        fingerprint=fingerprint(dataset),
    )


def fingerprint(dataset: Dataset) -> str:
    """Return 32 hex digits made of the features' names and kinds, all values and all labels."""
    digest = blake2b(
        repr([(f.name, f.kind, f.categories) for f in dataset.X.features]).encode(), digest_size=16
    )
    digest.update(repr((dataset.X.values.shape, dataset.X.values.dtype.str)).encode())
    digest.update(np.ascontiguousarray(dataset.X.values).data)
    for labels in (dataset.observed, None if dataset.truth is None else dataset.truth.y):
        digest.update(b"-" if labels is None else np.ascontiguousarray(labels).data)
    return digest.hexdigest()


def _column(dataset: Dataset, number: int) -> ColumnSummary:
    feature = dataset.X.features[number]
    values = dataset.X.values[:, number]
    present = values[~np.isnan(values)]
    return ColumnSummary(
        name=feature.name,
        kind=feature.kind,
        missing=1 - len(present) / len(values),
        distinct=len(np.unique(present)),
        low=_bound(feature.kind, present, np.min),
        high=_bound(feature.kind, present, np.max),
    )


def _bound(
    kind: str, present: npt.NDArray[Any], end: Callable[[npt.NDArray[Any]], Any]
) -> float | str | None:
    if len(present) == 0 or kind == "categorical":
        return None
    value = float(end(present))
    return str(np.datetime64(int(value // 1), "D")) if kind == "date" else value

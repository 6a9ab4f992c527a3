"""A data set in figures, for people and for `--json`."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from pubench.api.dataset import Dataset


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

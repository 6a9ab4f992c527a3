"""Caches generated data sets on disk, with their truth, so that they are generated once; see `pubench.system.cache`."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pubench.api.dataset import Dataset
from pubench.system.cache import ArrayCache
from pubench.system.paths import DEFAULT_CACHE_LIMIT
from pubench.truth import Truth
from pubench.types import Arrays, Feature, Table

_SECTION = "datasets"


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

"""Keeps generated data sets on disk, so that they are made once; see `pubench.keeping`. Their truth is kept with them."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pubench.dataset_api import Dataset
from pubench.keeping import ArrayCache
from pubench.paths import DEFAULT_CACHE_LIMIT
from pubench.truth import Truth
from pubench.types import Arrays, Feature, Table


@dataclass(frozen=True, eq=False)
class Kept:
    """A data set and, if its entry was damaged or it could not be kept, a sentence about that."""

    dataset: Dataset
    notice: str = ""


def kept_dataset(
    folder: Path, key: str, make: Callable[[], Dataset], limit_bytes: int = DEFAULT_CACHE_LIMIT
) -> Kept:
    """Return the entry `key` of the cache in `folder`; make and keep it if it is not there or damaged.

    A cache that can not be written costs time, not the answer.
    """
    notices: list[str] = []
    cache = ArrayCache(folder, limit_bytes, notices.append, "datasets")
    arrays = cache(key, lambda: _to_arrays(make()))
    return Kept(_from_arrays(arrays), " ".join(notices))


def found_dataset(folder: Path, key: str, most_bytes: int) -> Dataset | None:
    """Return the entry `key` of the cache in `folder`, if it is there and no larger."""
    arrays = ArrayCache(folder, shelf="datasets").find(key, most_bytes)
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

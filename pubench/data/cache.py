"""Keeps generated data sets on disk, so that they are made once. A damaged entry is made again, and said so.

An entry is a folder named by a key: arrays in NumPy's own format (never pickled), and a description with the checksum
of each. It appears whole or not at all, and several processes may make the same one at once.
"""

import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pubench.dataset_api import Dataset
from pubench.errors import DataError
from pubench.truth import Truth
from pubench.types import Feature, Table

_DESCRIPTION = "description.json"
_SCHEMA = 1


@dataclass(frozen=True, eq=False)
class Kept:
    """A data set and, if its entry was damaged, a sentence about that."""

    dataset: Dataset
    notice: str = ""


def entry_key(*parts: object) -> str:
    """Return a name made of everything that decides an entry's content."""
    return blake2b(json.dumps([_SCHEMA, *parts]).encode(), digest_size=16).hexdigest()


def kept_dataset(folder: Path, key: str, make: Callable[[], Dataset]) -> Kept:
    """Return the entry `key` of the cache in `folder`; make and keep it if it is not there or damaged.

    A cache that can not be written costs time, not the answer.
    """
    entry = folder / "datasets" / key
    notice = ""
    if entry.is_dir():
        try:
            return Kept(_read(entry))
        except (OSError, ValueError, KeyError, TypeError) as error:
            notice = f"The cache entry {entry} is damaged ({error}) and was made again."
            shutil.rmtree(entry, ignore_errors=True)
    dataset = make()
    try:
        _write(entry, dataset)
    except OSError as error:
        notice = f"The data set could not be kept in {entry.parent}: {error.strerror or error}."
    return Kept(dataset, notice)


def _arrays(dataset: Dataset) -> dict[str, npt.NDArray[Any]]:
    arrays: dict[str, npt.NDArray[Any]] = {"values": dataset.X.values}
    if dataset.observed is not None:
        arrays["observed"] = dataset.observed
    if dataset.truth is not None:
        arrays["truth"] = dataset.truth.y
    return arrays


def _write(entry: Path, dataset: Dataset) -> None:
    entry.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{entry.name}-", dir=entry.parent))
    try:
        checksums = {}
        for name, array in _arrays(dataset).items():
            np.save(temporary / f"{name}.npy", array, allow_pickle=False)
            checksums[name] = _checksum(temporary / f"{name}.npy")
        features = [asdict(feature) for feature in dataset.X.features]
        description = {"features": features, "checksums": checksums}
        (temporary / _DESCRIPTION).write_text(json.dumps(description), encoding="utf-8")
        _rename(temporary, entry)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _rename(temporary: Path, entry: Path) -> None:
    try:
        temporary.rename(entry)
    except OSError:
        if not entry.is_dir():  # else another process was first, with the same content
            raise


def _read(entry: Path) -> Dataset:
    description = json.loads((entry / _DESCRIPTION).read_text(encoding="utf-8"))
    arrays = {}
    for name, checksum in description["checksums"].items():
        path = entry / f"{name}.npy"
        if _checksum(path) != checksum:
            raise DataError(f"{path.name} has changed")
        arrays[name] = np.load(path, allow_pickle=False)
    features = tuple(Feature(f["name"], f["kind"], tuple(f["categories"])) for f in description["features"])
    truth = Truth(arrays["truth"]) if "truth" in arrays else None
    return Dataset(Table(arrays["values"], features), arrays.get("observed"), truth)


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=16)).hexdigest()

"""The labelled positives that a row is most similar to: the evidence behind a score, for every method."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench.embedding import Embedding, FittedEmbedding
from pubench.errors import DataError
from pubench.system.json_documents import Node, read_json, write_json
from pubench.types import IndexVector, Json, PUData, Table

#: How a row is named: by its id, or by its number from 1.
Name: TypeAlias = int | str

_POINTS, _POSITIVES = "points.npy", "positives.json"
#: Number of distances in memory at a time.
_BLOCK_VALUES = 2**22
_UNREADABLE = (OSError, ValueError, EOFError, TokenError, MemoryError, OverflowError)


@dataclass(frozen=True, eq=False)
class Nearest:
    """The labelled positives nearest to some rows.

    Attributes:
        positives: shape (n_rows, count), positions of the positives, nearest first; ties in order of position.
        distances: shape (n_rows, count), Euclidean distances in the embedding.
    """

    positives: IndexVector
    distances: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Evidence:
    """The labelled positives that a model was trained on, embedded so that distances are meaningful.

    Attributes:
        embedding: the embedding that turns rows into points.
        points: shape (n_labelled, n_columns), float32.
        names: the name of each.
        are_ids: whether the names are ids; else they are row numbers.
    """

    embedding: FittedEmbedding
    points: npt.NDArray[np.float32]
    names: tuple[Name, ...]
    are_ids: bool

    @classmethod
    def of(cls, data: PUData, ids: Sequence[Any] | npt.NDArray[Any] | None = None) -> Self | None:
        """Embed the labelled positives; None if every feature is constant.

        Args:
            data: the training data of the model.
            ids: one per row; without them positives are named by their row numbers, from 1.
        """
        try:
            embedding = Embedding().fit(data.X)
        except DataError:
            return None
        rows = np.flatnonzero(data.s)
        points = embedding.transform(data.X.take(rows)).values
        names = (
            (rows + 1).tolist()
            if ids is None
            else [_as_name(value) for value in np.asarray(ids)[rows].tolist()]
        )
        return cls(embedding, points.astype(np.float32), tuple(names), ids is not None)

    def nearest(self, X: Table, count: int) -> Nearest:
        """Return the `count` positives nearest to each row of `X`, or all if there are fewer."""
        rows, count = self.embedding.transform(X).values, min(count, len(self.points))
        positives = np.empty((X.n_rows, count), dtype=np.int64)
        distances = np.empty((X.n_rows, count))
        step = max(1, _BLOCK_VALUES // len(self.points))
        for start in range(0, X.n_rows, step):
            block = slice(start, start + step)
            positives[block], distances[block] = self._nearest(rows[block], count)
        return Nearest(positives, distances)

    def _nearest(self, rows: npt.NDArray[Any], count: int) -> tuple[IndexVector, npt.NDArray[np.float64]]:
        from scipy.spatial.distance import cdist  # noqa: PLC0415 - heavy imports happen when used

        remaining = cdist(rows, self.points)
        row_numbers = np.arange(len(rows))
        positives = np.empty((len(rows), count), dtype=np.int64)
        distances: npt.NDArray[np.float64] = np.empty((len(rows), count))
        for rank in range(count):
            positives[:, rank] = remaining.argmin(axis=1)
            distances[:, rank] = remaining[row_numbers, positives[:, rank]]
            remaining[row_numbers, positives[:, rank]] = np.inf
        return positives, distances

    def names_of(self, positives: IndexVector) -> list[Name]:
        """Return the names of positives, all of one type: text if any name of the evidence is text."""
        as_text = any(isinstance(name, str) for name in self.names)
        return [str(self.names[number]) if as_text else self.names[number] for number in positives.tolist()]

    def save(self, folder: Path) -> None:
        """Write the evidence into `folder`, which exists."""
        np.save(folder / _POINTS, self.points, allow_pickle=False)
        document: dict[str, Json] = {
            "names": list(self.names),
            "are_ids": self.are_ids,
            "embedding": self.embedding.to_json(),
        }
        write_json(folder / _POSITIVES, document)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote; raises `DataError` for anything else, and runs no code."""
        document = Node(read_json(folder / _POSITIVES), "the evidence")
        embedding = FittedEmbedding.from_json(document["embedding"].mapping())
        names = tuple(_parse_name(item) for item in document["names"].items())
        shape = (len(names), len(embedding.features))
        return cls(embedding, _read_points(folder / _POINTS, shape), names, document["are_ids"].boolean())


def _read_points(path: Path, shape: tuple[int, int]) -> npt.NDArray[np.float32]:
    try:
        with warnings.catch_warnings(action="ignore"):
            mapped = np.load(
                path, mmap_mode="r", allow_pickle=False
            )  # mapped: a false size in the header allocates no memory
        if mapped.shape != shape or mapped.dtype != np.float32 or 0 in shape:
            raise ValueError("the points do not match the names")
        points: npt.NDArray[np.float32] = np.array(mapped)
    except _UNREADABLE as error:
        raise DataError(f"{path} does not contain the labelled positives; fit the model again.") from error
    if not np.isfinite(points).all():
        raise DataError(f"{path} contains a value that is not finite; fit the model again.")
    return points


def _as_name(value: Any) -> Name:
    if value is None or value != value:  # noqa: PLR0124 - NaN differs from itself
        return ""
    fits = type(value) is int and -(2**63) <= value < 2**63  # the largest integers of an Arrow column
    return int(value) if fits else str(value)


def _parse_name(part: Node) -> Name:
    return _as_name(part.value) if type(part.value) is int else part.text()

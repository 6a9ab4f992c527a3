"""Files of scores, Parquet or CSV: the rows, the columns that say what their scores mean, and how they are written.

ScoredRows (best_rows) -> PredictColumns: score, what it means, and why -> open_writer: piece by piece, whole or not at all
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from pubench.decision.hidden_positives import Hidden, HiddenPositives
from pubench.errors import DataError
from pubench.model.saved import SavedModel
from pubench.system.files import write_whole
from pubench.types import BoolVector, FloatVector, IndexVector, Table

if TYPE_CHECKING:
    import pyarrow

#: The formats of score files, by suffix.
SUFFIXES = (".parquet", ".pq", ".csv")


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows of a file and their scores.

    Attributes:
        rows: row numbers, from 1.
        scores: a score per row.
        is_own: whether the model was trained on the row.
        is_labelled: whether it is known to be labelled.
        X: the features of the rows.
        ids: the ids of the rows; None if rows are named by their numbers.
    """

    rows: IndexVector
    scores: FloatVector
    is_own: BoolVector
    is_labelled: BoolVector
    X: Table
    ids: "pyarrow.ChunkedArray | None"

    def take(self, positions: IndexVector) -> Self:
        """Return the rows at the given positions, in the given order."""
        ids = None if self.ids is None else self.ids.take(positions)
        return type(self)(
            self.rows[positions],
            self.scores[positions],
            self.is_own[positions],
            self.is_labelled[positions],
            self.X.take(positions),
            ids,
        )

    def joined(self, other: Self) -> Self:
        """Return these rows followed by the other rows."""
        return type(self)(
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.is_own, other.is_own]),
            np.concatenate([self.is_labelled, other.is_labelled]),
            Table(np.concatenate([self.X.values, other.X.values]), self.X.features),
            _joined_ids(self.ids, other.ids),
        )


def _joined_ids(
    first: "pyarrow.ChunkedArray | None", second: "pyarrow.ChunkedArray | None"
) -> "pyarrow.ChunkedArray | None":
    from pyarrow import chunked_array  # noqa: PLC0415 - heavy imports happen when used

    if first is None or second is None:
        return None
    return chunked_array([*first.chunks, *second.chunks], first.type)


def best_rows(rows: ScoredRows, count: int) -> ScoredRows:
    """Return the `count` rows of the highest scores, highest first; of equal scores, the first rows of the file."""
    positions = np.arange(len(rows.scores))
    if len(positions) > count:
        lowest = np.partition(rows.scores, -count)[-count]
        positions = np.flatnonzero(rows.scores >= lowest)
    order = np.lexsort((rows.rows[positions], -rows.scores[positions]))
    return rows.take(positions[order[:count]])


@dataclass(frozen=True, eq=False)
class PredictColumns:
    """What is written for each row.

    Attributes:
        model: that has scored the rows.
        hidden: number of hidden positives among its training rows; without it there are no probabilities.
        id: the name of the column of row ids; None: row numbers.
        evidence: number of nearest labelled positives to name.
        ranked: the rows are the best ones, best first.
    """

    model: SavedModel
    hidden: Hidden
    id: str | None
    evidence: int
    ranked: bool

    def of(self, rows: ScoredRows) -> "pyarrow.Table":
        """Return the columns of these rows."""
        import pyarrow  # noqa: PLC0415 - heavy imports happen when used

        columns = {"score": pyarrow.array(rows.scores), **self._meaning(rows)}
        if self.ranked:
            columns["rank"] = pyarrow.array(np.arange(1, len(rows.scores) + 1))
        columns |= self._evidence(rows)
        name = self.id
        if name is None or rows.ids is None:
            return pyarrow.table({"row": pyarrow.array(rows.rows), **columns})
        return pyarrow.table({"id" if name in columns else name: rows.ids, **columns})

    def _meaning(self, rows: ScoredRows) -> dict[str, "pyarrow.Array"]:
        import pyarrow  # noqa: PLC0415 - heavy imports happen when used

        calibration = self.model.calibration
        if calibration is None:
            return {}
        columns = {"share": pyarrow.array(calibration.shares(rows.scores))}
        if isinstance(self.hidden, HiddenPositives):
            columns["probability"] = pyarrow.array(calibration.probabilities(rows.scores, self.hidden))
        return columns

    def _evidence(self, rows: ScoredRows) -> dict[str, "pyarrow.Array"]:
        import pyarrow  # noqa: PLC0415 - heavy imports happen when used

        columns: dict[str, pyarrow.Array] = {}
        if self.evidence and self.model.evidence is not None:
            nearest = self.model.evidence.nearest(rows.X, self.evidence)
            for number in range(nearest.positives.shape[1]):
                names = self.model.evidence.names_of(nearest.positives[:, number])
                columns[f"nearest_{number + 1}"] = pyarrow.array(names)
                columns[f"distance_{number + 1}"] = pyarrow.array(nearest.distances[:, number])
        return columns


class RowWriter(Protocol):
    """Appends rows to a file; the first call determines the columns."""

    def __call__(self, table: "pyarrow.Table", /) -> None:
        """Append the rows of a table."""


def check_out(path: Path) -> None:
    """Raise `DataError` unless scores can be written to `path`; to be called before scoring."""
    if path.suffix.lower() not in SUFFIXES:
        raise DataError(f"{path} cannot hold scores: its name must end in {', '.join(SUFFIXES)}.")
    if not path.absolute().parent.is_dir():
        raise DataError(f"{path} cannot be written: the folder {path.parent} does not exist.")
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a file for the scores.")


@contextmanager
def open_writer(path: Path) -> Iterator[RowWriter]:
    """Yield a writer of rows to the file `path`, which appears whole on success and not at all on any error.

    Raises:
        DataError: it cannot be written, or its suffix is not one of `SUFFIXES`.
    """
    check_out(path)
    with write_whole(path) as temporary:
        writer = _TableWriter(temporary)
        try:
            yield writer
        finally:
            writer.close()


class _TableWriter:
    """Writes CSV or Parquet, as the suffix of the path says."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: pyarrow.parquet.ParquetWriter | pyarrow.csv.CSVWriter | None = None

    def __call__(self, table: "pyarrow.Table", /) -> None:
        from pyarrow import csv, parquet  # noqa: PLC0415 - heavy imports happen when used

        if self._writer is None:
            create = csv.CSVWriter if self._path.suffix.lower() == ".csv" else parquet.ParquetWriter
            self._writer = create(self._path, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

"""Base classes of loaders of public files: unpacking, reading CSV, and refusing damaged files."""

import lzma
import zipfile
import zlib
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench import (
    DataError,
    Dataset,
    DatasetLoader,
    Feature,
    IndexVector,
    Seed,
    Table,
    Truth,
    open_compressed,
)

if TYPE_CHECKING:
    import pyarrow

Labels: TypeAlias = npt.NDArray[np.bool_]

# ValueError is what pyarrow and numpy raise, RuntimeError what zipfile does for a password or an unknown method.
_DAMAGE = (OSError, EOFError, ValueError, RuntimeError, lzma.LZMAError, zlib.error, zipfile.BadZipFile)


def thinned_rows(positive: Labels, count: int, name: str) -> IndexVector:
    """Return all rows that are not positive and `count` of the positive ones, in their order.

    The draw depends on the name of the data set alone, so that the name stands for the same rows everywhere.
    """
    candidates = np.flatnonzero(positive)
    lots = Seed(0).child("thinned", name).generator().random(len(candidates))
    kept = candidates[np.argsort(lots, kind="stable")[:count]]
    return np.sort(np.concatenate([np.flatnonzero(~positive), kept]))


class PublicDataset(DatasetLoader):
    """A data set in one public file, with true labels; always loaded whole, whatever number of rows is requested.

    What `load` returns has exactly the rows, features and positives that `info` states.
    """

    def load(self, paths: Sequence[Path], rows: int | None, seed: Seed) -> Dataset:  # noqa: ARG002
        """Return the features and the truth; nothing is observed."""
        path = paths[0]
        try:
            X, y = self.read(path)
        except _DAMAGE as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise DataError(f"{path} cannot be read: {error.strerror}.") from error
            reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
            raise self._damaged(path, f"cannot be read ({reason})") from error
        for what, count, expected in (
            ("rows", X.n_rows, self.info.rows),
            ("features", X.n_features, self.info.features),
            ("positives", int(y.sum()), self.info.positives),
        ):
            if count != expected:
                raise self._damaged(path, f"has {count:,} {what}, expected {expected:,}")
        return Dataset(X, truth=Truth(y))

    @abstractmethod
    def read(self, path: Path) -> tuple[Table, Labels]:
        """Return features and labels of the file; any of `_DAMAGE` becomes one sentence about it."""

    def _damaged(self, path: Path, finding: str) -> DataError:
        return DataError(
            f"{self.name} {finding}: the file is damaged or another version; delete {path} and fetch it again."
        )


class CsvDataset(PublicDataset):
    """A CSV file, bare, packed, or inside a .zip.

    Attributes:
        members: its path inside a .zip: one name, or the name of a .zip inside it and so on.
        separator: between values.
        missing: texts that mean a missing value; any other text that is no number is damage.
        label: the column of labels; it holds `positive` and `negative` alone.
        categorical: categorical columns; all others are numeric.
        dropped: columns that are no features.
        head: number of rows to load, from the first; None: all.
    """

    members: ClassVar[tuple[str, ...]]
    separator: ClassVar[str] = ","
    missing: ClassVar[tuple[str, ...]] = ()
    label: ClassVar[str]
    positive: ClassVar[str]
    negative: ClassVar[str]
    categorical: ClassVar[tuple[str, ...]] = ()
    dropped: ClassVar[tuple[str, ...]] = ()
    head: ClassVar[int | None] = None

    def read(self, path: Path) -> tuple[Table, Labels]:
        """Return all columns but the label and the dropped ones, in their order."""
        with open_compressed(path, *(self.members if ".zip" in path.suffixes else ())) as stream:
            table = self._parse(self.from_header(stream)).slice(0, self.head)
        return self._features(table), self._labels(table)

    def from_header(self, stream: IO[bytes]) -> IO[bytes]:
        """Return the stream from its line of column names on."""
        return stream

    def _parse(self, stream: IO[bytes]) -> "pyarrow.Table":
        import pyarrow  # noqa: PLC0415
        from pyarrow import csv  # noqa: PLC0415

        convert = csv.ConvertOptions(
            null_values=list(self.missing),
            column_types={name: pyarrow.string() for name in (self.label, *self.categorical)},
        )
        return csv.read_csv(
            stream, parse_options=csv.ParseOptions(delimiter=self.separator), convert_options=convert
        )

    def _labels(self, table: "pyarrow.Table") -> Labels:
        if self.label not in table.column_names:
            raise ValueError(f"it has no column '{self.label}'")
        column = table.column(self.label).to_numpy()
        positive = column == self.positive
        other = column[~positive & (column != self.negative)]
        if other.size:
            raise ValueError(
                f"column '{self.label}' holds {other[0]!r}, not only '{self.positive}' and '{self.negative}'"
            )
        return np.asarray(positive, dtype=np.bool_)

    def _features(self, table: "pyarrow.Table") -> Table:
        names = [name for name in table.column_names if name not in (self.label, *self.dropped)]
        values = np.empty((table.num_rows, len(names)))
        features = []
        for j, name in enumerate(names):
            column = table.column(table.column_names.index(name))
            if name in self.categorical:
                categories, values[:, j] = np.unique(column.to_numpy().astype(str), return_inverse=True)
                features.append(Feature(name, "categorical", tuple(categories.tolist())))
            else:
                values[:, j] = column.cast("float64").to_numpy()
                features.append(Feature(name))
        return Table(values, tuple(features))

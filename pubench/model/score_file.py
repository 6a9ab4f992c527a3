"""Writes a file of scores, Parquet or CSV, piece by piece: it appears whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pubench.errors import DataError
from pubench.system.files import write_whole

if TYPE_CHECKING:
    import pyarrow

#: The formats of score files, by suffix.
SUFFIXES = (".parquet", ".pq", ".csv")


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

"""Writes scores as Parquet or CSV, a piece at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pubench.atomic import replacing
from pubench.errors import DataError

if TYPE_CHECKING:
    import pyarrow

SUFFIXES = (".parquet", ".pq", ".csv")


class Write(Protocol):
    """Adds rows to a file; the columns of the first are those of all."""

    def __call__(self, table: "pyarrow.Table", /) -> None:
        """Write a piece."""


def check_out(path: Path) -> None:
    """Raise `DataError` unless scores can be written to `path`: best asked before the work."""
    if path.suffix.lower() not in SUFFIXES:
        raise DataError(f"{path} can not hold scores: its name must end in {', '.join(SUFFIXES)}.")
    if not path.absolute().parent.is_dir():
        raise DataError(f"{path} can not be written: the folder {path.parent} does not exist.")
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a file for the scores.")


@contextmanager
def writing(path: Path) -> Iterator[Write]:
    """Yield what adds rows to the file `path`, which appears whole on success and not at all on any error.

    Raises:
        DataError: it can not be written, or has a suffix that is not one of `SUFFIXES`.
    """
    check_out(path)
    with replacing(path) as temporary:
        sink = _Sink(temporary)
        try:
            yield sink
        finally:
            sink.close()


class _Sink:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: pyarrow.parquet.ParquetWriter | pyarrow.csv.CSVWriter | None = None

    def __call__(self, table: "pyarrow.Table", /) -> None:
        from pyarrow import csv, parquet  # noqa: PLC0415 - heavy imports happen when used

        if self._writer is None:
            make = csv.CSVWriter if self._path.suffix.lower() == ".csv" else parquet.ParquetWriter
            self._writer = make(self._path, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

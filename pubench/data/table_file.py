"""Tables of any kind, opened: first the names of their columns, then the values of the requested ones.

open_table    a file: CSV or TSV, Parquet, Feather or npz
frame_table   a DataFrame, as a Parquet file with the same columns would be
"""

import math
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench.data.compression import TableSource, data_errors, locate
from pubench.data.delimited import MISSING, read_header, read_text
from pubench.data.unpacking import (
    MAGIC_BYTES,
    VALUE_BYTES,
    Allowance,
    plain_columns,
    take_feather,
    take_parquet,
    texts_of,
)
from pubench.errors import DataError, shown, suggestion

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow

_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

#: Column names, each once -> an Arrow table that holds them.
Load: TypeAlias = Callable[[Sequence[str]], "pyarrow.Table"]


@dataclass(frozen=True)
class TableFile:
    """A table file whose column names have been read and whose values have not.

    Attributes:
        path: the file; of a table in memory its name.
        form: what it holds, once decompressed.
        names: of its columns, in order; they may be repeated.
    """

    path: Path
    form: str
    names: tuple[str, ...]
    _load: Load

    def read(self, names: Sequence[str]) -> dict[str, "pyarrow.ChunkedArray"]:
        """Return the named columns, in that order; nothing else of the file is kept in memory.

        Raises:
            DataError: the file is damaged, has no rows, or has not exactly one column of each name.
        """
        self.check(names)
        unique = list(dict.fromkeys(names))
        with data_errors(self.path):
            table = self._load(unique)
        if table.num_rows == 0:
            raise DataError(f"{self.path} has a header but no rows.")
        return {name: table.column(name) for name in unique}

    def check(self, names: Iterable[str]) -> None:
        """Raise `DataError` unless there is exactly one column of each name."""
        counts = Counter(self.names)
        for name in names:
            if counts[name] == 0:
                raise DataError(
                    f"{self.path} has no column '{name}' (it has: {self._shown()}).{suggestion(name, counts)}"
                )
            if counts[name] > 1:
                raise DataError(
                    f"{self.path} has {counts[name]} columns called '{shown(name)}'; rename all but one."
                )

    def _shown(self) -> str:
        names = [shown(name) for name in dict.fromkeys(self.names)]
        return ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")


def open_table(path: Path) -> TableFile:
    """Return the table at `path`: CSV or TSV with any usual separator, Parquet, Feather or npz, compressed or not.

    Raises:
        DataError: it cannot be read, is empty, or its content does not match its name.
    """
    source = locate(path)
    opening = {"text": _text, "parquet": _parquet, "feather": _feather, "npz": _npz}[source.form]
    with data_errors(path):
        names, load = opening(source)
    return TableFile(path, source.form, tuple(names), load)


def _text(source: TableSource) -> tuple[Sequence[str], Load]:
    header = read_header(source)
    return header.names, lambda names: read_text(source, header, names)


def _parquet(source: TableSource) -> tuple[Sequence[str], Load]:
    from pyarrow import parquet  # noqa: PLC0415 - heavy imports happen when used

    content = source.kept()
    schema = parquet.read_schema(content)

    def load(names: Sequence[str]) -> "pyarrow.Table":
        texts, allowance = texts_of(schema, names), Allowance.of(source.path)
        with parquet.ParquetFile(content, read_dictionary=texts) as file:
            take_parquet(file, names, allowance)
            return like_texts(plain_columns(file.read(columns=list(names)), texts, allowance))

    return schema.names, load


def _feather(source: TableSource) -> tuple[Sequence[str], Load]:
    from pyarrow import BufferReader, ipc, memory_map, py_buffer  # noqa: PLC0415

    kept = source.kept()
    content = (
        py_buffer(kept.getbuffer()) if isinstance(kept, BytesIO) else memory_map(str(kept)).read_buffer()
    )
    with ipc.open_file(content) as file:
        schema = file.schema

    def load(names: Sequence[str]) -> "pyarrow.Table":
        allowance = Allowance.of(source.path)
        take_feather(content, schema, names, allowance)
        options = ipc.IpcReadOptions(included_fields=[schema.names.index(name) for name in names])
        # Read as the stream of messages whose sizes were taken, and not by the list of them at its end.
        with ipc.open_stream(BufferReader(content.slice(MAGIC_BYTES)), options=options) as file:
            return like_texts(plain_columns(file.read_all().select(list(names)), (), allowance))

    return schema.names, load


def like_texts(table: "pyarrow.Table") -> "pyarrow.Table":
    """Return a table whose texts are read as in a CSV file: missing values and dates are found."""
    for number, field in enumerate(table.schema):
        table = table.set_column(number, field.name, _like_text(table.column(number)))
    return table


def _like_text(column: "pyarrow.ChunkedArray") -> "pyarrow.ChunkedArray":
    """Read texts as in a CSV file: words for missing values are missing, ISO dates are dates."""
    from pyarrow import ArrowInvalid, array, compute, scalar, types  # noqa: PLC0415

    if not (types.is_string(column.type) or types.is_large_string(column.type)):
        return column
    missing = compute.is_in(column, value_set=array(MISSING, column.type))
    column = compute.if_else(missing, scalar(None, column.type), column)
    first = next((value.as_py() for value in column if value.is_valid), "")
    if not _ISO_DATE.match(first):
        return column
    for kind in ("date32", "timestamp[s]", "timestamp[us]"):
        with suppress(ArrowInvalid):
            return column.cast(kind)
    return column


def _npz(source: TableSource) -> tuple[Sequence[str], Load]:
    """Open an npz: the columns of its matrix X are called x0, x1, ..., every other array is one more column."""
    archive = source.kept()
    with zipfile.ZipFile(archive) as opened:
        sizes = {entry.filename: entry.file_size for entry in opened.infolist()}
    if "X.npy" not in sizes:
        raise DataError(
            f"{source.path} has no array X; save the features as X and the label as y with np.savez."
        )
    shape = _shape(source, archive, sizes["X.npy"])
    features = {f"x{j}": j for j in range(shape[1])}
    others = [name.removesuffix(".npy") for name in sizes if name != "X.npy"]

    def load(names: Sequence[str]) -> "pyarrow.Table":
        import pyarrow  # noqa: PLC0415

        array = partial(_array, source, archive, Allowance.of(source.path))
        X = array("X", shape)
        columns = {
            name: X[:, features[name]] if name in features else array(name, shape[:1]) for name in names
        }
        return pyarrow.table({name: pyarrow.array(column) for name, column in columns.items()})

    return [*features, *others], load


def _shape(source: TableSource, archive: Path | BytesIO, size: int) -> tuple[int, int]:
    """Return the shape of X without reading its values; `size` is what the archive says of it."""
    with source.member(archive, "X.npy", Allowance.of(source.path)) as file:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read(file)
    if len(shape) != 2 or shape[0] == 0:
        raise DataError(f"Array X of {source.path} has shape {shape}; it must have rows and columns.")
    if math.prod(shape) * dtype.itemsize > size and not dtype.hasobject:
        raise EOFError("X is shorter than its shape")
    return (int(shape[0]), int(shape[1]))


def _array(
    source: TableSource, archive: Path | BytesIO, allowance: Allowance, name: str, shape: tuple[int, ...]
) -> npt.NDArray[Any]:
    subject = f"Array {name} of {source.path}"
    try:
        with source.member(archive, f"{name}.npy", allowance) as file:
            array: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise DataError(
            f"{subject} holds pickled objects, which can run code when loaded; save it as numbers or text."
        ) from error
    if array.dtype.kind not in "biufUM":
        raise DataError(f"{subject} is of type {array.dtype}; save it as numbers or text.")
    if array.shape != shape:
        raise DataError(f"{subject} has shape {array.shape}; it must be {shape}, a value for each row.")
    allowance.take(max(VALUE_BYTES - array.itemsize, 0) * array.size)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def frame_table(frame: "pd.DataFrame", name: str) -> TableFile:
    """Return a DataFrame as a table that is read as a Parquet file with the same columns would be.

    Args:
        frame: the table; its index is left out.
        name: what messages call it.
    """
    names = tuple(map(str, frame.columns))

    def load(wanted: Sequence[str]) -> "pyarrow.Table":
        import pyarrow  # noqa: PLC0415 - heavy imports happen when used

        columns = frame.iloc[:, [names.index(one) for one in wanted]]
        return like_texts(pyarrow.table(frame_columns(columns, wanted)))

    return TableFile(Path(name), "frame", names, load)


def frame_columns(frame: "pd.DataFrame", names: Sequence[str]) -> dict[str, "pyarrow.ChunkedArray"]:
    """Return the columns of a DataFrame by these names, in order.

    Raises:
        DataError: there is no row or no column, or a column mixes types.
    """
    if not len(frame) or not names:
        raise DataError(
            f"X has {len(frame)} rows (samples) and {len(names)} columns; at least one of each is needed."
        )
    return {name: _column(name, frame.iloc[:, number]) for number, name in enumerate(names)}


def _column(name: str, values: "pd.Series[Any]") -> "pyarrow.ChunkedArray":
    import pyarrow  # noqa: PLC0415

    try:
        column = pyarrow.array(values, from_pandas=True)
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        raise DataError(
            f"Column '{name}' has values of several types, or of a type that cannot be a feature ({error}); make all of "
            "them numbers, texts or dates."
        ) from error
    return column if isinstance(column, pyarrow.ChunkedArray) else pyarrow.chunked_array([column])

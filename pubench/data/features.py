"""Turns the columns of a file into a `Table`: one matrix of floats, and what each column of it means."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from pubench.data.categories import encode_text, no_feature
from pubench.data.files import shown
from pubench.data.notices import Notices
from pubench.data.tables import open_table
from pubench.errors import DataError
from pubench.types import Feature, FloatMatrix, FloatVector, Table

if TYPE_CHECKING:
    import pyarrow

Dtype: TypeAlias = type[np.float32] | type[np.float64]
Written = TypeVar("Written")

#: Columns go into the row-major matrix so many at a time, and so many rows at a time: a cache line of float64 is then
#: written while it is at hand. One by one, each column would fetch and write back the whole matrix.
_TOGETHER = 8
_BLOCK_ROWS = 4096
_SHARE_ROWS = 32 * _BLOCK_ROWS  # of a thread at a time

_PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def read_table(path: Path, *, columns: Sequence[str] | None = None) -> tuple[Table, tuple[str, ...]]:
    """Return the named columns of a file as features, all of them by default, and what is worth knowing of them.

    Raises:
        DataError: the file or a column can not be read, or a value is infinite.
    """
    file = open_table(path)
    return encode(file.read(file.names if columns is None else columns), Notices())


def encode(columns: dict[str, "pyarrow.ChunkedArray"], notices: Notices) -> tuple[Table, tuple[str, ...]]:
    """Return columns as a table, in their order, and the sentences of `notices`, which has then looked at each.

    Numbers stay what they are; true is 1 and false 0; text and categories become codes into their sorted values;
    dates and timestamps become days since 1970-01-01, times and durations days; what is missing is NaN. The matrix is
    float32 if every number in the file is, else float64.

    `columns`, of which there is at least one, is emptied on the way, so that no more than a few of them are in memory
    twice.

    Raises:
        DataError: naming the column that can not be a feature and, where there is one, the row.
    """
    n_rows, dtype = len(next(iter(columns.values()))), dtype_of(columns.values())

    def write(name: str, out: FloatVector) -> Feature:
        return _encode_column(name, columns.pop(name), out, notices)

    values, features = assemble(n_rows, dtype, [partial(write, name) for name in list(columns)])
    return Table(values, tuple(features)), notices.sentences()


def assemble(
    n_rows: int, dtype: Dtype, writers: Sequence[Callable[[FloatVector], Written]]
) -> tuple[FloatMatrix, list[Written]]:
    """Return a matrix of so many rows, each column filled by one of the writers, and what these return."""
    values = np.empty((n_rows, len(writers)), dtype=dtype)
    buffer: npt.NDArray[Any] = np.empty((min(_TOGETHER, len(writers)), n_rows), dtype=dtype)
    written: list[Written] = []
    for start in range(0, len(writers), _TOGETHER):
        together = writers[start : start + _TOGETHER]
        written += [write(out) for write, out in zip(together, buffer, strict=False)]
        _transpose(buffer[: len(together)], values[:, start : start + len(together)])
    return values, written


def _transpose(columns: FloatMatrix, out: FloatMatrix) -> None:
    def copy(first: int) -> None:
        for start in range(first, min(first + _SHARE_ROWS, len(out)), _BLOCK_ROWS):
            out[start : start + _BLOCK_ROWS] = columns[:, start : start + _BLOCK_ROWS].T

    with ThreadPoolExecutor() as pool:  # NumPy copies without holding the interpreter
        list(pool.map(copy, range(0, len(out), _SHARE_ROWS)))


def is_empty(column: "pyarrow.ChunkedArray") -> bool:
    """Whether a column has no value in any row."""
    from pyarrow import compute, types  # noqa: PLC0415 - heavy imports happen when used

    if not types.is_floating(column.type):
        return bool(column.null_count == len(column))
    return bool(compute.all(compute.is_null(column, nan_is_null=True)).as_py())


def dtype_of(columns: Iterable["pyarrow.ChunkedArray"]) -> Dtype:
    """Return the type of a matrix that holds these columns: float32 if every number is, else float64."""
    from pyarrow import types  # noqa: PLC0415

    kinds = [column.type for column in columns]
    numbers = [kind for kind in kinds if is_number(kind)]
    short = all(types.is_float16(t) or types.is_float32(t) for t in numbers)
    exact = not any(types.is_temporal(t) for t in kinds)  # seconds are lost in a float32 of days
    return np.float32 if numbers and short and exact else np.float64


def _encode_column(name: str, column: "pyarrow.ChunkedArray", out: FloatVector, notices: Notices) -> Feature:
    """Write a column into `out` and return what it is."""
    from pyarrow import types  # noqa: PLC0415

    kind = column.type
    if is_text(kind):
        feature = encode_text(name, column, out, notices)
    elif types.is_temporal(kind) and not types.is_interval(kind):
        feature = _encode_time(name, column, out, notices)
    elif types.is_boolean(kind):
        feature = Feature(name, "boolean")
        write_numbers(column.cast("uint8"), out)
    elif is_number(kind) or types.is_null(kind):
        feature = _encode_numbers(name, column, out, notices)
    else:
        raise no_feature(name, kind)
    notices.look_at(name, out)
    return feature


def is_text(kind: "pyarrow.DataType") -> bool:
    """Whether a type holds text, or what pandas stored as categories."""
    from pyarrow import types  # noqa: PLC0415

    tests = (types.is_dictionary, types.is_string, types.is_large_string, types.is_string_view)
    return any(test(kind) for test in tests)


def is_number(kind: "pyarrow.DataType") -> bool:
    """Whether a type holds numbers, whole or not."""
    from pyarrow import types  # noqa: PLC0415

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def write_numbers(column: "pyarrow.ChunkedArray", out: FloatVector) -> None:
    """Write numbers as floats, missing ones as NaN; whole numbers beyond 2**53 are rounded."""
    start = 0
    for chunk in column.chunks:
        floats = chunk.cast(out.dtype.name, safe=False)
        out[start : start + len(chunk)] = floats.to_numpy(zero_copy_only=False)
        start += len(chunk)


def _encode_numbers(name: str, column: "pyarrow.ChunkedArray", out: FloatVector, notices: Notices) -> Feature:
    from pyarrow import types  # noqa: PLC0415

    write_numbers(column, out)
    check_finite(name, out)
    if types.is_integer(column.type):
        notices.look_at_whole_numbers(name, out)
    return Feature(name)


def check_finite(name: str, values: FloatVector, before: int = 0) -> None:
    """Raise `DataError` with the row, counted from 1 behind those `before`, if a value of a column is infinite."""
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        raise DataError(
            f"Column '{shown(name)}' is infinite in row {before + infinite[0] + 1} ({infinite.size} rows in all); make "
            "it finite or leave it empty."
        )


def _encode_time(name: str, column: "pyarrow.ChunkedArray", out: FloatVector, notices: Notices) -> Feature:
    write_days(column, out)
    dated = is_dated(column.type)
    notices.add("date" if dated else "time", name)
    return Feature(name, "date" if dated else "numeric")


def is_dated(kind: "pyarrow.DataType") -> bool:
    """Whether a temporal type says which day it was; times and durations do not."""
    from pyarrow import types  # noqa: PLC0415

    return bool(types.is_date(kind) or types.is_timestamp(kind))


def write_days(column: "pyarrow.ChunkedArray", out: FloatVector) -> None:
    """Write dates and timestamps as days since 1970-01-01, times and durations as days; missing ones as NaN.

    Whole days are split off before anything is rounded: a moment is the same number whichever unit it is stored in.
    """
    from pyarrow import types  # noqa: PLC0415

    kind = column.type
    if types.is_date(kind):
        write_numbers(column.cast("date32").cast("int32"), out)
        return
    per_day, start = _PER_DAY[kind.unit], 0
    for chunk in column.cast(f"int{kind.bit_width}").chunks:
        days, rest = np.divmod(chunk.fill_null(0).to_numpy().astype(np.int64), per_day)
        part = out[start : start + len(chunk)]
        part[:] = days + rest / per_day
        part[chunk.is_null().to_numpy(zero_copy_only=False)] = np.nan
        start += len(chunk)

"""Encodes columns as features: numbers, flags, dates and categories in one matrix of floats.

encode -> assemble (column by column into the matrix) -> encode_text, numbers or times
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from pubench.data.label_columns import plain
from pubench.data.notices import Notices
from pubench.data.table_file import open_table
from pubench.errors import DataError, shown
from pubench.types import Feature, FloatMatrix, FloatVector, Table

if TYPE_CHECKING:
    import pyarrow

Dtype: TypeAlias = type[np.float32] | type[np.float64]
Written = TypeVar("Written")

#: The number of columns that are written into the row-major matrix at a time, and of rows: a cache line of float64 is
#: then written at once. Column by column, each would load and store the whole matrix.
_BLOCK_COLUMNS = 8
_BLOCK_ROWS = 4096
_TASK_ROWS = 32 * _BLOCK_ROWS  # of one task of a thread

_PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}

_NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"
_COMMA_NUMBER = r"^\s*[-+]?(\d+|\d{1,3}(\.\d{3})+),\d+\s*$"
_DATE = r"^\s*(\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}[./]\d{1,2}[./]\d{1,2})(\D.*)?$"


def read_table(path: Path, *, columns: Sequence[str] | None = None) -> tuple[Table, tuple[str, ...]]:
    """Return the named columns of a file as features, all of them by default, and notices about them.

    Raises:
        DataError: the file or a column cannot be read, or a value is infinite.
    """
    file = open_table(path)
    return encode(file.read(file.names if columns is None else columns), Notices())


def encode(columns: dict[str, "pyarrow.ChunkedArray"], notices: Notices) -> tuple[Table, tuple[str, ...]]:
    """Return columns as a table, in their order, and the sentences of `notices`, which checks each of them.

    Numbers are not changed; true is 1 and false 0; text and categories become codes into their sorted values;
    dates and timestamps become days since 1970-01-01, times and durations days; missing values are NaN. The matrix is
    float32 if every number in the file is, else float64.

    `columns`, of which there is at least one, is emptied meanwhile, so that only a few of them are in memory twice.

    Raises:
        DataError: with the column that cannot be a feature and, if there is one, the row.
    """
    n_rows, dtype = len(next(iter(columns.values()))), dtype_of(columns.values())

    def write(name: str, out: FloatVector) -> Feature:
        return _encode_column(name, columns.pop(name), out, notices)

    values, features = assemble(n_rows, dtype, [partial(write, name) for name in list(columns)])
    return Table(values, tuple(features)), notices.sentences()


def _encode_column(name: str, column: "pyarrow.ChunkedArray", out: FloatVector, notices: Notices) -> Feature:
    """Write a column into `out` and return its feature."""
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
    notices.check_values(name, out)
    return feature


def encode_text(name: str, column: "pyarrow.ChunkedArray", out: FloatVector, notices: Notices) -> Feature:
    """Write a column of text, or of categories of pandas, into `out` as codes into its sorted values.

    Only values that occur are categories. A missing value is NaN.

    Raises:
        DataError: the column has values that cannot be text, or numbers with a decimal comma.
    """
    from pyarrow import compute, types  # noqa: PLC0415 - heavy imports happen when used

    values, codes = distinct(name, column)
    if not types.is_dictionary(column.type):
        _check_commas(name, values, codes)
        _check_text(name, values, codes, notices)
    order = compute.sort_indices(values)
    rank = np.full(len(order) + 1, np.nan)  # the last one is for the code -1
    rank[order.to_numpy()] = np.arange(len(order))
    out[:] = rank[codes]
    notices.check_categories(name, len(values), len(codes))
    return Feature(name, "categorical", tuple(values.take(order).to_pylist()))


def distinct(
    name: str, column: "pyarrow.ChunkedArray"
) -> tuple["pyarrow.LargeStringArray", npt.NDArray[np.int32]]:
    """Return the distinct values of a column as text, and for each row the number of its value, or -1."""
    import pyarrow  # noqa: PLC0415

    try:
        text = plain(column).cast(pyarrow.large_string())
    except pyarrow.ArrowException:
        raise no_feature(name, column.type) from None
    encoded = text.dictionary_encode().combine_chunks()
    return encoded.dictionary, encoded.indices.fill_null(-1).to_numpy()


def no_feature(name: str, kind: object) -> DataError:
    """Return the error for a column of a type that no feature can have."""
    return DataError(
        f"Column '{shown(name)}' holds {shown(str(kind))}, which cannot be a feature; leave it out with --drop."
    )


def _check_commas(name: str, values: "pyarrow.Array", codes: npt.NDArray[np.int32]) -> None:
    comma = _matches(values, _COMMA_NUMBER)
    if comma.any() and np.all(comma | _matches(values, _NUMBER)):
        row = int(np.flatnonzero(np.append(comma, False)[codes])[0])
        raise DataError(
            f"Column '{shown(name)}' writes numbers with a comma ('{shown(values[codes[row]].as_py())}' in row "
            f"{row + 1}); write decimals with a point and leave thousands unmarked, or leave it out with --drop."
        )


def _check_text(name: str, values: "pyarrow.Array", codes: npt.NDArray[np.int32], notices: Notices) -> None:
    if not len(values):
        return
    if _matches(values, _DATE).all():
        notices.add_dates_as_text(name, values[0].as_py())
        return
    number = _matches(values, _NUMBER)
    if number.all():
        notices.add_numbers_as_text(name)
        return
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    odd = int(np.argmax(np.where(number, -1, counts)))
    row = int(np.flatnonzero(codes == odd)[0]) + 1
    notices.check_mixed_text(name, (values[odd].as_py(), row), int(counts[number].sum()), int(counts.sum()))


def _matches(values: "pyarrow.Array", pattern: str) -> npt.NDArray[np.bool_]:
    from pyarrow import compute  # noqa: PLC0415

    matches = compute.match_substring_regex(values, pattern).to_numpy(zero_copy_only=False)
    return np.asarray(matches, dtype=np.bool_)


def is_text(kind: "pyarrow.DataType") -> bool:
    """Whether a type is text, or that of categories of pandas."""
    from pyarrow import types  # noqa: PLC0415

    tests = (types.is_dictionary, types.is_string, types.is_large_string, types.is_string_view)
    return any(test(kind) for test in tests)


def is_number(kind: "pyarrow.DataType") -> bool:
    """Whether a type is numeric, whole numbers or others."""
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
        notices.check_whole_numbers(name, out)
    return Feature(name)


def check_finite(name: str, values: FloatVector, before: int = 0) -> None:
    """Raise `DataError` with the row, counted from 1 after the `before` earlier ones, if a value is infinite."""
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
    """Whether a temporal type has a date; times and durations have none."""
    from pyarrow import types  # noqa: PLC0415

    return bool(types.is_date(kind) or types.is_timestamp(kind))


def write_days(column: "pyarrow.ChunkedArray", out: FloatVector) -> None:
    """Write dates and timestamps as days since 1970-01-01, times and durations as days; missing ones as NaN.

    Whole days are split off before rounding: a moment is the same number in every unit it may be stored in.
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


def assemble(
    n_rows: int, dtype: Dtype, writers: Sequence[Callable[[FloatVector], Written]]
) -> tuple[FloatMatrix, list[Written]]:
    """Return a matrix of `n_rows` rows, each column filled by one of the writers, and what these return."""
    values = np.empty((n_rows, len(writers)), dtype=dtype)
    buffer: npt.NDArray[Any] = np.empty((min(_BLOCK_COLUMNS, len(writers)), n_rows), dtype=dtype)
    written: list[Written] = []
    for start in range(0, len(writers), _BLOCK_COLUMNS):
        block = writers[start : start + _BLOCK_COLUMNS]
        written += [write(out) for write, out in zip(block, buffer, strict=False)]
        _transpose(buffer[: len(block)], values[:, start : start + len(block)])
    return values, written


def _transpose(columns: FloatMatrix, out: FloatMatrix) -> None:
    def copy(first: int) -> None:
        for start in range(first, min(first + _TASK_ROWS, len(out)), _BLOCK_ROWS):
            out[start : start + _BLOCK_ROWS] = columns[:, start : start + _BLOCK_ROWS].T

    with ThreadPoolExecutor() as pool:  # NumPy releases the interpreter lock while it copies
        list(pool.map(copy, range(0, len(out), _TASK_ROWS)))


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

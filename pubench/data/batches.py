"""Reads a table file in batches of rows, so that it may be larger than memory."""

from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pubench.data.compression import TableSource, data_errors, locate
from pubench.data.delimited import MISSING, Header, read_header
from pubench.data.table_file import open_table
from pubench.data.unpacking import Allowance, check_plain, plain_columns, texts_of
from pubench.errors import DataError, shown

if TYPE_CHECKING:
    import pyarrow

#: A batch of rows: name -> column.
Batch: TypeAlias = dict[str, "pyarrow.ChunkedArray"]

#: Number of values of a batch: enough to make the overhead of a prediction small, and few enough that several batches
#: take little memory.
BATCH_VALUES = 2**22
_LEAST_ROWS = 1024
#: Number of bytes of text that are parsed at a time: Arrow reads up to 32 such blocks ahead.
BLOCK_BYTES = 2**21


def read_batches(path: Path, names: Sequence[str]) -> Iterator[Batch]:
    """Yield the named columns of a file in batches of rows, in order.

    Text and Parquet are read batch by batch; other forms, and compressed Parquet, are read as a whole. A column of a
    text file is read as text, except for times of day.

    Raises:
        DataError: the file cannot be read, has no rows, or has not exactly one column of each name; raised
            before the first batch, except for damage further down.
    """
    file = open_table(path)
    file.check(names)
    source = locate(path)
    if file.form == "text":
        return _validated(_joined(_text_batches(source, names), _batch_rows(names)), path)
    if file.form == "parquet" and not source.packing:
        return _validated(_parquet_batches(path, names), path)
    return _sliced(file.read(names))


def has_column(path: Path, name: str) -> bool:
    """Whether a table file has a column of this name."""
    return name in open_table(path).names


def _validated(tables: Iterator["pyarrow.Table"], path: Path) -> Iterator[Batch]:
    """Yield tables as batches, validated: Arrow does not check what it reads, and wrong offsets crash the process."""
    rows = 0
    with data_errors(path):
        for table in tables:
            table.validate(full=True)
            if table.num_rows:
                rows += table.num_rows
                yield {name: table.column(name) for name in table.column_names}
    if not rows:
        raise DataError(f"{path} has a header but no rows.")


def _parquet_batches(path: Path, names: Sequence[str]) -> Iterator["pyarrow.Table"]:
    from pyarrow import Table, parquet  # noqa: PLC0415 - heavy imports happen when used

    texts = texts_of(parquet.read_schema(path), names)
    with parquet.ParquetFile(path, read_dictionary=texts) as file:
        check_plain(file.schema_arrow, names)
        for batch in file.iter_batches(_batch_rows(names), columns=list(dict.fromkeys(names))):
            yield plain_columns(Table.from_batches([batch]), texts, Allowance.of(path))


def _joined(batches: Iterator["pyarrow.RecordBatch"], rows: int) -> Iterator["pyarrow.Table"]:
    """Yield batches joined to tables of about this number of rows."""
    from pyarrow import Table  # noqa: PLC0415

    waiting: list[pyarrow.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= rows:
            yield Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield Table.from_batches(waiting)


def _text_batches(source: TableSource, names: Sequence[str]) -> Iterator["pyarrow.RecordBatch"]:
    from pyarrow import ArrowInvalid  # noqa: PLC0415

    header = read_header(source)
    types = _types(source, header, names)
    with source.stream() if source.packing else nullcontext(source.path) as content:
        try:
            with closing(_reader(content, header, names, types)) as reader:
                yield from reader
        except ArrowInvalid as error:
            raise _parse_error(source.path, names, str(error)) from error


def _types(source: TableSource, header: Header, names: Sequence[str]) -> dict[str, Any]:
    """Return the type to read each column as: text, which fits every row, unless it starts with times of day.

    Times cannot be recognised in text later; numbers and dates can.
    """
    from pyarrow import ArrowInvalid, string, types  # noqa: PLC0415

    with source.stream() if source.packing else nullcontext(source.path) as content:
        try:
            with closing(_reader(content, header, names, {})) as reader:
                inferred = {field.name: field.type for field in reader.schema}
        except ArrowInvalid as error:
            raise _parse_error(source.path, names, str(error)) from error
    return {name: kind if types.is_time(kind) else string() for name, kind in inferred.items()}


def _reader(content: Any, header: Header, names: Sequence[str], types: dict[str, Any]) -> Any:
    from pyarrow import csv  # noqa: PLC0415

    return csv.open_csv(
        content,
        read_options=csv.ReadOptions(
            column_names=header.names, skip_rows_after_names=header.rows, block_size=BLOCK_BYTES
        ),
        parse_options=csv.ParseOptions(delimiter=header.separator, newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            include_columns=list(dict.fromkeys(names)),
            column_types=types,
            null_values=list(MISSING),
            strings_can_be_null=True,
        ),
    )


def _parse_error(path: Path, names: Sequence[str], reason: str) -> DataError:
    """Return the error for a text that Arrow could not parse: reading each column as a whole tells the position."""
    for name in names:
        try:
            open_table(path).read([name])
        except DataError as error:
            return error
    return DataError(f"{path} cannot be read: {shown(reason, 200)}.")


def _sliced(columns: Batch) -> Iterator[Batch]:
    n_rows, step = len(next(iter(columns.values()))), _batch_rows(list(columns))
    for start in range(0, n_rows, step):
        yield {name: column.slice(start, step) for name, column in columns.items()}


def _batch_rows(names: Sequence[str]) -> int:
    return max(_LEAST_ROWS, BATCH_VALUES // len(names))

"""Reads a table file a piece at a time, so that it may be larger than memory."""

from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pubench.data.delimited import MISSING, Header, read_header
from pubench.data.files import TableSource, explained, locate, shown
from pubench.data.tables import open_table
from pubench.errors import DataError

if TYPE_CHECKING:
    import pyarrow

#: Some rows: name -> column.
Piece: TypeAlias = dict[str, "pyarrow.ChunkedArray"]

#: Values of a piece. Enough that asking a model costs nothing beside its work, few enough that some pieces are little
#: beside the memory.
PIECE_VALUES = 2**22
_LEAST_ROWS = 1024
#: Of text so many bytes are parsed at a time: Arrow reads up to 32 such blocks ahead.
BLOCK_BYTES = 2**21


def read_pieces(path: Path, names: Sequence[str]) -> Iterator[Piece]:
    """Yield the named columns of a file, some rows at a time, in order.

    Text and Parquet are read as they are asked for; other forms, and packed Parquet, are held as a whole. A column of a
    text file comes as text, except for times of day.

    Raises:
        DataError: the file can not be read, has no rows, or has not exactly one column of each name; those but for
            damage further down before the first piece.
    """
    file = open_table(path)
    file.check(names)
    source = locate(path)
    if file.form == "text":
        return _checked(_gathered(_text_batches(source, names), _piece_rows(names)), path)
    if file.form == "parquet" and not source.packing:
        return _checked(_parquet_pieces(path, names), path)
    return _sliced(file.read(names))


def has_column(path: Path, name: str) -> bool:
    """Whether a table file has a column of this name."""
    return name in open_table(path).names


def _checked(tables: Iterator["pyarrow.Table"], path: Path) -> Iterator[Piece]:
    """Yield tables as pieces, each validated: Arrow takes what it reads on trust, and wrong offsets crash the process."""
    rows = 0
    with explained(path):
        for table in tables:
            table.validate(full=True)
            if table.num_rows:
                rows += table.num_rows
                yield {name: table.column(name) for name in table.column_names}
    if not rows:
        raise DataError(f"{path} has a header but no rows.")


def _parquet_pieces(path: Path, names: Sequence[str]) -> Iterator["pyarrow.Table"]:
    from pyarrow import Table, parquet  # noqa: PLC0415 - heavy imports happen when used

    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(_piece_rows(names), columns=list(dict.fromkeys(names))):
            yield Table.from_batches([batch])


def _gathered(batches: Iterator["pyarrow.RecordBatch"], rows: int) -> Iterator["pyarrow.Table"]:
    """Yield batches together, about so many rows at a time."""
    from pyarrow import Table  # noqa: PLC0415

    together: list[pyarrow.RecordBatch] = []
    for batch in batches:
        together.append(batch)
        if sum(map(len, together)) >= rows:
            yield Table.from_batches(together)
            together = []
    if together:
        yield Table.from_batches(together)


def _text_batches(source: TableSource, names: Sequence[str]) -> Iterator["pyarrow.RecordBatch"]:
    from pyarrow import ArrowInvalid  # noqa: PLC0415

    header = read_header(source)
    types = _types(source, header, names)
    with source.stream() if source.packing else nullcontext(source.path) as content:
        try:
            with closing(_reader(content, header, names, types)) as reader:
                yield from reader
        except ArrowInvalid as error:
            raise _told(source.path, names, str(error)) from error


def _types(source: TableSource, header: Header, names: Sequence[str]) -> dict[str, Any]:
    """Return the type to read each column as: text, which suits every row, unless it starts with times of day.

    A time can not be told from text later, as numbers and dates can.
    """
    from pyarrow import ArrowInvalid, string, types  # noqa: PLC0415

    with source.stream() if source.packing else nullcontext(source.path) as content:
        try:
            with closing(_reader(content, header, names, {})) as reader:
                found = {field.name: field.type for field in reader.schema}
        except ArrowInvalid as error:
            raise _told(source.path, names, str(error)) from error
    return {name: kind if types.is_time(kind) else string() for name, kind in found.items()}


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


def _told(path: Path, names: Sequence[str], reason: str) -> DataError:
    """Return the error for a text that Arrow could not parse: read as a whole, a column alone, it says where."""
    for name in names:
        try:
            open_table(path).read([name])
        except DataError as error:
            return error
    return DataError(f"{path} can not be read: {shown(reason, 200)}.")


def _sliced(columns: Piece) -> Iterator[Piece]:
    n_rows, step = len(next(iter(columns.values()))), _piece_rows(list(columns))
    for start in range(0, n_rows, step):
        yield {name: column.slice(start, step) for name, column in columns.items()}


def _piece_rows(names: Sequence[str]) -> int:
    return max(_LEAST_ROWS, PIECE_VALUES // len(names))

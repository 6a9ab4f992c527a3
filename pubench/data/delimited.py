"""Reads delimited text: finds the separator and the names, and says where a bad row or byte is."""

import csv
import io
import re
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pubench.data.files import TableSource, shown
from pubench.errors import DataError

if TYPE_CHECKING:
    import pyarrow

SEPARATORS = ",;\t|"
#: What stands for a missing value, beside an empty field.
MISSING = (
    "", "na", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "nan", "NaN", "-nan", "-NaN", "NaT", "null", "Null", "NULL",
    "None", "?", "\\N",
)  # fmt: skip
_HEAD_BYTES = 1 << 20
_NOT_UTF8 = "convert the file, for instance with: iconv -f LATIN1 -t UTF-8"


@dataclass(frozen=True)
class Header:
    """The first row of a text table.

    Attributes:
        names: of the columns, without white space around; a column without a name is called 'column 3', say.
        separator: between fields.
        rows: how many rows it takes, blank ones above it included.
    """

    names: tuple[str, ...]
    separator: str
    rows: int


def read_header(source: TableSource) -> Header:
    """Return what the start of the file tells.

    Raises:
        DataError: the file is empty, has no row below its header, or is not UTF-8.
    """
    with source.stream() as stream:
        head = stream.read(_HEAD_BYTES)
    text = _decoded(head, source.path)
    if not text.strip():
        raise DataError(f"{source.path} is empty; it needs a row of column names and rows below it.")
    separator = _separator(text)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        number, fields = next((number, row) for number, row in enumerate(rows, 1) if row)
        alone = not any(rows) and len(head) < _HEAD_BYTES
    except csv.Error as error:
        raise DataError(f"The header of {source.path} can not be read: {shown(str(error))}.") from error
    if alone:
        raise DataError(f"{source.path} has a header but no rows.")
    return Header(tuple(_named(fields, source.path)), separator, number)


def _decoded(head: bytes, path: Path) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{path} is UTF-16; convert the file, for instance with: iconv -f UTF-16 -t UTF-8")
    if b"\0" in head:
        raise DataError(f"{path} is not text, whatever its name says; save the table as UTF-8 text.")
    return head.decode("utf-8-sig", "surrogateescape")  # the end may stand in the middle of a character


def _separator(text: str) -> str:
    first = text.lstrip("\r\n").partition("\n")[0]
    unquoted = re.sub(r'"[^"]*"', "", first)
    return max(SEPARATORS, key=unquoted.count)


def _named(fields: Sequence[str], path: Path) -> list[str]:
    for number, field in enumerate(fields, 1):
        if re.search("[\udc80-\udcff]", field):
            raise DataError(f"The name of column {number} of {path} is not UTF-8; {_NOT_UTF8}")
    return [field.strip() or f"column {number}" for number, field in enumerate(fields, 1)]


def read_text(source: TableSource, header: Header, names: Sequence[str]) -> "pyarrow.Table":
    """Return the named columns, with types as their values suggest; `names` are unique and at least one.

    Raises:
        DataError: naming the line that has another number of fields, or the column and row that is not UTF-8.
    """
    from pyarrow import ArrowInvalid, default_memory_pool  # noqa: PLC0415 - heavy imports happen when used
    from pyarrow import csv as arrow_csv  # noqa: PLC0415

    read = arrow_csv.ReadOptions(column_names=header.names, skip_rows_after_names=header.rows)
    parse = arrow_csv.ParseOptions(delimiter=header.separator, newlines_in_values=_may_quote(source))
    convert = arrow_csv.ConvertOptions(
        include_columns=list(names), null_values=list(MISSING), strings_can_be_null=True
    )
    with source.stream() if source.packing else nullcontext(source.path) as content:
        try:
            table = arrow_csv.read_csv(
                content, read_options=read, parse_options=parse, convert_options=convert
            )
        except ArrowInvalid as error:
            raise _unparsed(source, header, str(error)) from error
    default_memory_pool().release_unused()  # what parsing took; Arrow would sit on as much again as the table takes
    _check_utf8(table, source.path)
    return table


def _may_quote(source: TableSource) -> bool:
    """Whether a quoted field may hold a line break: looking out for one costs Arrow a third of its speed."""
    if source.packing:  # unpacking once more would cost still more
        return True
    with source.stream() as stream:
        return any(b'"' in block for block in iter(lambda: stream.read(1 << 20), b""))


def _unparsed(source: TableSource, header: Header, reason: str) -> DataError:
    ragged = re.search(r"Expected \d+ columns, got \d+", reason)
    if ragged is None:
        return DataError(f"{source.path} can not be read: {shown(reason, 200)}.")
    return DataError(
        f"{source.path} can not be read: {_ragged_line(source, header)}: {ragged[0]}; give every row as many fields as "
        "the header, and put fields that hold the separator in quotes."
    )


def _ragged_line(source: TableSource, header: Header) -> str:
    """Return the place of the first row that is ragged; Arrow's threads do not know it."""
    with (
        source.stream() as stream,
        io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="") as text,
        suppress(csv.Error),
    ):
        rows = csv.reader(text, delimiter=header.separator)
        line = 1
        for row in rows:
            if row and len(row) != len(header.names):
                return f"line {line}"
            line = rows.line_num + 1
    return "a row"


def _check_utf8(table: "pyarrow.Table", path: Path) -> None:
    from pyarrow import types  # noqa: PLC0415

    for field in table.schema:
        if types.is_binary(field.type):  # what Arrow makes of text that is not UTF-8
            row = next(i for i, v in enumerate(table[field.name].to_pylist(), 1) if v and not _is_utf8(v))
            raise DataError(
                f"Column '{shown(field.name)}' holds text that is not UTF-8 in row {row} of {path}; {_NOT_UTF8}"
            )


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True

"""Reads delimited text: finds the separator and the column names, and reports the position of a bad row or byte."""

import csv
import io
import re
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from pubench.data.compression import TableSource
from pubench.errors import DataError, shown

if TYPE_CHECKING:
    import pyarrow

SEPARATORS = ",;\t|"
#: Words for a missing value.
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
        names: of the columns, stripped of white space; a column without a name is called 'column 3', for instance.
        separator: between fields.
        rows: the number of rows up to here, blank ones included.
    """

    names: tuple[str, ...]
    separator: str
    rows: int


def read_header(source: TableSource) -> Header:
    """Return the header, from the start of the file.

    Raises:
        DataError: the file is empty, has no row below its header, or is not UTF-8.
    """
    with source.stream() as stream:
        head = stream.read(_HEAD_BYTES)
    text = _decoded(head, source.path)
    if not text.strip():
        raise DataError(f"{source.path} is empty; it needs a row of column names and rows below it.")
    is_cut = len(head) == _HEAD_BYTES
    if is_cut and len(text.lstrip("\r\n").splitlines()) < 2:
        raise DataError(
            f"The header of {source.path} has more than {_HEAD_BYTES:,} bytes; use shorter names."
        )
    separator = _separator(text)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        number, fields = next((number, row) for number, row in enumerate(rows, 1) if row)
    except csv.Error as error:
        raise DataError(f"The header of {source.path} cannot be read: {shown(str(error))}.") from error
    below = islice(io.StringIO(text, newline=""), rows.line_num, None)
    if not is_cut and not any(line.strip("\r\n") for line in below):
        raise DataError(f"{source.path} has a header but no rows.")
    return Header(tuple(_named(fields, source.path)), separator, number)


def _decoded(head: bytes, path: Path) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{path} is UTF-16; convert the file, for instance with: iconv -f UTF-16 -t UTF-8")
    if b"\0" in head:
        raise DataError(f"{path} is not text, as its name says it is; save the table as UTF-8 text.")
    return head.decode("utf-8-sig", "surrogateescape")  # the end may cut a character in two


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
    """Return the named columns, with types inferred from their values; `names` are unique and at least one.

    Raises:
        DataError: with the line that has another number of fields, or the column and row that is not UTF-8.
    """
    from pyarrow import ArrowInvalid, default_memory_pool  # noqa: PLC0415 - heavy imports happen when used
    from pyarrow import csv as arrow_csv  # noqa: PLC0415

    read = arrow_csv.ReadOptions(column_names=header.names, skip_rows_after_names=header.rows)
    parse = arrow_csv.ParseOptions(delimiter=header.separator, newlines_in_values=_may_quote(source))
    convert = arrow_csv.ConvertOptions(
        include_columns=list(names), null_values=list(MISSING), strings_can_be_null=True
    )
    with source.stream(header.separator.encode()) if source.packing else nullcontext(source.path) as content:
        try:
            table = arrow_csv.read_csv(
                content, read_options=read, parse_options=parse, convert_options=convert
            )
        except ArrowInvalid as error:
            raise _unparsed(source, header, str(error)) from error
    default_memory_pool().release_unused()  # Arrow would keep as much memory as the table takes
    _check_text(table, source.path)
    return table


def _may_quote(source: TableSource) -> bool:
    """Whether a quoted field may contain a line break: if it may, Arrow is a third slower."""
    if source.packing:  # to decompress it once more would take even longer
        return True
    with source.stream() as stream:
        return any(b'"' in block for block in iter(lambda: stream.read(1 << 20), b""))


def _unparsed(source: TableSource, header: Header, reason: str) -> DataError:
    ragged = re.search(r"Expected \d+ columns, got \d+", reason)
    if ragged is None:
        return DataError(f"{source.path} cannot be read: {shown(reason, 200)}.")
    return DataError(
        f"{source.path} cannot be read: {_ragged_line(source, header)}: {ragged[0]}; give every row as many fields as "
        "the header, and put fields that hold the separator in quotes."
    )


def _ragged_line(source: TableSource, header: Header) -> str:
    """Return the line of the first row with another number of fields, which Arrow's threads do not know."""
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


def _check_text(table: "pyarrow.Table", path: Path) -> None:
    """Raise `DataError` for a column with text that is none: bytes that are not UTF-8, or the character NUL."""
    from pyarrow import compute, types  # noqa: PLC0415

    for field in table.schema:
        if types.is_string(field.type):
            row = compute.index(compute.match_substring(table[field.name], "\0"), value=True).as_py()
            if row >= 0:
                raise DataError(
                    f"Column '{shown(field.name)}' holds a NUL, which is no text, in row {row + 1} of {path}; save the "
                    "table as UTF-8 text."
                )
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

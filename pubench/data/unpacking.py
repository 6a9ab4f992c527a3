"""The one bound on unpacking: what a file holds once it is decoded has to fit into memory, whatever its format.

    Allowance.of(path)              half of the memory that is free
    allowance.take(size)            as bytes come, or as the metadata of a file states them; `DataError` beyond it
    take_parquet, take_feather      what a table will take, before any of it is decoded
    plain_columns                   texts that repeat, each in its row

A ratio between a file and its content would refuse honest tables that compress well, and let a large file fill the
memory. What a file states is only believed where the library that decodes it relies on the same numbers.

An Arrow file is a magic word, messages one after the other, and a list of them that is not looked at here: a message is
a table of FlatBuffers, and a body of buffers. Of a compressed buffer the first eight bytes state the size that Arrow
reserves for it. https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from struct import unpack_from
from typing import TYPE_CHECKING

import numpy as np

from pubench.errors import DataError, shown
from pubench.system.machine import free_memory

if TYPE_CHECKING:
    import pyarrow
    from pyarrow import parquet

#: What a value takes as a feature, in a matrix of float64: no value is counted as less.
VALUE_BYTES = 8
#: Of an Arrow file: the magic word, and what fills it up.
MAGIC_BYTES = 8
#: The numbers of fields, in the order of Arrow's Message.fbs.
_HEADER_TYPE, _HEADER = 1, 2
_DICTIONARY_DATA = 1
_LENGTH, _BUFFERS, _COMPRESSION = 0, 2, 3
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3


@dataclass
class Allowance:
    """How many bytes may still come out of a file.

    Attributes:
        path: the file.
        total: how many there were in the beginning.
        left: how many there are.
    """

    path: Path
    total: int
    left: float

    @classmethod
    def of(cls, path: Path) -> "Allowance":
        """Return half of the free memory: a table is there twice while it becomes a matrix of features."""
        total = free_memory() // 2
        return cls(path, total, total)

    def take(self, size: float) -> None:
        """Take some bytes.

        Raises:
            DataError: there are not as many left.
        """
        self.left -= size
        if self.left < 0:
            raise DataError(
                f"{self.path} unpacks to more than {self.total:,} bytes, half of the memory that is free, as files made "
                "to fill the memory do; leave columns or rows out of it, or use a machine with more memory."
            )


def take_parquet(file: "parquet.ParquetFile", names: Sequence[str], allowance: Allowance) -> None:
    """Take what columns of a Parquet file are once decoded: a few bytes of it may stand for a billion values.

    Texts count as numbers of texts here, and as what they are in `plain_columns`.

    Raises:
        DataError: there is not as much memory, or a column is no plain column.
    """
    check_plain(file.schema_arrow, names)
    wanted = set(names)
    for number in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(number)
        allowance.take(VALUE_BYTES * len(wanted) * group.num_rows)
        for place in range(group.num_columns):
            column = group.column(place)
            if column.path_in_schema in wanted:
                width = max(
                    file.schema.column(place).length - VALUE_BYTES, 0
                )  # of values of a fixed, other length
                allowance.take(max(column.total_uncompressed_size - VALUE_BYTES * group.num_rows, 0))
                allowance.take(width * group.num_rows)


def check_plain(schema: "pyarrow.Schema", names: Sequence[str]) -> None:
    """Raise `DataError` for columns of lists and the like, of which a row may hold any number of values."""
    from pyarrow import types  # noqa: PLC0415 - heavy imports happen when used

    for name in names:
        kind = schema.field(name).type
        if types.is_nested(kind) or types.is_run_end_encoded(kind):
            raise DataError(
                f"Column '{shown(name)}' holds {shown(str(kind))}, which cannot be a feature, a label or a score: rows "
                "must hold plain values; leave it out with --drop."
            )


def texts_of(schema: "pyarrow.Schema", names: Sequence[str]) -> list[str]:
    """Return the columns to be read as numbers of texts and a list of them, so that a long text is there only once."""
    from pyarrow import types  # noqa: PLC0415

    tests = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return [name for name in names if any(test(schema.field(name).type) for test in tests)]


def plain_columns(table: "pyarrow.Table", texts: Sequence[str], allowance: Allowance) -> "pyarrow.Table":
    """Return a table, validated, where the columns of `texts`, which are read as numbers of texts, are the texts.

    Raises:
        DataError: there is no memory for the values of a column whose texts are there once each.
        ArrowException: a column is damaged.
    """
    from pyarrow import types  # noqa: PLC0415

    table.validate(full=True)  # Arrow does not check what it reads, and wrong offsets crash the process
    for place, field in enumerate(table.schema):
        column = table.column(place)
        allowance.take(sum(_text_bytes(chunk) for chunk in column.chunks))
        if field.name in texts and types.is_dictionary(field.type):
            table = table.set_column(place, field.name, column.cast(field.type.value_type))
    return table


def _text_bytes(chunk: "pyarrow.Array") -> float:
    """Return what the values of a column are as texts of their own, if they are texts that may be shared."""
    from pyarrow import DictionaryArray, compute, types  # noqa: PLC0415

    if isinstance(chunk, DictionaryArray):
        lengths = compute.take(_lengths(chunk.dictionary), chunk.indices)
    elif types.is_string_view(chunk.type):
        lengths = _lengths(chunk)
    else:
        return 0.0
    return float(compute.sum(lengths).as_py() or 0)


def _lengths(values: "pyarrow.Array") -> "pyarrow.Array":
    """Return the number of bytes of each text, as float64 lest their sum overflows; of other values 0."""
    from pyarrow import array, compute, types  # noqa: PLC0415

    if types.is_string_view(values.type):  # a view begins with its length
        heads = np.frombuffer(values.buffers()[1], "<i4")[::4][values.offset :][: len(values)]
        return array(heads.astype(np.float64), mask=~values.is_valid().to_numpy(zero_copy_only=False))
    tests = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    if any(test(values.type) for test in tests):
        return compute.binary_length(values).cast("float64")
    return array(np.zeros(len(values)))


def take_feather(
    content: "pyarrow.Buffer", schema: "pyarrow.Schema", names: Sequence[str], allowance: Allowance
) -> None:
    """Take what a Feather file is once decompressed, all columns of it.

    Raises:
        DataError: there is not as much memory, or a column is no plain column.
        ValueError: the file is damaged.
    """
    check_plain(schema, names)
    for rows, size in decoded_sizes(content):
        allowance.take(max(size, VALUE_BYTES * rows * len(names)))


def decoded_sizes(content: "pyarrow.Buffer") -> Iterator[tuple[int, int]]:
    """Yield the number of rows of each message of a file, and its bytes once it is decompressed.

    Raises:
        ValueError, ArrowException: the file is damaged.
    """
    from pyarrow import BufferReader, ipc  # noqa: PLC0415 - heavy imports happen when used

    reader = ipc.MessageReader.open_stream(BufferReader(content.slice(MAGIC_BYTES)))
    for message in reader:
        body = memoryview(message.body) if message.body is not None else memoryview(b"")
        try:
            yield _decoded(memoryview(message.metadata), body)
        except (struct.error, IndexError) as error:
            raise ValueError("a message ends too early") from error


def _decoded(metadata: memoryview, body: memoryview) -> tuple[int, int]:
    message = _root(metadata)
    kind = metadata[message.place(_HEADER_TYPE)]
    if kind not in (_DICTIONARY_BATCH, _RECORD_BATCH):
        return 0, 0
    batch = message.table(_HEADER)
    if kind == _DICTIONARY_BATCH:
        batch = batch.table(_DICTIONARY_DATA)
    rows: int = unpack_from("<q", metadata, batch.place(_LENGTH))[0] if batch.has(_LENGTH) else 0
    if not batch.has(_COMPRESSION):
        return rows, len(body)
    return rows, sum(_stated(body, offset, length) for offset, length in batch.pairs(_BUFFERS))


def _stated(body: memoryview, offset: int, length: int) -> int:
    """Return the size of a buffer in a compressed batch; -1 says that this one is not compressed."""
    size: int = unpack_from("<q", body, offset)[0] if length else 0
    return max(size, length)


@dataclass(frozen=True)
class _FlatTable:
    """A table of FlatBuffers: it begins with the way back to a list of where its fields are."""

    data: memoryview
    start: int

    def has(self, field: int) -> bool:
        return self._offset(field) > 0

    def place(self, field: int) -> int:
        """Return where a field is, which has to be there."""
        if not self.has(field):
            raise ValueError("a message lacks a field")
        return self.start + self._offset(field)

    def table(self, field: int) -> "_FlatTable":
        return _FlatTable(self.data, self._target(field))

    def pairs(self, field: int) -> Iterator[tuple[int, int]]:
        """Yield the elements of a list of pairs of whole numbers."""
        start = self._target(field)
        (count,) = unpack_from("<I", self.data, start)
        for number in range(count):
            offset, length = unpack_from("<qq", self.data, start + 4 + 16 * number)
            yield offset, length

    def _target(self, field: int) -> int:
        place = self.place(field)
        return place + int(unpack_from("<I", self.data, place)[0])

    def _offset(self, field: int) -> int:
        (back,) = unpack_from("<i", self.data, self.start)
        fields = self.start - back
        if fields < 0:
            raise ValueError("a message points outside of itself")
        (size,) = unpack_from("<H", self.data, fields)
        if 4 + 2 * field >= size:
            return 0
        return int(unpack_from("<H", self.data, fields + 4 + 2 * field)[0])


def _root(data: memoryview) -> _FlatTable:
    return _FlatTable(data, unpack_from("<I", data, 0)[0])

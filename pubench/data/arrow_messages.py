"""How large the record batches of an Arrow file are once decompressed, without decompressing them.

An Arrow file is a magic word, messages one after the other, and a list of them that is not looked at here: a message is
a table of FlatBuffers, and a body of buffers. Of a compressed buffer the first eight bytes state the size that Arrow
reserves for it. https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from struct import unpack_from
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow

#: The magic word, and what fills it up.
MAGIC_BYTES = 8
#: The numbers of fields, in the order of Arrow's Message.fbs.
_HEADER_TYPE, _HEADER = 1, 2
_DICTIONARY_DATA = 1
_LENGTH, _BUFFERS, _COMPRESSION = 0, 2, 3
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3


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

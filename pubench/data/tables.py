"""Opens a table file of any kind: which columns it has, and the ones that are asked for."""

import math
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench.data.delimited import MISSING, read_header, read_text
from pubench.data.files import TableSource, explained, locate, shown, too_large, unpacked_limit
from pubench.errors import DataError, suggestion

if TYPE_CHECKING:
    import pyarrow

_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

#: Column names, each once -> an Arrow table that holds them.
Load: TypeAlias = Callable[[Sequence[str]], "pyarrow.Table"]


@dataclass(frozen=True)
class TableFile:
    """A table file whose column names have been read and whose values have not.

    Attributes:
        path: the file.
        form: what it holds, once unpacked.
        names: of its columns, in order; they may repeat.
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
        wanted = list(dict.fromkeys(names))
        with explained(self.path):
            table = self._load(wanted)
        if table.num_rows == 0:
            raise DataError(f"{self.path} has a header but no rows.")
        return {name: table.column(name) for name in wanted}

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
    """Return the table at `path`: CSV or TSV with any usual separator, Parquet, Feather or npz, packed or not.

    Raises:
        DataError: it can not be read, is empty or is not what its name says.
    """
    source = locate(path)
    opening = {"text": _text, "parquet": _parquet, "feather": _feather, "npz": _npz}[source.form]
    with explained(path):
        names, load = opening(source)
    return TableFile(path, source.form, tuple(names), load)


def _text(source: TableSource) -> tuple[Sequence[str], Load]:
    header = read_header(source)
    return header.names, lambda names: read_text(source, header, names)


def _parquet(source: TableSource) -> tuple[Sequence[str], Load]:
    from pyarrow import parquet  # noqa: PLC0415 - heavy imports happen when used

    content = source.whole()

    def load(names: Sequence[str]) -> "pyarrow.Table":
        with parquet.ParquetFile(content) as file:
            return _validated(file.read(columns=list(names)))

    return parquet.read_schema(content).names, load


def _feather(source: TableSource) -> tuple[Sequence[str], Load]:
    from pyarrow import feather, ipc  # noqa: PLC0415

    content = source.whole()
    with ipc.open_file(content) as file:
        names = file.schema.names
    return names, lambda wanted: _validated(feather.read_table(content, columns=list(wanted)))


def _validated(table: "pyarrow.Table") -> "pyarrow.Table":
    table.validate(full=True)  # Arrow takes what it reads on trust, and wrong offsets crash the process
    for number, field in enumerate(table.schema):
        table = table.set_column(number, field.name, _like_text(table.column(number)))
    return table


def _like_text(column: "pyarrow.ChunkedArray") -> "pyarrow.ChunkedArray":
    """Give texts the meaning they have in a CSV: words for missing values are missing, ISO dates are dates."""
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
    content = source.whole()
    with _archive(content, source.path) as arrays:
        others = [name for name in arrays.files if name != "X"]
        shape = _shape(arrays, source.path)
    features = {f"x{j}": j for j in range(shape[1])}

    def load(names: Sequence[str]) -> "pyarrow.Table":
        import pyarrow  # noqa: PLC0415

        with _archive(content, source.path) as arrays:
            X = _array(arrays, "X", shape, source.path)
            columns = {
                name: X[:, features[name]]
                if name in features
                else _array(arrays, name, shape[:1], source.path)
                for name in names
            }
        return pyarrow.table({name: pyarrow.array(column) for name, column in columns.items()})

    return [*features, *others], load


def _archive(content: Path | BytesIO, path: Path) -> Any:
    with zipfile.ZipFile(content) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > unpacked_limit(path):
            raise too_large(path)
        if "X.npy" not in archive.namelist():
            raise DataError(
                f"{path} has no array X; save the features as X and the label as y with np.savez."
            )
    return np.load(content, allow_pickle=False)


def _shape(arrays: Any, path: Path) -> tuple[int, ...]:
    """Return the shape of X without reading its values."""
    with arrays.zip.open("X.npy") as file:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read(file)
    if len(shape) != 2 or shape[0] == 0:
        raise DataError(f"Array X of {path} has shape {shape}; it must have rows and columns.")
    if math.prod(shape) * dtype.itemsize > arrays.zip.getinfo("X.npy").file_size and not dtype.hasobject:
        raise EOFError("X is shorter than its shape")
    return (int(shape[0]), int(shape[1]))


def _array(arrays: Any, name: str, shape: tuple[int, ...], path: Path) -> npt.NDArray[Any]:
    try:
        array = arrays[name]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise DataError(
            f"Array {name} of {path} holds pickled objects, which can run code when loaded; save it as numbers or text."
        ) from error
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "biufUM":
        kind = array.dtype if isinstance(array, np.ndarray) else "unknown"
        raise DataError(f"Array {name} of {path} is of type {kind}; save it as numbers or text.")
    if array.shape != shape:
        raise DataError(
            f"Array {name} of {path} has shape {array.shape}; it must be {shape}, a value for each row."
        )
    return array.astype(array.dtype.newbyteorder("="), copy=False)

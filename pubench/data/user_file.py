"""Reads the user's own table: a file with a label column becomes a data set.

open_table (names) -> read (columns) -> parse_labels (label column) -> encode (the other columns as features)
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from pubench.api.dataset import Dataset
from pubench.data.column_types import encode, is_empty
from pubench.data.label_columns import parse_labels, plain
from pubench.data.notices import Notices
from pubench.data.table_file import TableFile, open_table
from pubench.errors import DataError
from pubench.types import read_only

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class FileSpec:
    """Which file, and what its columns mean.

    Attributes:
        path: the file; see `pubench.data.table_file.open_table` for what it may be.
        label: the column that tells labelled from unlabeled rows; None means `y` in an npz, and is refused otherwise.
        positive: the label of positives; None where it is clear, as for 1 and 0.
        drop: columns to leave out.
        id: a column that names rows and is no feature.
    """

    path: Path
    label: str | None
    positive: str | None = None
    drop: tuple[str, ...] = ()
    id: str | None = None


@dataclass(frozen=True, eq=False)
class FileData:
    """The contents of a file.

    Attributes:
        dataset: its features and observed labels; the truth is not known.
        ids: shape (n_rows,), the values of the id column as they are, read-only; None without one.
        notices: what the user should know about the columns, a sentence each.
    """

    dataset: Dataset
    ids: npt.NDArray[Any] | None
    notices: tuple[str, ...]


def read_file(spec: FileSpec) -> FileData:
    """Return the table that `spec` describes; rows and columns keep their order.

    Raises:
        DataError: one sentence with the file, column or row at fault, and what to do.
    """
    return read_table(open_table(spec.path), spec)


def read_table(file: TableFile, spec: FileSpec) -> FileData:
    """Return the contents of an open table, as `read_file` does."""
    label = _label(spec, file)
    columns = file.read(_columns_to_read(spec, file, label))
    labelled = parse_labels(columns.pop(label), label, spec.positive)
    ids = None if spec.id is None else read_only(plain(columns.pop(spec.id)).to_numpy())
    notices = Notices(labelled)
    _drop_empty(columns, notices)
    if not columns:
        raise DataError(f"{spec.path} has no value in any column that could be a feature.")
    table, sentences = encode(columns, notices)
    return FileData(Dataset(table, read_only(labelled)), ids, sentences)


def _drop_empty(columns: dict[str, "pyarrow.ChunkedArray"], notices: Notices) -> None:
    for name in [name for name, column in columns.items() if is_empty(column)]:
        del columns[name]
        notices.add("empty", name)


def _label(spec: FileSpec, file: TableFile) -> str:
    if spec.label is not None:
        return spec.label
    if file.form != "npz":
        raise DataError(f"Say with --label which column of {spec.path} is the label.")
    return "y"


def _columns_to_read(spec: FileSpec, file: TableFile, label: str) -> list[str]:
    """Return the columns to read: all but the dropped ones, the label and the id among them."""
    if label in (*spec.drop, spec.id):
        raise DataError(f"Column '{label}' is the label and cannot be dropped or be the id as well.")
    file.check([label, *([] if spec.id is None else [spec.id])])
    for name in spec.drop:
        if name not in file.names:
            file.check([name])
    names = [name for name in file.names if name not in spec.drop or name == spec.id]
    if set(names) <= {label, spec.id}:
        raise DataError(f"{spec.path} has no column left to be a feature besides the label; drop fewer.")
    return names

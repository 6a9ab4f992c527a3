"""The user's own table: a file in which one column is the label becomes a data set."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from pubench.data.columns import as_labels, plain
from pubench.data.features import encode, is_empty
from pubench.data.notices import Notices
from pubench.data.tables import TableFile, open_table
from pubench.dataset_api import Dataset
from pubench.errors import DataError
from pubench.types import read_only


@dataclass(frozen=True)
class FileSpec:
    """Which file, and what its columns mean.

    Attributes:
        path: the file; see `pubench.data.tables.open_table` for what it may be.
        label: the column that tells labelled from unlabeled rows; None stands for `y` in an npz, and is refused else.
        positive: the label of positives; None where it is plain, as for 1 and 0.
        drop: columns to leave out.
        id: a column to keep aside; it names rows and is no feature.
    """

    path: Path
    label: str | None
    positive: str | None = None
    drop: tuple[str, ...] = ()
    id: str | None = None


@dataclass(frozen=True, eq=False)
class FileData:
    """What a file held.

    Attributes:
        dataset: its features and observed labels; nobody knows the truth.
        ids: shape (n_rows,), the values of the id column as they are, read-only; None where none was named.
        notices: what is worth knowing of the columns, a sentence each.
    """

    dataset: Dataset
    ids: npt.NDArray[Any] | None
    notices: tuple[str, ...]


def read_file(spec: FileSpec) -> FileData:
    """Return the table that `spec` describes; rows and columns keep their order.

    Raises:
        DataError: one sentence that names the file, column or row at fault and says what to do.
    """
    file = open_table(spec.path)
    label = _label(spec, file)
    columns = file.read(_wanted(spec, file, label))
    labelled = as_labels(columns.pop(label), label, spec.positive)
    ids = None if spec.id is None else read_only(plain(columns.pop(spec.id)).to_numpy())
    notices = Notices(labelled)
    for name in [name for name, column in columns.items() if is_empty(column)]:
        del columns[name]
        notices.add("empty", name)
    if not columns:
        raise DataError(f"{spec.path} has no value in any column that could be a feature.")
    table, sentences = encode(columns, notices)
    return FileData(Dataset(table, read_only(labelled)), ids, sentences)


def _label(spec: FileSpec, file: TableFile) -> str:
    if spec.label is not None:
        return spec.label
    if file.form != "npz":
        raise DataError(f"Say with --label which column of {spec.path} is the label.")
    return "y"


def _wanted(spec: FileSpec, file: TableFile, label: str) -> list[str]:
    """Return the columns to read: all but the dropped ones, the label and the id among them."""
    if label in (*spec.drop, spec.id):
        raise DataError(f"Column '{label}' is the label and can not be dropped or be the id as well.")
    file.check([label, *([] if spec.id is None else [spec.id])])
    for name in spec.drop:
        if name not in file.names:
            file.check([name])
    wanted = [name for name in file.names if name not in spec.drop or name == spec.id]
    if set(wanted) <= {label, spec.id}:
        raise DataError(f"{spec.path} has no column left to be a feature besides the label; drop fewer.")
    return wanted

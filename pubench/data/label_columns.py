"""Label and score columns: read from a table file, checked, and refused with the exact problem."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pubench.data.table_file import open_table
from pubench.errors import DataError, shown
from pubench.types import BoolVector, FloatVector

if TYPE_CHECKING:
    import pyarrow

#: Labels whose positive value need not be named: (positive, other). True and false are 1 and 0.
_KNOWN_LABELS = ((1, 0), (1, -1))


def read_columns(path: Path, names: Sequence[str]) -> dict[str, "pyarrow.ChunkedArray"]:
    """Return the named columns; no other column of the file is in memory.

    Raises:
        DataError: the file cannot be read, is empty, has no rows, or has not exactly one column of each name.
    """
    return open_table(path).read(names)


def parse_scores(column: "pyarrow.ChunkedArray", name: str) -> FloatVector:
    """Return a column of numbers as float64.

    Raises:
        DataError: with the column and the first row (from 1, below the header) that is no number.
    """
    from pyarrow import ArrowInvalid  # noqa: PLC0415

    column = plain(column)
    try:
        numbers = column.cast("float64", safe=False)  # whole numbers beyond 2**53 are rounded
    except (ArrowInvalid, NotImplementedError):
        row = next(i for i, value in enumerate(column, 1) if not _is_arrow_number(value))
        value = shown(repr(column[row - 1].as_py()))
        raise DataError(f"Column '{name}' holds {value} in row {row}; scores must be numbers.") from None
    scores = numbers.to_numpy()
    missing = np.flatnonzero(np.isnan(scores))
    if missing.size:
        raise DataError(
            f"Column '{name}' has no score in row {missing[0] + 1} ({missing.size} rows in all); score every row."
        )
    return np.asarray(scores, dtype=np.float64)


def plain(column: "pyarrow.ChunkedArray") -> "pyarrow.ChunkedArray":
    """Return a column with its values, also where pandas stored it as categories."""
    from pyarrow import types  # noqa: PLC0415

    return column.cast(column.type.value_type) if types.is_dictionary(column.type) else column


def _is_arrow_number(value: "pyarrow.Scalar") -> bool:
    """Whether Arrow can cast the value, which decides here; Python also accepts '1_000' and ' 1'."""
    from pyarrow import ArrowInvalid  # noqa: PLC0415

    try:
        value.cast("float64", safe=False)
    except (ArrowInvalid, NotImplementedError):
        return False
    return True


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def parse_labels(column: "pyarrow.ChunkedArray", name: str, positive: str | None = None) -> BoolVector:
    """Return which rows are labelled positive.

    The positive value is known for 0/1, -1/1, true/false, and for a single value beside blanks; for others
    `positive` names it. Every other row is unlabeled, also a blank one.

    Raises:
        DataError: with the column and its values.
    """
    from pyarrow import compute, scalar, types  # noqa: PLC0415

    column = plain(column)
    if types.is_nested(column.type):
        raise DataError(
            f"Label column '{name}' holds {column.type} values; it must hold plain values such as 1 and 0."
        )
    distinct = column.unique().to_pylist()
    values = list(dict.fromkeys(value for value in distinct if not _is_blank(value)))  # -0.0 and 0.0 are one
    blanks = any(_is_blank(value) for value in distinct)
    if positive is None and len(values) + blanks > 2:
        kinds = f"{len(values)} values{' and blanks' if blanks else ''}"
        some = ", ".join(shown(str(value)) for value in values[:5]) + (", ..." if len(values) > 5 else "")
        raise DataError(
            f"Label column '{name}' holds {kinds} ({some}); say with --positive which one is positive; the others are then unlabeled."
        )
    chosen = _positive_value(values, name, positive, blanks=blanks)
    labelled = compute.equal(column, scalar(chosen, column.type)).fill_null(False).to_numpy()
    if labelled.all():
        raise DataError(f"Label column '{name}' marks every row as positive; unlabeled rows are needed too.")
    return np.asarray(labelled, dtype=np.bool_)


def _is_blank(value: object) -> bool:
    return value is None or value != value  # noqa: PLR0124 - NaN is the value that differs from itself


def _positive_value(values: list[Any], name: str, positive: str | None, *, blanks: bool) -> object:
    contents = " and ".join(shown(repr(value)) for value in values) or "only blanks"
    if positive is not None:
        matches = [value for value in values if _same(value, positive)]
        if not matches:
            raise DataError(f"Label column '{name}' never holds '{positive}'; it holds {contents}.")
        return matches[0]
    if blanks and len(values) == 1 and values[0] not in (0, -1):
        return values[0]
    for yes, no in _KNOWN_LABELS:
        if yes in values and set(values) <= {yes, no}:
            return values[values.index(yes)]  # as the column has it: 1, 1.0 or true
    if len(values) < 2:
        raise DataError(
            f"Label column '{name}' holds {contents}: no row is labelled positive; at least one must be."
        )
    raise DataError(f"Label column '{name}' holds {contents}; say which is positive with --positive.")


def _same(value: object, text: str) -> bool:
    if isinstance(value, bool) and text.lower() in ("true", "false"):
        return str(value).lower() == text.lower()
    return str(value) == text or (
        isinstance(value, int | float) and _is_number(text) and float(value) == float(text)
    )

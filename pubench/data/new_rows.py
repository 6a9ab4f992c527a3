"""Encodes new data as a table of known features: those that a model was trained on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pubench.data.column_types import (
    assemble,
    check_finite,
    distinct,
    dtype_of,
    is_dated,
    is_number,
    is_text,
    no_feature,
    write_days,
    write_numbers,
)
from pubench.data.delimited import MISSING
from pubench.data.label_columns import plain
from pubench.errors import DataError, shown, suggestion
from pubench.types import Feature, FeatureKind, FloatVector, Table

if TYPE_CHECKING:
    import pyarrow

_EXPECTED = {
    "numeric": "numbers there",
    "boolean": "true and false, or 1 and 0, there",
    "date": "dates there, written as 2024-12-31",
}


def encode_as(
    columns: Mapping[str, "pyarrow.ChunkedArray"], features: tuple[Feature, ...]
) -> tuple[Table, tuple[str, ...]]:
    """Return columns as a table of exactly these features, in their order, and notices about them.

    Columns are found by name; others are ignored. A category is found by its text, a number among categories also by
    its value; an unknown one is missing, and a notice says how many there are. Numbers, flags and dates are encoded as
    in `pubench.data.column_types.encode`, also where they are stored as text; words for missing values, as in a CSV, are
    missing. All values of a column without values are missing.

    Raises:
        DataError: with the column that does not exist, or the column, row and value that does not fit its feature.
    """
    encoder = Encoder(features)
    table = encoder.encode(columns)
    return table, encoder.notices()


@dataclass
class _Unseen:
    """Unknown categories of a column: the number of rows, and an example."""

    rows: int
    example: str


@dataclass
class Encoder:
    """Encodes a table batch by batch; row numbers go on, and notices are given once, at the end.

    Attributes:
        features: those of the tables.
    """

    features: tuple[Feature, ...]
    _rows: int = 0
    _unseen: dict[str, _Unseen] = field(default_factory=dict)

    def encode(self, columns: Mapping[str, "pyarrow.ChunkedArray"]) -> Table:
        """Return the next rows; see `encode_as`."""
        check_present(columns, self.features)
        own = {feature.name: columns[feature.name] for feature in self.features}
        n_rows = len(next(iter(own.values())))
        writers = [partial(self._write, feature, own[feature.name]) for feature in self.features]
        values, _ = assemble(n_rows, dtype_of(own.values()), writers)
        self._rows += n_rows
        return Table(values, self.features)

    def notices(self) -> tuple[str, ...]:
        """Return a sentence for each column with unknown categories so far."""
        return tuple(
            f"Column '{shown(name)}' holds categories that the model does not know, such as '{shown(unseen.example)}', in "
            f"{unseen.rows:,} rows; they count as missing."
            for name, unseen in self._unseen.items()
        )

    def _write(self, feature: Feature, column: "pyarrow.ChunkedArray", out: FloatVector) -> None:
        """Write a column into `out` as the feature that it is."""
        from pyarrow import types  # noqa: PLC0415 - heavy imports happen when used

        if types.is_null(column.type):
            out[:] = np.nan
        elif feature.kind == "categorical":
            self._write_codes(feature, column, out)
        elif is_text(column.type):
            self._write_values(feature, self._parse(feature, plain(column)), out)
        else:
            self._write_values(feature, column, out)

    def _write_codes(self, feature: Feature, column: "pyarrow.ChunkedArray", out: FloatVector) -> None:
        values, codes = distinct(feature.name, column)
        find = _finder(feature.categories, plain(column).type)
        known = np.array([*(find(text) for text in values.to_pylist()), np.nan])  # the last one is for -1
        out[:] = known[codes]
        missing = np.array([*(text in MISSING for text in values.to_pylist()), True])
        unseen = np.flatnonzero(np.isnan(out) & ~missing[codes])
        if unseen.size:
            example = values[codes[unseen[0]]].as_py()
            self._unseen.setdefault(feature.name, _Unseen(0, example)).rows += len(unseen)

    def _parse(self, feature: Feature, column: "pyarrow.ChunkedArray") -> "pyarrow.ChunkedArray":
        """Return text as values of the type that the feature has."""
        from pyarrow import ArrowInvalid, array, compute, scalar  # noqa: PLC0415

        trimmed = compute.utf8_trim_whitespace(column)
        missing = compute.is_in(trimmed, value_set=array(MISSING, trimmed.type))
        trimmed = compute.if_else(missing, scalar(None, trimmed.type), trimmed)
        kinds = _types_of_text(feature.kind)
        for kind in kinds:
            try:
                return trimmed.cast(kind)
            except ArrowInvalid:
                continue
        row = _first_misfit(trimmed, kinds)
        raise self._wrong_value(feature, row, column[row].as_py())

    def _write_values(self, feature: Feature, column: "pyarrow.ChunkedArray", out: FloatVector) -> None:
        from pyarrow import types  # noqa: PLC0415

        kind = column.type
        if types.is_temporal(kind) and not types.is_interval(kind):
            if is_dated(kind) != (feature.kind == "date") or feature.kind == "boolean":
                raise self._wrong_type(feature, column)
            write_days(column, out)
        elif types.is_boolean(kind) or is_number(kind):
            if feature.kind == "date":
                raise self._wrong_type(feature, column)
            write_numbers(column.cast("uint8") if types.is_boolean(kind) else column, out)
            check_finite(feature.name, out, self._rows)
            if feature.kind == "boolean":
                self._check_flags(feature, out)
        else:
            raise no_feature(feature.name, kind)

    def _check_flags(self, feature: Feature, values: FloatVector) -> None:
        wrong = np.flatnonzero(~(np.isnan(values) | (values == 0) | (values == 1)))
        if wrong.size:
            raise self._wrong_value(feature, int(wrong[0]), f"{values[wrong[0]]:g}")

    def _wrong_type(self, feature: Feature, column: "pyarrow.ChunkedArray") -> DataError:
        row = next((i for i, value in enumerate(column) if value.is_valid), 0)
        return self._wrong_value(feature, row, column[row].as_py())

    def _wrong_value(self, feature: Feature, row: int, value: object) -> DataError:
        return DataError(
            f"Column '{shown(feature.name)}' holds '{shown(str(value))}' in row {self._rows + row + 1}; the model was "
            f"trained on {_EXPECTED[feature.kind]}."
        )


def check_present(names: Mapping[str, object] | tuple[str, ...], features: tuple[Feature, ...]) -> None:
    """Raise `DataError` for the first feature that has no column of its name."""
    missing = [feature.name for feature in features if feature.name not in names]
    if missing:
        more = f" ({len(missing)} of the model's {len(features)} columns are missing)" if missing[1:] else ""
        raise DataError(
            f"There is no column '{shown(missing[0])}', which the model was trained on{more}."
            + suggestion(missing[0], names)
        )


def _finder(categories: tuple[str, ...], kind: "pyarrow.DataType") -> Any:
    """Return a function from a text to its code, or NaN: by the text and, for a column of another type, by its value.

    A column whose texts are all digits is read as numbers: 7 is then '007', if no other category is 7.
    """
    by_text = {text: float(code) for code, text in enumerate(categories)}
    if is_text(kind):
        return lambda text: by_text.get(text, np.nan)
    by_value: dict[Any, float] = {}
    for text, code in by_text.items():
        value = _value(text)
        by_value[value] = np.nan if value in by_value else code
    return lambda text: by_text.get(text, by_value.get(_value(text), np.nan))


def _value(text: str) -> float | str:
    """Return a text as a number if it is one, else in lower case: true is True."""
    try:
        number = float(text)
    except ValueError:
        return text.lower()
    return text.lower() if np.isnan(number) else number


def _types_of_text(kind: FeatureKind) -> tuple["pyarrow.DataType", ...]:
    """Return the types that text may be read as for a kind of feature; the first that fits the whole column counts."""
    from pyarrow import bool_, float64, timestamp  # noqa: PLC0415

    if kind == "date":
        zones = (None, "UTC")  # with an offset from UTC, or without
        return tuple(timestamp(unit, zone) for zone in zones for unit in ("s", "ns", "us"))
    return (bool_(), float64()) if kind == "boolean" else (float64(),)


def _first_misfit(column: "pyarrow.ChunkedArray", kinds: tuple["pyarrow.DataType", ...]) -> int:
    """Return the first row that has none of these types or, if each row has one of them, not the first type."""
    for allowed in (kinds, kinds[:1]):
        for row, value in enumerate(column):
            if value.is_valid and not any(_can_be(value, kind) for kind in allowed):
                return row
    raise AssertionError("one type fits all rows")


def _can_be(value: "pyarrow.Scalar", kind: "pyarrow.DataType") -> bool:
    from pyarrow import ArrowInvalid  # noqa: PLC0415

    try:
        value.cast(kind)
    except ArrowInvalid:
        return False
    return True

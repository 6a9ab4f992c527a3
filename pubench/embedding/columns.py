"""The columns that each feature is embedded as: a scaled one or one per category, and a flag for missing values.

The weights make a difference count the same in every kind of feature:

- numeric, date: scaled; two rows drawn at random are sqrt(2) apart, in root mean square.
- boolean: 0 and 1, so true and false are 1 apart. Standardised, a flag that is set in one row of 10,000 would put
  that row 100 apart from all others, and outweigh every other feature.
- categorical: 1/sqrt(2) in the column of its category, so any two categories are 1 apart.
- missing: the column's median, and 1 in the column `NAME is missing`, a flag like any boolean. A missing value is 1
  from the flag and about 1 from the spread, in squares, hence sqrt(2) away from a present one: as far as
  present ones are from each other. A missing category is a category of its own.

New cases that fitting did not see lie in the middle: a missing value of a feature without missing ones gets the median
and no flag; an unknown category counts as a rare one or, without rare ones, has 0 everywhere, which is 1/sqrt(2) from
each category. A feature that never varied has no scale and no column: it adds 0 to every distance.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench.embedding.scalings import (
    LIMIT,
    Affine,
    Scale,
    fit_scale,
    quantile_of,
    scale_from_json,
    scale_to_json,
)
from pubench.errors import DataError
from pubench.system.json_documents import Node
from pubench.types import Feature, IndexVector, Json

#: Two rows of different categories differ in two columns.
CATEGORY_WEIGHT = 1 / sqrt(2)
#: With more categories the rare ones share a column: each column makes a neighbour search slower, and hardly any two
#: rows agree in a rare category.
MAX_CATEGORIES = 50

#: Fills the columns of a feature for some rows: shapes (rows,) and (rows, number of columns).
Writer: TypeAlias = Callable[[npt.NDArray[Any], npt.NDArray[np.float32]], None]


class Column(ABC):
    """The columns that one feature is embedded as."""

    @abstractmethod
    def names(self, name: str) -> tuple[str, ...]:
        """Return the names of its columns for a feature of this name; empty if it has none."""

    @abstractmethod
    def writer(self, feature: Feature) -> Writer:
        """Return a writer of its columns for a table that describes the feature as `feature`."""


@dataclass(frozen=True, eq=False)
class NumericColumn(Column):
    """A number, date or flag.

    Attributes:
        scale: how it is scaled; None if it never varied.
        fill: the scaled value for a missing one.
        flags_missing: whether some of its values were missing, so that it has a flag.
    """

    scale: Scale | None
    fill: float
    flags_missing: bool

    def names(self, name: str) -> tuple[str, ...]:
        """Return the name itself, and that of the flag."""
        return (name,) * (self.scale is not None) + _flag(name, self.flags_missing)

    def writer(self, feature: Feature) -> Writer:  # noqa: ARG002 - only categories need it
        """Return a writer of the scaled value and of the flag."""
        return self._write

    def _write(self, values: npt.NDArray[Any], out: npt.NDArray[np.float32]) -> None:
        contiguous = values.astype(np.float64)
        missing = np.isnan(contiguous)
        if self.scale is not None:
            scaled = self.scale(contiguous)
            np.clip(scaled, -LIMIT, LIMIT, out=scaled)
            np.copyto(scaled, self.fill, where=missing)
            out[:, 0] = scaled
        if self.flags_missing:
            out[:, -1] = missing


@dataclass(frozen=True)
class CategoricalColumn(Column):
    """A category.

    Attributes:
        levels: the categories with a column each, by their text: codes may differ between tables.
        has_other: whether all others share a column.
        flags_missing: whether missing values have a column.
    """

    levels: tuple[str, ...]
    has_other: bool
    flags_missing: bool

    def names(self, name: str) -> tuple[str, ...]:
        """Return `NAME = LEVEL` for each level, and the columns of other and missing ones."""
        other = (f"{name} = other",) if self.has_other else ()
        return (*(f"{name} = {level}" for level in self.levels), *other, *_flag(name, self.flags_missing))

    def writer(self, feature: Feature) -> Writer:
        """Return a writer of one weight per row, in the column of its category."""
        position = {level: number for number, level in enumerate(self.levels)}
        unknown = len(self.levels) if self.has_other else -1
        missing = len(self.levels) + self.has_other if self.flags_missing else -1
        positions = np.array([*(position.get(text, unknown) for text in feature.categories), missing])

        def write(values: npt.NDArray[Any], out: npt.NDArray[np.float32]) -> None:
            columns = positions[_codes(values, feature)]
            rows = np.flatnonzero(columns >= 0)
            out[...] = 0
            out[rows, columns[rows]] = CATEGORY_WEIGHT

        return write


def fit_column(feature: Feature, values: npt.NDArray[Any], scaling: str) -> Column:
    """Fit the columns of a feature on all of its values: shape (n_rows,), NaN where missing."""
    if feature.kind == "categorical":
        return _fit_categories(feature, values)
    ordered = np.sort(values)  # missing ones come last
    n_present = int(np.searchsorted(ordered, np.nan))
    present = ordered[:n_present].astype(np.float64, copy=False)
    some_missing = 0 < n_present < len(values)
    if n_present == 0 or present[0] == present[-1]:
        return NumericColumn(None, 0.0, some_missing)
    try:
        scale = Affine(1.0, 0.0, 1.0, 0.0) if feature.kind == "boolean" else fit_scale(scaling, present)
    except DataError as error:
        raise DataError(f"Feature '{feature.name}': {error}") from None
    median = scale(np.array([quantile_of(present, 0.5)]))[0]
    return NumericColumn(scale, float(np.clip(median, -LIMIT, LIMIT)), some_missing)


def _fit_categories(feature: Feature, values: npt.NDArray[Any]) -> CategoricalColumn:
    *counts, missing = np.bincount(_codes(values, feature), minlength=len(feature.categories) + 1)
    seen = [code for code, count in enumerate(counts) if count]
    if len(seen) + (missing > 0) < 2:
        return CategoricalColumn((), has_other=False, flags_missing=False)
    has_other = len(seen) > MAX_CATEGORIES
    if has_other:  # of equally frequent ones the first: the result is deterministic
        seen = sorted(sorted(seen, key=lambda code: -counts[code])[: MAX_CATEGORIES - 1])
    return CategoricalColumn(
        tuple(feature.categories[code] for code in seen), has_other, flags_missing=bool(missing)
    )


def _codes(values: npt.NDArray[Any], feature: Feature) -> IndexVector:
    """Return the codes as indices of categories; the index after the last one stands for a missing value."""
    count = len(feature.categories)
    filled = np.where(np.isnan(values), count, values)
    wrong = (filled < 0) | (filled > count) | (filled != np.floor(filled)) | (values == count)
    if wrong.any():
        code = values[np.flatnonzero(wrong)[0]]
        raise DataError(
            f"Feature '{feature.name}' holds the code {code:g}, which is none of its {count} categories."
        )
    return filled.astype(np.int64)


def _flag(name: str, flags_missing: bool) -> tuple[str, ...]:
    return (f"{name} is missing",) if flags_missing else ()


def column_to_json(feature: Feature, column: Column) -> dict[str, Json]:
    """Return a feature and its fitted column as a JSON object."""
    described: dict[str, Json] = {"name": feature.name, "kind": feature.kind}
    match column:
        case CategoricalColumn(levels, has_other, flags_missing):
            return described | {
                "levels": list(levels), "has_other": has_other, "flags_missing": flags_missing
            }  # fmt: skip
        case NumericColumn(scale, fill, flags_missing):
            return described | {"scale": scale_to_json(scale), "fill": fill, "flags_missing": flags_missing}
        case _:
            raise TypeError(f"{type(column).__name__} has no form in JSON.")


def column_from_json(node: Node) -> tuple[Feature, Column]:
    """Return the feature and the fitted column that `column_to_json` wrote; raises `DataError` for anything else."""
    feature = Feature(node["name"].text(), node["kind"].feature_kind())
    flags_missing = node["flags_missing"].boolean()
    if feature.kind != "categorical":
        scale = node["scale"].optional(scale_from_json)
        return feature, NumericColumn(scale, node["fill"].number(), flags_missing)
    levels = tuple(item.text() for item in node["levels"].items())
    if len(set(levels)) != len(levels):
        raise node["levels"].error("list without repetition")
    return feature, CategoricalColumn(levels, node["has_other"].boolean(), flags_missing)

"""What each feature becomes: one scaled column or one column per category, and a flag where values are missing.

The weights make one disagreement count alike in every kind:

- numeric, date: scaled; two rows drawn at random are sqrt(2) apart, in root mean square.
- boolean: 0 and 1, so true and false are 1 apart. Standardised, a flag set in one row of 10,000 would put those
  rows 100 apart from all others, and drown every other feature.
- categorical: 1/sqrt(2) in the column of its category, so any two categories are 1 apart.
- missing: the column's median, and 1 in the column `NAME is missing`, a flag like any boolean. A missing value is 1
  from the flag and about 1 from the spread, in squares, hence sqrt(2) away from a present one: as far as
  present ones are from each other. A missing category is a category of its own.

What fitting could not see is placed in the middle: a value missing where none was gets the median and no flag; a
category that was not there belongs to the rare ones, or where none are set aside, has 0 everywhere. That is 1/sqrt(2)
from each category. What never varied has no scale, and no column: it adds 0 to every distance.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench.embedding.scalings import LIMIT, Affine, Scale, fit_scale, quantile_of
from pubench.errors import DataError
from pubench.types import Feature, IndexVector

#: Two rows of different categories differ in two columns.
CATEGORY_WEIGHT = 1 / sqrt(2)
#: With more categories the rare ones share a column: beyond this a neighbour search pays for each column and hardly
#: any two rows agree in a rare category anyway.
MAX_CATEGORIES = 50

#: Takes some rows of a feature and fills its columns for them: shapes (rows,) and (rows, number of its columns).
Writer: TypeAlias = Callable[[npt.NDArray[Any], npt.NDArray[np.float32]], None]


class Column(ABC):
    """What one feature became."""

    @abstractmethod
    def names(self, name: str) -> tuple[str, ...]:
        """Return what its columns are called where the feature is called `name`; empty if it has none."""

    @abstractmethod
    def writer(self, feature: Feature) -> Writer:
        """Return what fills its columns for a table in which it is described by `feature`."""


@dataclass(frozen=True, eq=False)
class NumericColumn(Column):
    """A number, date or flag.

    Attributes:
        scale: how it is scaled; None where it never varied.
        fill: what stands for a missing value, scaled.
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
        levels: the categories that have a column each, by their text: codes may differ from table to table.
        has_other: whether all others share a column.
        flags_missing: whether missing values have one.
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
            found = positions[_codes(values, feature)]
            rows = np.flatnonzero(found >= 0)
            out[...] = 0
            out[rows, found[rows]] = CATEGORY_WEIGHT

        return write


def fit_column(feature: Feature, values: npt.NDArray[Any], scaling: str) -> Column:
    """Decide what a feature becomes, from all of its values: shape (n_rows,), NaN where missing."""
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
    if has_other:  # of equally frequent ones the first, so that the outcome is certain
        seen = sorted(sorted(seen, key=lambda code: -counts[code])[: MAX_CATEGORIES - 1])
    return CategoricalColumn(
        tuple(feature.categories[code] for code in seen), has_other, flags_missing=bool(missing)
    )


def _codes(values: npt.NDArray[Any], feature: Feature) -> IndexVector:
    """Return the codes as row numbers into the categories; one behind the last stands for a missing one."""
    count = len(feature.categories)
    filled = np.where(np.isnan(values), count, values)
    wrong = (filled < 0) | (filled > count) | (filled != np.floor(filled)) | (values == count)
    if wrong.any():
        code = values[np.flatnonzero(wrong)[0]]
        raise DataError(
            f"Feature '{feature.name}' holds the code {code:g}, which is none of its {count} categories."
        )
    return filled.astype(np.int64)


def _flag(name: str, wanted: bool) -> tuple[str, ...]:
    return (f"{name} is missing",) if wanted else ()

"""Notices: what the user should know about a table before learning from it, checked column by column."""

import shlex
from collections import defaultdict
from typing import Literal, TypeAlias

import numpy as np

from pubench.errors import shown
from pubench.types import BoolVector, FloatVector

#: Kinds of notices that are given once for all the columns they apply to.
Common: TypeAlias = Literal["date", "time", "empty", "constant"]

_COMMON: dict[Common, str] = {
    "date": "Dates became days since 1970-01-01: {}.",
    "time": "Times became days: {}.",
    "empty": "Left out because no row has a value: {}.",
    "constant": "The same in every row, so of no use to a model: {}.",
}
#: In a table of fewer rows, numbers that all differ or are consecutive may still be no identifier.
_FEW_ROWS = 10
#: In a table of at least this many rows, whole numbers that all differ are an identifier even with gaps.
_MANY_ROWS = 10_000
_ALMOST_ALL = 0.9
_PROBE_ROWS = 100


class Notices:
    """Collects notices; a column without problems adds none.

    Args:
        labelled: shape (n_rows,), the labels, to find a feature that repeats them; None without labels.
    """

    def __init__(self, labelled: BoolVector | None = None) -> None:
        self._labelled = labelled
        self._common: defaultdict[Common, list[str]] = defaultdict(list)
        self._own: list[str] = []

    def add(self, kind: Common, name: str) -> None:
        """Add a column to the notice of this kind."""
        self._common[kind].append(name)

    def check_values(self, name: str, values: FloatVector) -> None:
        """Add a notice if the encoded values of a column are constant or repeat the label."""
        if values[0] == values[-1] and np.all(values == values[0]):
            self.add("constant", name)
        elif self._labelled is not None and _repeats(values, self._labelled):
            self._own.append(
                f"Column '{shown(name)}' looks like the label itself; drop it with {_option('drop', name)}."
            )

    def check_whole_numbers(self, name: str, values: FloatVector) -> None:
        """Add a notice if a column of whole numbers looks like an identifier."""
        if _is_row_number(values):
            self._identifier(name)

    def check_categories(self, name: str, n_categories: int, n_rows: int) -> None:
        """Add a notice if a categorical column looks like an identifier."""
        if n_rows >= _FEW_ROWS and n_categories > _ALMOST_ALL * n_rows:
            self._identifier(name)

    def check_mixed_text(self, name: str, odd: tuple[str, int], numbers: int, present: int) -> None:
        """Add a notice about `odd`, a text and its row, if nearly all of the `present` values are numbers."""
        if _ALMOST_ALL * present <= numbers < present:
            self._own.append(
                f"Column '{shown(name)}' is taken as categories because of '{shown(odd[0])}' in row {odd[1]}, although "
                f"{numbers} of its {present} values are numbers; leave such fields empty if they mean missing."
            )

    def add_numbers_as_text(self, name: str) -> None:
        """Add a notice about a column of text that holds nothing but numbers."""
        self._own.append(
            f"Column '{shown(name)}' holds numbers that are stored as text and is taken as categories; store them as "
            "numbers if they are amounts."
        )

    def add_dates_as_text(self, name: str, example: str) -> None:
        """Add a notice about a column of text that holds dates in a form that is not recognised."""
        self._own.append(
            f"Column '{shown(name)}' is taken as categories though it looks like dates ('{shown(example)}'); write them "
            "as 2024-12-31 to have them as days."
        )

    def _identifier(self, name: str) -> None:
        self._own.append(
            f"Column '{shown(name)}' looks like an identifier, with a value of its own in each row; set it aside with "
            f"{_option('id', name)} or drop it with {_option('drop', name)}."
        )

    def sentences(self) -> tuple[str, ...]:
        """Return the notices, a sentence each."""
        common = (
            sentence.format(_listed(self._common[kind]))
            for kind, sentence in _COMMON.items()
            if self._common[kind]
        )
        return (*self._own, *common)


def _option(option: str, name: str) -> str:
    return f"--{option} {shlex.quote(shown(name))}"


def _listed(names: list[str]) -> str:
    first = ", ".join(f"'{shown(name)}'" for name in names[:10])
    return first if len(names) <= 10 else f"{first} and {len(names) - 10} more"


def _is_row_number(values: FloatVector) -> bool:
    """Whether whole numbers count the rows, in any order, or all differ in a table too long for that to be chance."""
    rows = len(values)
    if rows < _FEW_ROWS or not _all_differ(values[:1000]):  # decides nearly every column, and is cheap
        return False
    counts = values.max() - values.min() == rows - 1
    return bool(counts or rows >= _MANY_ROWS) and _all_differ(values)


def _all_differ(values: FloatVector) -> bool:
    return len(np.unique(values)) == len(values)


def _repeats(values: FloatVector, labelled: BoolVector) -> bool:
    inside = values[labelled]
    probe = values[:_PROBE_ROWS][~labelled[:_PROBE_ROWS]]  # decides nearly every column, and is cheap
    return (probe.size == 0 or _separates(inside, probe)) and _separates(inside, values[~labelled])


def _separates(inside: FloatVector, outside: FloatVector) -> bool:
    """Whether each group has one value and these differ, or all values of exactly one group are missing."""
    absent, other_absent = np.isnan(inside), np.isnan(outside)
    if absent.any() != absent.all() or other_absent.any() != other_absent.all():
        return False
    if absent[0] or other_absent[0]:
        return bool(absent[0] != other_absent[0])
    return bool(inside[0] != outside[0] and np.all(inside == inside[0]) and np.all(outside == outside[0]))

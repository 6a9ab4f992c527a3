"""Turns text into codes of categories, and says so where it looks like numbers or dates written another way."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pubench.data.columns import plain
from pubench.data.files import shown
from pubench.data.notices import Notices
from pubench.errors import DataError
from pubench.types import Feature, FloatVector

if TYPE_CHECKING:
    import pyarrow

_NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"
_COMMA_NUMBER = r"^\s*[-+]?(\d+|\d{1,3}(\.\d{3})+),\d+\s*$"
_DATE = r"^\s*(\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}[./]\d{1,2}[./]\d{1,2})(\D.*)?$"


def encode_text(name: str, column: "pyarrow.ChunkedArray", out: FloatVector, notices: Notices) -> Feature:
    """Write a column of text, or of what pandas stored as categories, into `out` as codes into its sorted values.

    Only values that occur are categories. A missing value is NaN.

    Raises:
        DataError: the column holds what can not be text, or numbers with a decimal comma.
    """
    from pyarrow import compute, types  # noqa: PLC0415 - heavy imports happen when used

    values, codes = distinct(name, column)
    if not types.is_dictionary(column.type):
        _check_commas(name, values, codes)
        _look_at(name, values, codes, notices)
    order = compute.sort_indices(values)
    rank = np.full(len(order) + 1, np.nan)  # the code -1 points at the last one
    rank[order.to_numpy()] = np.arange(len(order))
    out[:] = rank[codes]
    notices.look_at_categories(name, len(values), len(codes))
    return Feature(name, "categorical", tuple(values.take(order).to_pylist()))


def distinct(
    name: str, column: "pyarrow.ChunkedArray"
) -> tuple["pyarrow.LargeStringArray", npt.NDArray[np.int32]]:
    """Return the values of a column as text, each once, and for each row which one it has, or -1."""
    import pyarrow  # noqa: PLC0415

    try:
        text = plain(column).cast(pyarrow.large_string())
    except pyarrow.ArrowException:
        raise no_feature(name, column.type) from None
    encoded = text.dictionary_encode().combine_chunks()
    return encoded.dictionary, encoded.indices.fill_null(-1).to_numpy()


def no_feature(name: str, kind: object) -> DataError:
    """Return the error for a column of a type that no feature can have."""
    return DataError(
        f"Column '{shown(name)}' holds {shown(str(kind))}, which can not be a feature; leave it out with --drop."
    )


def _check_commas(name: str, values: "pyarrow.Array", codes: npt.NDArray[np.int32]) -> None:
    comma = _matches(values, _COMMA_NUMBER)
    if comma.any() and np.all(comma | _matches(values, _NUMBER)):
        row = int(np.flatnonzero(np.append(comma, False)[codes])[0])
        raise DataError(
            f"Column '{shown(name)}' writes numbers with a comma ('{shown(values[codes[row]].as_py())}' in row "
            f"{row + 1}); write decimals with a point and leave thousands unmarked, or leave it out with --drop."
        )


def _look_at(name: str, values: "pyarrow.Array", codes: npt.NDArray[np.int32], notices: Notices) -> None:
    if not len(values):
        return
    if _matches(values, _DATE).all():
        notices.dates_as_text(name, values[0].as_py())
        return
    number = _matches(values, _NUMBER)
    if number.all():
        notices.numbers_as_text(name)
        return
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    odd = int(np.argmax(np.where(number, -1, counts)))
    row = int(np.flatnonzero(codes == odd)[0]) + 1
    notices.look_at_odd_text(name, (values[odd].as_py(), row), int(counts[number].sum()), int(counts.sum()))


def _matches(values: "pyarrow.Array", pattern: str) -> npt.NDArray[np.bool_]:
    from pyarrow import compute  # noqa: PLC0415

    matches = compute.match_substring_regex(values, pattern).to_numpy(zero_copy_only=False)
    return np.asarray(matches, dtype=np.bool_)

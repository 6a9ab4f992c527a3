"""The numerical core: placements of the labelled positives among all rows.

The placement of a labelled positive is the share of rows it scores above, ties counted half and itself included:
(rows below + tied rows / 2) / n. Every figure of this package is made of placements, and only the few labelled
positives have one; so all scores are sorted once, as plain numbers, and nothing is ranked row by row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench.errors import DataError
from pubench.types import BoolVector, FloatVector, IndexVector

Label: TypeAlias = str | int | float | bool
Vector: TypeAlias = npt.NDArray[Any]


def check_labels(labels: npt.ArrayLike, pos_label: Label | None = None, name: str = "s") -> BoolVector:
    """Return True for each positive; refuse anything but two values with at least one row of each.

    Args:
        labels: shape (n,): bool, 0/1 or -1/1; or any two values when `pos_label` says which is the positive one.
        pos_label: the value that marks a positive. None: True or 1.
        name: what the caller calls the labels, for the error message.

    Raises:
        DataError: the labels are not as described.
    """
    values = _one_dimensional(labels, name)
    positive = _positives(values, pos_label, name)
    count = int(np.count_nonzero(positive))
    if count == 0:
        raise DataError(f"No row of {name} is labelled positive; at least one is needed.")
    if count == len(positive):
        raise DataError(f"Every row of {name} is labelled positive; rows without the label are needed too.")
    return positive


def check_scores(scores: npt.ArrayLike, name: str = "scores") -> Vector:
    """Return the scores as a numeric vector of shape (n,), float32 kept as it is; infinite scores have an order.

    Raises:
        DataError: not one-dimensional, not numbers, or NaN; names the first bad row, counted from 0.
    """
    values = _one_dimensional(scores, name)
    if values.dtype.kind in "OUS":
        values = _parsed(values, name)
    if values.dtype.kind not in "biuf":
        raise DataError(f"{name} must be numbers; row 0 holds {values[:1].tolist()[0]!r}.")
    if values.dtype.itemsize == 1 or values.dtype == np.float16:
        values = values.astype(
            np.float32
        )  # searchsorted and sort are slow or undefined on the smallest types
    if values.dtype.kind == "f":
        _refuse_first(np.isnan(values), f"{name} must not be NaN", values)
    return values


def check_weights(weights: npt.ArrayLike, name: str = "sample_weight") -> FloatVector:
    """Return the weights as float64 of shape (n,): finite and not negative.

    Raises:
        DataError: the weights are not as described; names the first bad row.
    """
    values = check_scores(weights, name).astype(np.float64)
    _refuse_first(~(np.isfinite(values) & (values >= 0)), f"{name} must be finite and not negative", values)
    return values


def check_same_length(**vectors: Vector) -> None:
    """Refuse vectors of different lengths.

    Raises:
        DataError: names the two that differ.
    """
    (first, reference), *others = vectors.items()
    for name, vector in others:
        if len(vector) != len(reference):
            raise DataError(f"{first} has {len(reference)} rows but {name} has {len(vector)}.")


@dataclass(frozen=True, eq=False)
class Placed:
    """The labelled positives among all rows, in ascending order of score.

    Attributes:
        ordered: shape (n,), the scores of all rows, ascending.
        positives: shape (n_labelled,), the scores of the labelled positives, ascending.
        first: shape (n_labelled,), where in `ordered` the rows tied with each positive begin.
        last: shape (n_labelled,), where they end; ``last - first`` is at least 1, the positive itself.
        weight: shape (n_labelled,), the weight of each positive; ones when rows are unweighted.
        cumulative: shape (n + 1,), the weight of the first i rows of `ordered`; None when rows are unweighted.
    """

    ordered: Vector
    positives: Vector
    first: IndexVector
    last: IndexVector
    weight: FloatVector
    cumulative: FloatVector | None = None

    @property
    def n_labelled(self) -> int:
        """Number of labelled positives."""
        return len(self.positives)

    @property
    def n_unlabeled(self) -> int:
        """Number of unlabeled rows."""
        return len(self.ordered) - len(self.positives)

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.weight_below(np.array([len(self.ordered)]))[0])

    def weight_below(self, index: IndexVector) -> FloatVector:
        """Return the weight of the rows that stand before each index of `ordered`."""
        return index.astype(np.float64) if self.cumulative is None else self.cumulative[index]

    @property
    def wins(self) -> FloatVector:
        """Shape (n_labelled,): weight of the rows each positive scores above, ties half, itself included."""
        return (self.weight_below(self.first) + self.weight_below(self.last)) / 2

    @property
    def mean_placement(self) -> float:
        """AUL_PU: the weighted mean of wins over the weight of all rows, divided once to stay exact."""
        return float(np.dot(self.weight, self.wins) / (self.weight.sum() * self.total))


def place(positive: BoolVector, scores: Vector, weights: FloatVector | None = None) -> Placed:
    """Find the labelled positives among all rows in O(n log n), with vectorised sorting when there are no weights."""
    if weights is None:
        own = np.sort(scores[positive])
        return _placed(np.sort(scores), own, np.ones(len(own)))
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    ordered_positive = positive[order]
    weight = weights[order]
    cumulative = np.concatenate([[0.0], np.cumsum(weight)])
    return _placed(ordered, ordered[ordered_positive], weight[ordered_positive], cumulative)


def share_below(reference: Vector, values: Vector) -> FloatVector:
    """Return, for each of the values, the share of `reference` that lies below it, ties half."""
    ordered = np.sort(reference)
    below = np.searchsorted(ordered, values, side="left")
    through = np.searchsorted(ordered, values, side="right")
    return np.asarray((below + through) / (2 * len(ordered)))


def check_and_place(
    labels: npt.ArrayLike,
    scores: npt.ArrayLike,
    pos_label: Label | None = None,
    sample_weight: npt.ArrayLike | None = None,
    name: str = "s",
) -> Placed:
    """Check the arguments that every measure takes, then `place`.

    Raises:
        DataError: one sentence on what is wrong and in which row.
    """
    positive = check_labels(labels, pos_label, name)
    values = check_scores(scores)
    check_same_length(**{name: positive, "scores": values})
    if sample_weight is None:
        return place(positive, values)
    weights = check_weights(sample_weight)
    check_same_length(**{name: positive, "sample_weight": weights})
    for side, members in (("positives", positive), ("remaining rows", ~positive)):
        if weights[members].sum() == 0:
            raise DataError(f"The weights of the {side} are all zero; at least one must count.")
    return place(positive, values, weights)


def _placed(
    ordered: Vector, positives: Vector, weight: FloatVector, cumulative: FloatVector | None = None
) -> Placed:
    first = np.searchsorted(ordered, positives, side="left").astype(np.int64)
    last = np.searchsorted(ordered, positives, side="right").astype(np.int64)
    return Placed(ordered, positives, first, last, weight, cumulative)


def _one_dimensional(values: npt.ArrayLike, name: str) -> Vector:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise DataError(f"{name} must be one-dimensional; its rows differ in length.") from error
    if array.ndim != 1:
        raise DataError(f"{name} must be one-dimensional; it has shape {array.shape}.")
    if len(array) == 0:
        raise DataError(f"{name} has no rows.")
    return array


def _positives(values: Vector, pos_label: Label | None, name: str) -> BoolVector:
    if values.dtype == np.bool_ and pos_label is None:
        return values
    if values.dtype.kind == "O":
        missing = np.fromiter((_is_missing(value) for value in values), dtype=np.bool_, count=len(values))
        _refuse_first(missing, f"{name} must not be missing", values)
    positive = _equal(values, 1 if pos_label is None else pos_label)
    others = (0, -1) if pos_label is None else (values[int(np.argmin(positive))],)
    stray = [~(positive | _equal(values, other)) for other in others]
    if all(rows.any() for rows in stray):
        row = int(np.argmax(min(stray, key=np.count_nonzero)))
        expected = "bool, 0/1 or -1/1, or two values with pos_label" if pos_label is None else "two values"
        raise DataError(
            f"{name} must hold {expected}; row {row} holds {values[row : row + 1].tolist()[0]!r}."
        )
    return positive


def _equal(values: Vector, value: object) -> BoolVector:
    return np.broadcast_to(np.asarray(values == value, dtype=np.bool_), values.shape)


def _is_missing(value: object) -> bool:
    try:
        return value is None or bool(value != value)  # noqa: PLR0124  NaN is what differs from itself
    except TypeError:  # pandas.NA has no truth value
        return True


def _parsed(values: Vector, name: str) -> FloatVector:
    numbers = np.empty(len(values))
    for row, value in enumerate(values.tolist()):
        try:
            numbers[row] = float(value)
        except (TypeError, ValueError) as error:
            raise DataError(f"{name} must be numbers; row {row} holds {value!r}.") from error
    return numbers


def _refuse_first(bad: BoolVector, rule: str, values: Sequence[Any] | Vector) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(f"{rule}; row {row} holds {values[row]}.")

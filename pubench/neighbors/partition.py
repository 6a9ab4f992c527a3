"""Rows as points: rotated so that the first coordinates vary most, rounded to float32, ordered by nearness."""

import math
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pubench.errors import DataError
from pubench.neighbors.candidates import Bounds
from pubench.neighbors.compilation import kernel
from pubench.neighbors.leaf_codes import LEAF, UNIT, WIDTH
from pubench.types import FloatMatrix, FloatVector, IndexVector

Points = npt.NDArray[np.float32]

#: Values in the sample from which middle and axes are computed.
_SAMPLED = 1_600_000
#: Rows in the sample from which the median is computed.
_ENOUGH = 64
_BLOCK = 16_384
#: Beyond this many times the data's own scale, squares in float32 come near their largest number.
_OUTERMOST = 1e15
#: Squares of numbers outside of these overflow or vanish in float64.
_SMALLEST, _LARGEST = 1e-140, 1e140
_NO_SPREAD = 2.0**-40


@dataclass(frozen=True, eq=False)
class Frame:
    """Where rows have their origin, and a factor, a power of 2, by which their squares neither overflow nor vanish.

    Attributes:
        middle: shape (n_features,).
        factor: what distances are multiplied by.
        largest: the largest absolute value among the rows.
    """

    middle: FloatVector
    factor: float
    largest: float

    @classmethod
    def around(cls, X: FloatMatrix) -> "Frame":
        """Find middle and spread on an even sample of the rows.

        The middle is the median: a single row far out would move the mean away from all others, and the farther rows are
        from it, the larger are their rounding errors.

        Raises:
            DataError: squares of the values are beyond float64.
        """
        largest = float(np.abs(X).max())
        refuse_extreme(largest)
        sample = _even_sample(X)
        columns = np.ascontiguousarray(sample[:: -(-len(sample) // _ENOUGH)].T)
        middle = np.partition(columns, columns.shape[1] // 2, axis=1)[:, columns.shape[1] // 2]
        sample = (sample - middle) / (largest or 1.0)
        spread = max(math.sqrt(np.square(sample).sum() / len(sample)), _NO_SPREAD) * (largest or 1.0)
        return cls(np.asarray(middle, dtype=np.float64), 2.0 ** -round(math.log2(spread)), largest)

    def of(self, X: FloatMatrix) -> FloatMatrix:
        """Return rows less the middle, times the factor, in float64."""
        return np.asarray((X - self.middle) * self.factor)


def refuse_extreme(largest: float) -> None:
    """Raise a DataError if squares of values up to `largest` are beyond float64."""
    if largest and not _SMALLEST < largest < _LARGEST:
        raise DataError(
            f"Values up to {largest:.3g} cannot be squared; scale them first, for instance by pubench.Embedding."
        )


def refuse_far(values: npt.NDArray[np.floating[Any]]) -> None:
    """Raise a DataError if one of the values in a frame is so far out that float32 cannot hold squares."""
    # What overflowed may be NaN, which is not within any bound.
    if len(values) and not -_OUTERMOST <= values.min() <= values.max() <= _OUTERMOST:
        raise DataError("A value is more than 1e15 times as far out as most; remove or transform it.")


@dataclass(frozen=True, eq=False)
class Rotation:
    """A change of coordinates that increases no distance, up to the factor of its frame.

    Attributes:
        frame: where the new coordinates have their origin, and their scale.
        axes: shape (n_features, at most WIDTH), orthonormal, along the largest variance.
        rounding: the error of a coordinate because the middle was subtracted from large numbers.
    """

    frame: Frame
    axes: npt.NDArray[np.float64]
    rounding: float

    @classmethod
    def along_variance(cls, X: FloatMatrix) -> "Rotation":
        """Find the principal axes on an even sample of the rows: any axes are right, these are fast.

        Raises:
            DataError: as `Frame` does.
        """
        frame = Frame.around(X)
        sample = frame.of(_even_sample(X))
        axes = np.linalg.eigh(sample.T @ sample)[1][:, ::-1][:, :WIDTH]
        rounding = 8 * 2.0**-53 * math.sqrt(X.shape[1]) * frame.largest * frame.factor
        return cls(frame, np.ascontiguousarray(axes), rounding)

    @property
    def bounds(self) -> Bounds:
        """How far squares can be off: two roundings per coordinate and a few more."""
        return Bounds(self.frame.factor**2, (WIDTH + 8) * UNIT, quick_blur(len(self.frame.middle)))

    def of(self, X: FloatMatrix) -> Points:
        """Return a few rows as points: shape (n_rows, WIDTH), float32, zeros where there are fewer axes."""
        points = np.zeros((len(X), WIDTH), dtype=np.float32)
        points[:, : self.axes.shape[1]] = self.frame.of(X) @ self.axes
        return points

    def points(self, X: FloatMatrix, pool: Executor) -> Points:
        """Return many rows as points.

        Raises:
            DataError: a value is so far from the rest that float32 cannot hold its square.
        """
        points = np.empty((len(X), WIDTH), dtype=np.float32)

        def fill(start: int) -> None:
            with np.errstate(over="ignore", invalid="ignore"):
                points[start : start + _BLOCK] = self.of(X[start : start + _BLOCK])
            refuse_far(points[start : start + _BLOCK])

        list(pool.map(fill, range(0, len(X), _BLOCK)))
        return points

    def errors(self, points: Points) -> FloatVector:
        """Return, per point, the error of a distance from it because coordinates are rounded.

        Of each coordinate c by UNIT |c| on either side; another point within distance r lies at most r farther out,
        which `bounds` has in its growth.
        """
        lengths = np.sqrt(np.einsum("ij,ij->i", points, points, dtype=np.float64))
        return np.asarray(2.02 * UNIT * lengths + self.rounding + 1e-18, dtype=np.float64)


def quick_blur(columns: int) -> float:
    """Return the relative error of a square whose sum over this number of columns was taken in another order."""
    return 4 * (columns + 4) * 2.0**-53


def _even_sample(X: FloatMatrix) -> FloatMatrix:
    return np.asarray(X[:: max(1, X.size // _SAMPLED)], dtype=np.float64)


@kernel()
def _divide(points: Any, order: Any, leaves: int, weights: Any) -> None:
    """Reorder `order` so that each run of `LEAF` points lies together: halve along the widest coordinate, repeat."""
    starts, sizes, counts = [0], [len(order)], [leaves]
    while len(starts) > 0:
        start, size, count = starts.pop(), sizes.pop(), counts.pop()
        if count < 2:
            continue
        here = order[start : start + size]
        middle = count // 2 * LEAF
        order[start : start + size] = _halve(points, here, middle, weights)
        starts.append(start)
        sizes.append(middle)
        counts.append(count // 2)
        starts.append(start + middle)
        sizes.append(size - middle)
        counts.append(count - count // 2)


@kernel()
def _halve(points: Any, rows: Any, middle: int, weights: Any) -> Any:
    """Return the rows, the first `middle` of which lie to one side of the others along the widest coordinate.

    Both parts keep their order, and of equal rows the first ones go into the first part: where many rows are equal, those
    of small numbers, which stand before the others, are found together.
    """
    values = points[rows, _widest(points, rows, weights)]
    pivot = np.partition(values, middle)[middle]
    equal = middle - np.sum(values < pivot)
    parted = np.empty_like(rows)
    left, right = 0, middle
    for i in range(len(rows)):
        if values[i] < pivot or (values[i] == pivot and equal > 0):
            equal -= values[i] == pivot
            parted[left] = rows[i]
            left += 1
        else:
            parted[right] = rows[i]
            right += 1
    return parted


@kernel()
def _widest(points: Any, rows: Any, weights: Any) -> int:
    """Return the coordinate of the largest variance, times its weight, on an even sample of the rows."""
    return int(np.argmax(_spread(points, rows) * weights))


@kernel()
def _spread(points: Any, rows: Any) -> Any:
    """Return the variance of each coordinate on an even sample of the rows, times its size."""
    step = max(1, len(rows) // 1024)
    total, squares = np.zeros(WIDTH), np.zeros(WIDTH)
    sampled = 0
    for i in range(0, len(rows), step):
        sampled += 1
        for j in range(WIDTH):
            total[j] += points[rows[i], j]
            squares[j] += points[rows[i], j] ** 2
    return squares - total * total / sampled


def order_by_nearness(points: Points, pool: Executor) -> IndexVector:
    """Return the points in an order in which each run of `LEAF` lies together, in ascending order itself."""
    leaves = -(-len(points) // LEAF)
    order = np.arange(len(points))
    # Leaves that are thin where the rows are spread widest exclude each other best: 15% fewer touch a query's radius.
    weights = _spread(points, order) ** 2
    parts = [(0, len(points), leaves)]
    while len(parts) < 8 and leaves > 64:  # the first cuts one by one, then the parts side by side
        start, size, count = parts.pop(0)
        here = order[start : start + size]
        middle = count // 2 * LEAF
        order[start : start + size] = _halve(points, here, middle, weights)
        parts += [(start, middle, count // 2), (start + middle, size - middle, count - count // 2)]
    list(pool.map(lambda part: _divide(points, order[part[0] : part[0] + part[1]], part[2], weights), parts))
    return order

"""Blocked brute force: every row against every other by matrix products, for data in which nothing can be left out.

In very many dimensions all rows are about equally far; then points tell nothing, and products of blocks are the fastest
way to all distances. They only bound: what is close to a decision is decided by the exact distance, as everywhere.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pubench.neighbors.kernels import (
    Leaves,
    Lists,
    Products,
    Queries,
    Task,
    bound_products,
    count_products,
    empty_lists,
    final_ranks,
    list_products,
)
from pubench.types import FloatMatrix, FloatVector, IndexVector

#: Rows per block of products: with some hundred queries about what a second-level cache holds.
_BLOCK = 1024


@dataclass(frozen=True, eq=False)
class Centred:
    """The rows of some leaves less the mean, times a power of 2, and half their squared lengths.

    Attributes:
        leaves: where they come from.
        mean: shape (n_features,).
        factor: what they are multiplied by, so that squares neither overflow nor vanish.
        values: shape (slots, n_features), of the leaves' type.
        halves: shape (slots,), float64.
        rounding: how far a row can be off because the mean was subtracted from large numbers.
    """

    leaves: Leaves
    mean: FloatVector
    factor: float
    values: FloatMatrix
    halves: FloatVector
    rounding: float

    @classmethod
    def of(cls, leaves: Leaves, mean: FloatVector, factor: float) -> "Centred":
        """Subtract the mean and scale."""
        values = ((leaves.values - mean) * factor).astype(leaves.values.dtype)
        halves = np.einsum("ij,ij->i", values, values, dtype=np.float64) / 2
        rounding = 4 * 2.0**-53 * values.shape[1] ** 0.5 * float(np.abs(leaves.values).max()) * factor
        return cls(leaves, mean, factor, values, halves, rounding)

    def products(self, queries: Queries, start: int) -> Products:
        """Return the products of one block of rows; see `pubench.neighbors.kernels.Products`."""
        centred = ((queries.values - self.mean) * self.factor).astype(self.values.dtype)
        block = slice(start, start + _BLOCK)
        values = self.halves[block].astype(self.values.dtype) - centred @ self.values[block].T
        own = np.einsum("ij,ij->i", centred, centred, dtype=np.float64)
        # Rounding the differences from the mean moves a row by half a unit, like four more columns at most.
        unit = float(np.finfo(self.values.dtype).eps) / 2
        width, scale = self.values.shape[1] + 4, self.factor**2
        return Products(values, start, own, unit, width, self.rounding, scale)


def rank_by_products(
    held_out: npt.NDArray[np.uint64], queries: Queries, rows: Centred, positives: Centred, task: Task
) -> tuple[IndexVector, IndexVector, Any]:
    """Return what `pubench.neighbors.kernels.rank_positives` does, but for the number of rows looked at: all."""
    lists: Lists = empty_lists(held_out, queries, task)
    for start in range(0, len(positives.values), _BLOCK):
        list_products(positives.products(queries, start), queries, positives.leaves, lists)
    for start in range(0, len(rows.values), _BLOCK):
        products = rows.products(queries, start)
        if start == 0:
            bound_products(products, lists)
        count_products(held_out, products, queries, rows.leaves, task.k_max, lists)
    return lists.count, lists.rows, final_ranks(held_out, lists, task.k_max)

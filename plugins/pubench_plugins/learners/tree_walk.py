"""The walk of rows through trees, compiled once per machine; NumPy alone would take ten times as long per row."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from pubench import FloatVector, IndexVector

#: Rows that walk through one tree before the next tree: its nodes are then in the processor's cache.
_BLOCK_ROWS = 256


@njit(nogil=True, cache=True)  # safe: it is compiled of this file alone
def walk(values: npt.NDArray[Any], start: float, roots: IndexVector, nodes: Any) -> FloatVector:
    """Return `start` plus the values of the leaves that each row of `values` reaches, tree by tree: shape (n_rows,).

    `nodes` are the arrays of `TreeNodes` from `feature` to `value`.
    """
    feature, threshold, missing_left, left, right, value = nodes
    sums = np.full(len(values), start)
    for first in range(0, len(values), _BLOCK_ROWS):
        for root in roots:
            for row in range(first, min(first + _BLOCK_ROWS, len(values))):
                node = root
                while left[node] != node:
                    x = values[row, feature[node]]
                    goes_left = missing_left[node] == 1 if math.isnan(x) else x <= threshold[node]
                    node = left[node] if goes_left else right[node]
                sums[row] += value[node]
    return sums

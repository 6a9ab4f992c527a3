"""Rows on their way into a model that computes with matrices: embedded, and in blocks of one shape."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench import (
    DataError,
    Embedding,
    FittedEmbedding,
    FloatVector,
    NotApplicableError,
    Resources,
    Table,
    blas_threads,
)

Matrix: TypeAlias = npt.NDArray[Any]

#: Rows of a block: a multiple of what any BLAS works on at once, so that each row is summed in the same order. That is 24
#: rows with AVX-512, so that a power of 2 is none.
BLOCK_ROWS = 1152


def fit_embedding(X: Table) -> FittedEmbedding:
    """Return the standard embedding; raises `NotApplicableError` where no feature tells rows apart."""
    try:
        return Embedding("standard").fit(X)
    except DataError as error:
        raise NotApplicableError(str(error)) from error


def in_blocks(score: Callable[[Matrix], Matrix], values: Matrix, resources: Resources) -> FloatVector:
    """Return `score` of all rows of `values`, computed for `BLOCK_ROWS` of them at a time: shape (n_rows,), float64.

    BLAS adds in another order for another number of rows; so the last block is filled up with zeros, and each block is
    worked on by one thread. `score` takes (BLOCK_ROWS, n_columns) and returns (BLOCK_ROWS,).
    """
    result = np.empty(len(values))

    def work(start: int) -> None:
        block = values[start : start + BLOCK_ROWS]
        result[start : start + BLOCK_ROWS] = score(_filled_up(block))[: len(block)]

    with blas_threads(1), ThreadPoolExecutor(resources.n_threads) as pool:
        for _ in pool.map(work, range(0, len(values), BLOCK_ROWS)):
            pass
    return result


def _filled_up(block: Matrix) -> Matrix:
    if len(block) == BLOCK_ROWS:
        return block
    full = np.zeros((BLOCK_ROWS, block.shape[1]), dtype=block.dtype)
    full[: len(block)] = block
    return full

"""Builds leaves of codes: points that lie together, rounded to the grid of their cell, in the order that scans read them."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pubench.neighbors.leaf_codes import (
    BLOCKS,
    BLUNDER,
    CELL,
    HALF,
    LARGEST,
    LEAF,
    NEVER,
    SKETCH,
    WIDTH,
    Cells,
    Leaves,
)
from pubench.neighbors.partition import Points, order_by_nearness
from pubench.neighbors.simd import LANES, WORDS
from pubench.types import FloatMatrix, FloatVector, IndexVector

#: Half the width of a grid, in standard deviations of its widest coordinate: with fewer, rows would be cut off at its rim;
#: with more, its steps would be coarse. Anything between 2.5 and 4 took about as long on bank1 (benchmarks/neighbors.py).
_RIM = 3.0
#: Width of a normal distribution without the outermost half percent on each side, in standard deviations.
_ALL_BUT_OUTERMOST = 5.2
_SMALLEST_STEP = 1e-30
#: Points of a cell from which its grid is computed.
_SAMPLED = 1024


def build_leaves(X: FloatMatrix, points: Points, rows: IndexVector, pool: Executor) -> Leaves:
    """Return the `rows` of `X`, at least one, as leaves; `points` holds all rows of `X`."""
    points = points[rows] if len(rows) < len(points) else points
    order = order_by_nearness(points, pool)
    leaves = -(-len(order) // LEAF)
    # An empty slot repeats the last point, so that boxes stay as they are; `starts` keeps it out of every scan.
    order = np.concatenate([order, np.repeat(order[-1], leaves * LEAF - len(order))])
    halves = 1 if X.shape[1] <= HALF else 2
    codes = np.empty((leaves, halves, HALF * LEAF), dtype=np.uint8)
    starts = np.empty((leaves, halves, LEAF), dtype=np.int32)
    low, high = (np.empty((leaves, HALF), dtype=np.uint8) for _ in range(2))
    centres = np.empty((SKETCH, leaves), dtype=np.float32)

    def fill(first: int) -> tuple[_Grid, FloatVector, Points]:
        """Write the leaves of one cell, and return its grid, the errors of its rows and its centre."""
        here = slice(first, min(first + CELL, leaves))
        near = points[order[here.start * LEAF : here.stop * LEAF]]
        grid = _Grid.around(near)
        own, error = grid.codes(near)
        own = own.reshape(-1, LEAF, WIDTH)
        starts[here] = _half_squares(own)[:, :halves]
        low[here] = 128 - own[:, :, :HALF].max(axis=1).astype(np.int16)
        high[here] = 128 - own[:, :, :HALF].min(axis=1).astype(np.int16)
        codes[here] = _in_blocks((own.astype(np.int16) + 128).astype(np.uint8))[:, :halves]
        centres[:, here] = near[:, :SKETCH].reshape(-1, LEAF, SKETCH).mean(axis=1).T
        return grid, error, near[:, :SKETCH].mean(axis=0)

    grids, errors, middles = zip(*pool.map(fill, range(0, leaves, CELL)), strict=True)
    starts[-1, :, len(rows) - (leaves - 1) * LEAF :] = NEVER
    return Leaves(
        rows=np.where(np.arange(leaves * LEAF) < len(rows), rows[order], -2),
        values=X[rows[order]],
        codes=codes,
        starts=starts,
        low=low,
        high=high,
        centres=centres,
        cells=_cells(grids, np.stack(errors), np.stack(middles, axis=1)),
    )


@dataclass(frozen=True, eq=False)
class _Grid:
    """The box around some points, and a grid on it; see `pubench.neighbors.leaf_codes.Cells`."""

    low: Points
    high: Points
    origin: Points
    finer: np.float32

    @classmethod
    def around(cls, points: Points) -> "_Grid":
        """Lay a grid over the middle of the points: the wider it is, the coarser are its steps."""
        sample = np.sort(points[:: max(1, len(points) // _SAMPLED)], axis=0)
        # All but the outermost: a single point far out would make the steps coarse for all.
        low, origin, high = (
            sample[len(sample) // 200],
            sample[len(sample) // 2],
            sample[-1 - len(sample) // 200],
        )
        widest = float((high - low).max()) / _ALL_BUT_OUTERMOST or float(points.std(axis=0).max())
        step = max(_RIM * widest / LARGEST, _SMALLEST_STEP)
        return cls(points.min(axis=0), points.max(axis=0), origin, np.float32(1 / step))

    def codes(self, points: Points) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float64]]:
        """Return the codes of points, and the largest distance of a position from its code, in steps, by half and all coordinates."""
        positions = np.clip((points - self.origin) * self.finer, -LARGEST, LARGEST)
        nearest = np.rint(positions)
        positions -= nearest
        squares = (positions * positions).reshape(-1, 2, HALF).sum(axis=2).cumsum(axis=1)
        return nearest.astype(np.int8), np.sqrt(squares.max(axis=0).astype(np.float64)) + BLUNDER


def _cells(grids: Sequence[_Grid], error: FloatMatrix, centres: Points) -> Cells:
    return Cells(
        low=np.stack([grid.low for grid in grids]),
        high=np.stack([grid.high for grid in grids]),
        origin=np.stack([grid.origin for grid in grids]),
        finer=np.asarray([grid.finer for grid in grids]),
        error=error,
        centres=np.ascontiguousarray(centres),
    )


def _half_squares(codes: npt.NDArray[np.int8]) -> npt.NDArray[np.int32]:
    """Return half the squared lengths of the first half and of all of each code, rounded down: shape (leaves, 2, LEAF)."""
    squares = codes.astype(np.int32) ** 2
    lengths = squares.reshape(-1, LEAF, 2, HALF).sum(axis=3, dtype=np.int32).cumsum(axis=2, dtype=np.int32)
    return lengths.transpose(0, 2, 1) // 2


def _in_blocks(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Turn codes of shape (leaves, LEAF, WIDTH) into halves of blocks: for each word in turn, that of 16 rows."""
    words = codes.reshape(-1, BLOCKS, LANES, 2, WORDS, 4).transpose(0, 3, 1, 4, 2, 5)
    return words.reshape(-1, 2, HALF * LEAF)

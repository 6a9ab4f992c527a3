"""Leaves of codes, and queries on the grids of their cells.

What is searched are codes: the leading coordinates of the rows, rotated so that these vary most, rounded to float32,
which makes points of them, and then to the nearest position of a grid, in steps of a byte. Each cell, a number of
leaves, has a grid of its own, so that dense regions have a fine one. A code is never farther than its row by more than
the two roundings: `place_on_grid` gives the reason, `_reach` and `set_limits` the amount. So no row is left out by
mistake. Between codes all sums are of whole numbers, hence exact.
"""

from typing import Any, NamedTuple

import numpy as np

from pubench.neighbors.candidates import Bounds, Queries, SearchTask
from pubench.neighbors.compilation import kernel
from pubench.neighbors.simd import LANES, TOGETHER, WORDS

#: Points per leaf: half of their codes fill an eighth of a first-level cache.
LEAF = 128
BLOCKS = LEAF // LANES
#: Coordinates that a scan reads in one go.
HALF = 4 * WORDS
#: Coordinates of a point.
WIDTH = 2 * HALF
#: Coordinates by which leaves and cells are put in order.
SKETCH = 16
#: Leaves with a grid of their own.
CELL = 64
#: The largest code; the smallest is its negative, and rows have them plus 128, as unsigned bytes.
LARGEST = 127
#: What computing positions on a grid in float32 can add to their distance from the code, in steps.
BLUNDER = 1e-3
#: More than any sum of products of codes, for slots that never match.
NEVER = 2**30
#: Half a unit in the last place of float32: the relative error of one rounding.
UNIT = 2.0**-24
#: More than any square of a distance between points; see `pubench.neighbors.partition`.
FAR = 1e37
#: Number of distances that `order_by_distance` distinguishes.
BUCKETS = 512


class Cells(NamedTuple):
    """The grids of runs of `CELL` leaves: positions are (point - origin) / step, cut off at `LARGEST`; codes round them.

    Attributes:
        low, high: shape (cells, WIDTH), float32; the box around the points.
        origin: shape (cells, WIDTH), float32.
        finer: shape (cells,), float32; 1 / step.
        error: shape (cells, 2), float64; the largest distance of a row's position from its code, in steps, by half and by
            all coordinates.
        centres: shape (SKETCH, cells), float32; the means of the first coordinates.
    """

    low: Any
    high: Any
    origin: Any
    finer: Any
    error: Any
    centres: Any


class Leaves(NamedTuple):
    """Points in groups of `LEAF` that lie together; the last group is filled with empty slots, which never match.

    Attributes:
        rows: shape (leaves * LEAF,), int64; the row in each slot, ascending within a leaf; -2 in an empty slot.
        values: shape (leaves * LEAF, n_features); the rows as they were given, copied so that near ones are adjacent in memory.
        codes: shape (leaves, halves, HALF * LEAF), uint8; in blocks, see `pubench.neighbors.simd`. Where there are no more than HALF
            features, one half is all.
        starts: shape (leaves, halves, LEAF), int32; half the squared length of the codes, rounded down, of the first
            half and of all; NEVER in an empty slot.
        low, high: shape (leaves, HALF), uint8; the box around the negatives of the codes.
        centres: shape (SKETCH, leaves), float32; the means of the first coordinates.
        cells: their grids.
    """

    rows: Any
    values: Any
    codes: Any
    starts: Any
    low: Any
    high: Any
    centres: Any
    cells: Cells


class LeafWorkspace(NamedTuple):
    """Scratch memory of a search around n queries, allocated once: code without reference counts cannot allocate any.

    Attributes:
        radii: shape (n,); the square between points within which rows matter, below 0 where none does.
        share: shape (1,); a leaf is read if it is within this share of that square.
        cell: shape (n,); the cell whose grid the query is on, -1 for none; the following attributes refer to that cell.
        lane, query: shape (n,); the lane of a query whose radius touches the cell, and the query in a lane.
        codes: shape (n, WIDTH), int8; the negatives of the query's codes.
        words: the same as int32, shape (n, WIDTH / 4).
        turned: shape (WORDS, lanes), int32; the first half of them, unsigned, word by word and lane by lane.
        beyond: shape (n,); the square of the distance from the box of the cell that was entered last.
        errors: shape (2, n); distance of the position in the box from its code, in steps, by half and by all coordinates.
        lengths, totals: shape (2, n), int64; squared length and sum of the codes, of the first half and of all.
        within: shape (lanes,), int32; the square between codes within which a leaf is read, below 0 for none.
        limits: shape (2, n), int32; the limits of a scan of half and of all coordinates.
        touched, near: the queries that read a leaf, as bits of lanes and as a list.
        visited: shape (n, task.cells), uint64; a bit for each leaf of the nearest cells that a query has read.
        hits, pairs: the hits of a scan of the first half, a bit per row; pairs are the same, 64 bits at a time.
        blocks, found: the hits of a whole scan; see `pubench.neighbors.leaf_kernels._scan`.
        distances, ends, order: see `order_by_distance`.
        inspected: shape (1,); the number of rows that had to be read.
    """

    radii: Any
    share: Any
    cell: Any
    lane: Any
    query: Any
    codes: Any
    words: Any
    turned: Any
    beyond: Any
    errors: Any
    lengths: Any
    totals: Any
    within: Any
    limits: Any
    touched: Any
    visited: Any
    near: Any
    hits: Any
    pairs: Any
    blocks: Any
    found: Any
    distances: Any
    ends: Any
    order: Any
    inspected: Any


@kernel()
def new_workspace(queries: Queries, leaves: int, task: SearchTask) -> LeafWorkspace:
    """Return the scratch memory of a search of this number of leaves."""
    n = len(queries.rows)
    lanes = -(-n // LANES) * LANES
    codes, hits = np.zeros((n, WIDTH), np.int8), np.empty((n + TOGETHER) * BLOCKS, np.uint16)
    return LeafWorkspace(
        np.full(n, FAR),
        np.ones(1),
        np.full(n, -1),
        np.arange(n),
        np.empty(n, np.int64),
        codes,
        codes.view(np.int32),
        np.zeros((WORDS, lanes), np.int32),
        np.empty(n),
        np.empty((2, n)),
        np.empty((2, n), np.int64),
        np.empty((2, n), np.int64),
        np.full(lanes, -1, np.int32),
        np.empty((2, n), np.int32),
        np.empty(lanes // LANES, np.uint16),
        np.zeros((n, task.cells), np.uint64),
        np.empty(n + TOGETHER, np.int64),
        hits,
        hits.view(np.int64),
        np.empty(n * BLOCKS + 1, np.int64),
        np.empty(n * BLOCKS + 1, np.uint16),
        np.empty(leaves, np.float32),
        np.empty(BUCKETS + 1, np.int64),
        np.empty(leaves, np.int64),
        np.zeros(1, np.int64),
    )


@kernel(_nrt=False, forceinline=True)
def _reach(square: float, error: float, bounds: Bounds) -> float:
    """Return the largest square between the points of two rows whose square is at most this one."""
    return min(((np.sqrt(square * bounds.scale) + error) * (1 + bounds.growth)) ** 2, FAR)


@kernel(_nrt=False, fastmath=True)
def place_on_grid(i: int, cell: int, cells: Cells, point: Any, work: LeafWorkspace) -> None:
    """Write the codes of query i in a cell: those of the position of the cell's box that is nearest to it.

    A row x of the cell is farther from q than from that position p: |q - x|^2 >= |q - p|^2 + |p - x|^2, because the box
    is convex. Cutting off both at the rim of the grid does not increase their distance.
    """
    low, high, origin, finer = cells.low[cell], cells.high[cell], cells.origin[cell], cells.finer[cell]
    codes, largest = work.codes[i], np.float32(LARGEST)
    off, length, total = np.float32(0), np.float32(0), np.float32(0)  # whole numbers below 2**24 are exact
    for half in range(2):
        for j in range(half * HALF, (half + 1) * HALF):
            inside = min(max(point[j], low[j]), high[j])
            position = min(max((inside - origin[j]) * finer, -largest), largest)
            # Rounded by a cast, which is vectorised, unlike `rint`.
            nearest = np.float32(np.int32(position + np.float32(128.5))) - np.float32(128)
            off += (position - nearest) * (position - nearest)
            length += nearest * nearest
            total += nearest
            codes[j] = np.int8(-nearest)
        work.lengths[half, i], work.totals[half, i] = int(length), int(total)
        work.errors[half, i] = np.sqrt(off) + BLUNDER
    work.cell[i] = cell


@kernel(_nrt=False, forceinline=True)
def set_limits(i: int, cells: Cells, work: LeafWorkspace) -> None:
    """Turn the radius of query i into limits for codes of its cell.

    Codes are as far apart as their positions, but for the errors of both. |x - q|^2 <= R^2 is |x|^2 / 2 - q x <=
    (R^2 - |q|^2) / 2; a scan has -q instead of q, and x + 128 instead of x.
    """
    remaining = work.radii[i] - work.beyond[i]
    if remaining < 0:
        work.within[work.lane[i]] = -1
        work.limits[0, i] = work.limits[1, i] = -NEVER
        return
    cell = work.cell[i]
    radius = np.sqrt(remaining) * cells.finer[cell] * (1 + 4 * UNIT)
    for half in range(2):
        most = radius + work.errors[half, i] + cells.error[cell, half]
        square = int(min(most * most, NEVER / 4))
        work.limits[half, i] = ((square - work.lengths[half, i]) >> 1) - 128 * work.totals[half, i]
        if half == 0:
            work.within[work.lane[i]] = int(square * work.share[0])


@kernel(_nrt=False, forceinline=True)
def set_radius(
    i: int, square: float, queries: Queries, bounds: Bounds, cells: Cells, work: LeafWorkspace
) -> None:
    """Set the radius of query i to this square between rows; below 0: no row matters to it any more."""
    work.radii[i] = _reach(square, queries.errors[i], bounds) if square >= 0 else -1.0
    if work.cell[i] >= 0:
        set_limits(i, cells, work)


@kernel(_nrt=False, fastmath=True)
def square_to_box(cell: int, cells: Cells, point: Any) -> float:
    """Return the square of the distance from a point to the box of a cell, but for rounding never more."""
    low, high = cells.low[cell], cells.high[cell]
    total = np.float32(0)
    for j in range(WIDTH):
        gap = max(np.float32(0), low[j] - point[j], point[j] - high[j])
        total += gap * gap
    return np.float64(total) * (1 - 2 * WIDTH * UNIT)


@kernel(_nrt=False, fastmath=True)
def order_by_distance(centres: Any, point: Any, distances: Any, ends: Any, order: Any) -> None:
    """Write to `order` all leaves, or cells, roughly by the distance of their centres from a point, in linear time.

    `distances` and `ends` are scratch: float32, one per centre, and int64, `BUCKETS` + 1.
    """
    leaves = centres.shape[1]
    for leaf in range(leaves):
        distances[leaf] = 0
    for j in range(SKETCH):
        at, coordinates = point[j], centres[j]
        for leaf in range(leaves):
            distances[leaf] += (coordinates[leaf] - at) * (coordinates[leaf] - at)
    middle = np.float32(1e-30)
    for leaf in range(leaves):
        distances[leaf] = np.sqrt(distances[leaf])
        middle += distances[leaf] / leaves
    for bucket in range(BUCKETS + 1):
        ends[bucket] = 0
    for leaf in range(leaves):
        # Half of the buckets lie below the mean, however far the farthest leaf is.
        distances[leaf] *= (BUCKETS - 1) / (distances[leaf] + middle)
        ends[int(distances[leaf]) + 1] += 1
    for bucket in range(BUCKETS):
        ends[bucket + 1] += ends[bucket]
    for leaf in range(leaves):
        bucket = int(distances[leaf])
        order[ends[bucket]] = leaf
        ends[bucket] += 1

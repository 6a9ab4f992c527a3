"""The compiled search: the positives nearest to a row, and how many rows stand before each of them.

Ranks need no list of neighbours. The positives near a row cut the distances from it into intervals; counting the rows
in each interval gives the ranks. As counts grow, the far positives drop out of the first `k_max`, the radius that is
still of interest shrinks, and for most rows nothing is left after a few leaves: their credibility is zero, exactly.
Folds take part in the same pass: a count of all rows less a count of those that the fold holds out.

Rows decide by `_exact_square`, in float64. What is searched are codes: the leading coordinates of the rows, rotated so
that these tell most, rounded to float32, which makes points of them, and then to the nearest place of a grid, in steps
of a byte. Each cell, a number of leaves, has a grid of its own, so that dense places have a fine one. A code is never
farther than its row by more than the two roundings: `_place_on_grid` says why, `_reach` and `_limit` how much that can
be. So nothing is left out by mistake. Between codes all sums are of whole numbers, hence exact.

All compiled code of it stands in this one file, because numba's cache on disk looks at the file of a function and not at
those of the functions it calls: constants and functions of another file could change unnoticed. Only the instructions
of `pubench.neighbors.lanes` stand apart: after a change there, change this file too. Most of it is compiled without
reference counts (`_nrt`), which took half of the time: such a function can not make arrays.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from pubench.neighbors.lanes import LANES, TOGETHER, WORDS, lowest, scan, scan_blocks, touching

#: Points per leaf: half of their codes fill an eighth of a first-level cache.
LEAF = 128
BLOCKS = LEAF // LANES
#: Coordinates that a scan looks at in one go.
HALF = 4 * WORDS
#: Coordinates of a point.
WIDTH = 2 * HALF
#: Coordinates by which leaves and cells are put in order.
SKETCH = 16
#: Leaves with a grid of their own.
CELL = 64
#: The largest code; the smallest is its negative, and rows have them plus 128, as unsigned bytes.
LARGEST = 127
#: What computing places on a grid in float32 can add to their distance from the code, in steps.
BLUNDER = 1e-3
#: More than any sum of products of codes, for slots that never match.
NEVER = 2**30
#: Half a unit in the last place of float32: the relative error of one rounding.
UNIT = 2.0**-24
#: More than any square of a distance between points; see `pubench.neighbors.partition`.
FAR = 1e37
#: Exact squares that blocked brute force keeps.
KNOWN = 64
#: More than any product that blocked brute force computes.
LARGEST_PRODUCT = 1e38
#: So finely `_from_near_to_far` tells distances apart.
BUCKETS = 512
#: Leaves within this share of a query's radius are looked into first: they settle most queries.
NEARBY = 0.35
#: Turns four signed bytes into unsigned ones, 128 larger each.
_UNSIGNED = np.int32(-0x7F7F7F80)


class Cells(NamedTuple):
    """The grids of runs of `CELL` leaves: places are (point - origin) / step, cut off at `LARGEST`; codes round them.

    Attributes:
        low, high: shape (cells, WIDTH), float32; the box around the points.
        origin: shape (cells, WIDTH), float32.
        finer: shape (cells,), float32; 1 / step.
        error: shape (cells, 2), float64; how far a row's place can be from its code, in steps, by half and by all
            coordinates.
        centres: shape (SKETCH, cells), float32; the means of the first coordinates.
    """

    low: Any
    high: Any
    origin: Any
    finer: Any
    error: Any
    centres: Any


class Leaves(NamedTuple):
    """Points in groups of `LEAF` that lie together; the last group is filled up with slots that never match.

    Attributes:
        rows: shape (leaves * LEAF,), int64; the row in each slot, ascending within a leaf; -2 in a slot that only fills up.
        values: shape (leaves * LEAF, n_features); the rows as they were given, here because near ones lie together.
        codes: shape (leaves, halves, HALF * LEAF), uint8; in blocks, see `lanes`. Where there are no more than HALF
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


class Bounds(NamedTuple):
    """How far computed squares can be off.

    Attributes:
        scale: squares between points are those between rows times this.
        growth: relative error of a distance between points, above the query's own error.
        blur: relative error of `_quick_square` against `_exact_square`.
    """

    scale: float
    growth: float
    blur: float


@njit(nogil=True, cache=True, _nrt=False)
def _exact_square(a: Any, b: Any) -> float:
    """Return the squared Euclidean distance: differences, squares and their sum in float64, in column order."""
    total = 0.0
    for j in range(len(a)):
        difference = np.float64(a[j]) - np.float64(b[j])
        total += difference * difference
    return total


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _precedes(square: float, row: int, other_square: float, other_row: int) -> bool:
    """Whether a row is nearer than another one; equal distances go by row number."""
    return square < other_square or (square == other_square and row < other_row)


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _reach(square: float, error: float, bounds: Bounds) -> float:
    """Return the largest square that two points can have whose rows have at most this one."""
    return min(((np.sqrt(square * bounds.scale) + error) * (1 + bounds.growth)) ** 2, FAR)


@njit(nogil=True, cache=True, _nrt=False, fastmath=True)
def _quick_square(a: Any, b: Any) -> float:
    """Return `_exact_square` but for the order of summation, which costs it up to `Bounds.blur`."""
    total = 0.0
    for j in range(len(a)):
        difference = np.float64(a[j]) - np.float64(b[j])
        total += difference * difference
    return total


@njit(nogil=True, cache=True, _nrt=False, fastmath=True)
def _from_near_to_far(centres: Any, point: Any, distances: Any, ends: Any, order: Any) -> None:
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


class Queries(NamedTuple):
    """Rows to be ranked around, which lie close together.

    Attributes:
        rows: shape (n,), int64; their row numbers, -1 for rows that are not among those searched.
        values: shape (n, n_features); the rows as they were given.
        points: shape (n, WIDTH), float32; the same as points.
        errors: shape (n,), float64; how far the distance of another point can be off in absolute terms.
    """

    rows: Any
    values: Any
    points: Any
    errors: Any


class Task(NamedTuple):
    """What is asked of a search.

    Attributes:
        k_max: the last rank of interest.
        listed: how many of the nearest positives are ranked.
        cells: into how many cells near a group of queries a first look looks.
        folds: the number of folds, at least 1.
    """

    k_max: int
    listed: int
    cells: int
    folds: int


class Search(NamedTuple):
    """What stays as it is while rows are counted; the attributes are the arguments of `rank_positives`."""

    held_out: Any
    queries: Queries
    leaves: Leaves
    bounds: Bounds
    task: Task


class Lists(NamedTuple):
    """The state of a search; i is a query, j a place in its list of nearest positives.

    Attributes:
        count: shape (n,); how many positives of the list may be among the first `k_max`.
        squares, rows: shape (n, listed); exact squares and row numbers of the positives, nearest first.
        surely, maybe: shape (n, listed); a row of a quick square below the first stands before this positive; one
            above the second does not.
        nearer: shape (n, listed); rows counted so far between positives j - 1 and j.
        away: shape (n, folds, listed); those of them that each fold holds out.
        searched: shape (n, folds), bool; the query is not held out itself.
    """

    count: Any
    squares: Any
    rows: Any
    surely: Any
    maybe: Any
    nearer: Any
    away: Any
    searched: Any


class Workspace(NamedTuple):
    """Scratch of a search around n queries, made once: what is compiled without reference counts can not make any.

    Attributes:
        radii: shape (n,); the square between points within which rows matter, below 0 where none does.
        share: shape (1,); of which share of that square a leaf must be to be looked into.
        cell: shape (n,); the cell whose grid the query is on, -1 for none; what follows is about that cell.
        lane, query: shape (n,); in which lane a query is, if its radius touches the cell, and which query is in a lane.
        codes: shape (n, WIDTH), int8; the negatives of the query's codes.
        words: the same as int32, shape (n, WIDTH / 4).
        turned: shape (WORDS, lanes), int32; the first half of them, unsigned, word by word and lane by lane.
        beyond: shape (n,); the square of the distance from the box of the cell that was entered last.
        errors: shape (2, n); how far the place in the box is from its code, in steps, by half and by all coordinates.
        lengths, totals: shape (2, n), int64; squared length and sum of the codes, of the first half and of all.
        within: shape (lanes,), int32; within which square between codes a leaf is looked into, below 0 for none.
        limits: shape (2, n), int32; the limits of a scan of half and of all coordinates.
        touched, near: the queries that look into a leaf, as bits of lanes and as a list.
        been: shape (n, task.cells), uint64; a bit for each leaf of the nearest cells that a query has looked into.
        hits, pairs: what a scan of the first half found, a bit per row; pairs are the same, 64 bits at a time.
        blocks, found: what a scan found in the end; see `_scan`.
        distances, ends, order: what ordering leaves and cells needs.
        looked: shape (1,); how many rows had to be looked at themselves.
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
    been: Any
    near: Any
    hits: Any
    pairs: Any
    blocks: Any
    found: Any
    distances: Any
    ends: Any
    order: Any
    looked: Any


@njit(nogil=True, cache=True, _nrt=False)
def _is_out(mask: Any, fold: int) -> bool:
    return bool((mask >> np.uint64(fold)) & np.uint64(1))


@njit(nogil=True, cache=True, _nrt=False)
def _insert(square: float, row: int, squares: Any, rows: Any, count: int) -> int:
    """Put a row in its place in a sorted list of `count`, drop the last one if it is full, and return the new count."""
    place = count
    while place > 0 and _precedes(square, row, squares[place - 1], rows[place - 1]):
        place -= 1
    if place == len(rows):
        return count
    count = min(count + 1, len(rows))
    for later in range(count - 1, place, -1):
        squares[later] = squares[later - 1]
        rows[later] = rows[later - 1]
    squares[place] = square
    rows[place] = row
    return count


@njit(nogil=True, cache=True)
def _workspace(queries: Queries, leaves: int, task: Task) -> Workspace:
    n = len(queries.rows)
    lanes = -(-n // LANES) * LANES
    codes, hits = np.zeros((n, WIDTH), np.int8), np.empty((n + TOGETHER) * BLOCKS, np.uint16)
    return Workspace(
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


@njit(nogil=True, cache=True, _nrt=False, fastmath=True)
def _place_on_grid(i: int, cell: int, cells: Cells, point: Any, work: Workspace) -> None:
    """Write the codes of query i in a cell: those of the place of the cell's box that is nearest to it.

    A row x of the cell is farther from q than from that place p: |q - x|^2 >= |q - p|^2 + |p - x|^2, because the box
    is convex. Cutting off both at the rim of the grid brings them no farther apart.
    """
    low, high, origin, finer = cells.low[cell], cells.high[cell], cells.origin[cell], cells.finer[cell]
    codes, largest = work.codes[i], np.float32(LARGEST)
    off, length, total = np.float32(0), np.float32(0), np.float32(0)  # whole numbers below 2**24 are exact
    for half in range(2):
        for j in range(half * HALF, (half + 1) * HALF):
            inside = min(max(point[j], low[j]), high[j])
            place = min(max((inside - origin[j]) * finer, -largest), largest)
            # Rounded by a cast, which is done for many at once, unlike `rint`.
            nearest = np.float32(np.int32(place + np.float32(128.5))) - np.float32(128)
            off += (place - nearest) * (place - nearest)
            length += nearest * nearest
            total += nearest
            codes[j] = np.int8(-nearest)
        work.lengths[half, i], work.totals[half, i] = int(length), int(total)
        work.errors[half, i] = np.sqrt(off) + BLUNDER
    work.cell[i] = cell


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _limit(i: int, cells: Cells, work: Workspace) -> None:
    """Turn the radius of query i into limits for codes of its cell.

    Codes are as far apart as their places, but for the errors of both. |x - q|^2 <= R^2 is |x|^2 / 2 - q x <=
    (R^2 - |q|^2) / 2; a scan has -q instead of q, and x + 128 instead of x.
    """
    left = work.radii[i] - work.beyond[i]
    if left < 0:
        work.within[work.lane[i]] = -1
        work.limits[0, i] = work.limits[1, i] = -NEVER
        return
    cell = work.cell[i]
    radius = np.sqrt(left) * cells.finer[cell] * (1 + 4 * UNIT)
    for half in range(2):
        most = radius + work.errors[half, i] + cells.error[cell, half]
        square = int(min(most * most, NEVER / 4))
        work.limits[half, i] = ((square - work.lengths[half, i]) >> 1) - 128 * work.totals[half, i]
        if half == 0:
            work.within[work.lane[i]] = int(square * work.share[0])


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _set_radius(
    i: int, square: float, queries: Queries, bounds: Bounds, cells: Cells, work: Workspace
) -> None:
    """Let rows within `square` of query i matter, none if it is below 0."""
    work.radii[i] = _reach(square, queries.errors[i], bounds) if square >= 0 else -1.0
    if work.cell[i] >= 0:
        _limit(i, cells, work)


@njit(nogil=True, cache=True, _nrt=False, fastmath=True)
def _beyond(cell: int, cells: Cells, point: Any) -> float:
    """Return the square of the distance from a point to the box of a cell, but for rounding never more."""
    low, high = cells.low[cell], cells.high[cell]
    total = np.float32(0)
    for j in range(WIDTH):
        gap = max(np.float32(0), low[j] - point[j], point[j] - high[j])
        total += gap * gap
    return np.float64(total) * (1 - 2 * WIDTH * UNIT)


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _enter(cell: int, search: Search, work: Workspace) -> int:
    """Put the open queries whose radius touches a cell on its grid, each in a lane, and return how many blocks they fill."""
    lanes = 0
    for i in range(len(work.radii)):
        if work.radii[i] < 0:
            continue
        work.beyond[i] = _beyond(cell, search.leaves.cells, search.queries.points[i])
        if work.beyond[i] <= work.radii[i] * work.share[0]:
            work.query[lanes], work.lane[i] = i, lanes
            _place_on_grid(i, cell, search.leaves.cells, search.queries.points[i], work)
            _limit(i, search.leaves.cells, work)
            for word in range(WORDS):
                work.turned[word, lanes] = work.words[i, word] ^ _UNSIGNED
            lanes += 1
    blocks = -(-lanes // LANES)
    for lane in range(lanes, blocks * LANES):
        work.within[lane] = -1
    return blocks


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _choose(leaf: int, blocks: int, leaves: Leaves, work: Workspace) -> int:
    """Write to `work.near` the queries whose radius touches the box of a leaf, and return their number."""
    touching(leaves.low[leaf], leaves.high[leaf], work.turned, blocks, work.within, work.touched)
    chosen = 0
    for block in range(blocks):
        bits = np.int64(work.touched[block])
        while bits != 0:
            work.near[chosen] = work.query[block * LANES + lowest(bits)]
            chosen += 1
            bits &= bits - 1
    return chosen


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _remember(leaf: int, place: int, chosen: int, work: Workspace) -> None:
    """Note that the chosen queries have been to a leaf."""
    for which in range(chosen):
        work.been[work.near[which], place] |= np.uint64(1) << np.uint64(leaf % CELL)


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _forget(leaf: int, place: int, chosen: int, work: Workspace) -> int:
    """Drop those of the chosen queries that have been to a leaf, and return how many are left."""
    left = 0
    for which in range(chosen):
        i = work.near[which]
        work.near[left] = i
        left += (work.been[i, place] >> np.uint64(leaf % CELL)) & np.uint64(1) == 0
    return left


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _scan(leaf: int, chosen: int, leaves: Leaves, work: Workspace) -> int:
    """Find the rows of a leaf that may matter to the first `chosen` queries of `work.near`.

    Returns how many blocks may have some; `work.blocks` says which they are, `query * BLOCKS + block` with the query's
    place in `work.near`, and `work.found` has a bit for each of the rows.
    """
    if chosen == 0:
        return 0
    for extra in range(chosen, chosen + TOGETHER - 1):
        work.near[extra] = work.near[0]
    codes, starts = leaves.codes[leaf], leaves.starts[leaf]
    scan(codes[0], starts[0], work.codes, work.near, chosen, work.limits[0], work.hits)
    blocks = 0
    for which in range(chosen):
        if work.pairs[2 * which] | work.pairs[2 * which + 1] == 0:  # as in most leaves
            continue
        for number in range(which * BLOCKS, (which + 1) * BLOCKS):
            work.blocks[blocks] = number
            work.found[blocks] = work.hits[number]
            blocks += work.hits[number] != 0
    if len(codes) == 2:
        scan_blocks(codes, starts[1], work.codes, work.near, work.limits[1], work.blocks, blocks, work.found)
    return blocks


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _list_block(
    slot: int, bits: Any, i: int, search: Search, leaves: Leaves, lists: Lists, work: Workspace
) -> None:
    """Put the rows of a block, from `slot` on, whose bits are set into the list of query i, exactly, if near enough."""
    queries, blur = search.queries, search.bounds.blur
    listed = lists.rows.shape[1]
    while bits != 0:
        row, value = leaves.rows[slot + lowest(bits)], leaves.values[slot + lowest(bits)]
        bits &= bits - 1
        full = lists.count[i] == listed
        most = lists.squares[i, listed - 1] * (1 + blur) if full else np.inf
        if row != queries.rows[i] and _quick_square(queries.values[i], value) <= most:
            square = _exact_square(queries.values[i], value)
            lists.count[i] = _insert(square, row, lists.squares[i], lists.rows[i], lists.count[i])
    if lists.count[i] == listed:
        _set_radius(i, lists.squares[i, listed - 1], queries, search.bounds, leaves.cells, work)


@njit(nogil=True, cache=True)
def empty_lists(held_out: Any, queries: Queries, task: Task) -> Lists:
    """Return the state before anything is known."""
    n, listed = len(queries.rows), task.listed
    searched = np.ones((n, task.folds), np.bool_)
    for i in range(n):
        for fold in range(task.folds):
            if queries.rows[i] >= 0 and _is_out(held_out[queries.rows[i]], fold):
                searched[i, fold] = False
    return Lists(
        np.zeros(n, np.int64),
        np.empty((n, listed)),
        np.full((n, listed), -1, np.int64),
        np.empty((n, listed)),
        np.empty((n, listed)),
        np.zeros((n, listed), np.int64),
        np.zeros((n, task.folds, listed), np.int64),
        searched,
    )


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _place(row: int, value: Any, query: Any, i: int, lists: Lists) -> int:
    """Return the first place of the list of query i that a row stands before, `count` for none."""
    place, count = 0, lists.count[i]
    square = _quick_square(query, value)
    if count == 0 or square > lists.maybe[i, count - 1]:
        return count
    while square > lists.maybe[i, place]:
        place += 1
    if square < lists.surely[i, place]:
        return place
    square = _exact_square(query, value)  # so close to the positive that the order of summation may matter
    while place < count and not _precedes(square, row, lists.squares[i, place], lists.rows[i, place]):
        place += 1
    return place


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _count_row(place: int, mask: Any, i: int, lists: Lists) -> None:
    """Count a row that stands before this place, and for which folds it does not count."""
    lists.nearer[i, place] += 1
    fold = 0
    while mask:
        if mask & np.uint64(1):
            lists.away[i, fold, place] += 1
        mask >>= np.uint64(1)
        fold += 1


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _shorten(i: int, lists: Lists, k_max: int) -> None:
    """Drop the positives that no fold can have among its `k_max` nearest rows any more.

    Ranks grow along the list, so that those which stay are the first ones.
    """
    most = 0
    for fold in range(lists.searched.shape[1]):
        before = 0
        for j in range(lists.count[i]):
            before += lists.nearer[i, j] - lists.away[i, fold, j]
            if before >= k_max or not lists.searched[i, fold]:
                break
            most = max(most, j + 1)
    lists.count[i] = most


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _none_precedes(first: int, i: int, lists: Lists) -> bool:
    """Whether rows from number `first` on can not stand before the last open positive of query i, wherever they lie.

    Nothing stands before a positive that equals the query but equal rows of smaller numbers: where many rows are equal,
    this saves looking at most of them.
    """
    last = lists.count[i] - 1
    return lists.squares[i, last] == 0 and first > lists.rows[i, last]


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _count_block(slot: int, bits: Any, i: int, search: Search, lists: Lists, work: Workspace) -> None:
    """Count the rows of a block, from `slot` on, whose bits are set around query i."""
    queries, leaves = search.queries, search.leaves
    if lists.count[i] > 0 and _none_precedes(leaves.rows[slot], i, lists):
        return
    while bits != 0:
        work.looked[0] += 1
        row, value = leaves.rows[slot + lowest(bits)], leaves.values[slot + lowest(bits)]
        bits &= bits - 1
        if row != queries.rows[i]:
            place = _place(row, value, queries.values[i], i, lists)
            if place < lists.count[i]:
                _count_row(place, search.held_out[row], i, lists)


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _narrow(i: int, search: Search, lists: Lists, work: Workspace) -> None:
    """Let only rows matter that may stand before the last open positive of query i."""
    open_before = lists.count[i]
    _shorten(i, lists, search.task.k_max)
    if lists.count[i] < open_before:
        _let_open_matter(i, search, lists, work)


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _let_open_matter(i: int, search: Search, lists: Lists, work: Workspace) -> None:
    """Set the radius of query i to that of the last positive that is still open."""
    last = lists.count[i] - 1
    square = lists.maybe[i, last] if last >= 0 else -1.0
    _set_radius(i, square, search.queries, search.bounds, search.leaves.cells, work)


@njit(nogil=True, cache=True, _nrt=False)
def _visit(leaf: int, chosen: int, search: Search, lists: Lists, work: Workspace) -> None:
    """Count the rows of a leaf around the first `chosen` queries of `work.near`."""
    for number in range(_scan(leaf, chosen, search.leaves, work)):
        if work.found[number] != 0:
            i = work.near[work.blocks[number] // BLOCKS]
            slot = leaf * LEAF + work.blocks[number] % BLOCKS * LANES
            _count_block(slot, np.int64(work.found[number]), i, search, lists, work)
            _narrow(i, search, lists, work)


@njit(nogil=True, cache=True, _nrt=False)
def _list_within(
    first: int, last: int, search: Search, positives: Leaves, lists: Lists, work: Workspace
) -> None:
    """Fill the lists of queries from `first` to before `last` with the nearest positives within their radii, exactly."""
    queries = search.queries
    order = work.order[: len(positives.codes)]
    middle = queries.points[(first + last) // 2]
    _from_near_to_far(positives.centres, middle, work.distances, work.ends, order)
    for leaf in order:
        chosen = 0
        for i in range(first, last):
            if work.radii[i] >= 0:
                work.near[chosen] = i
                chosen += 1
                if work.cell[i] != leaf // CELL:
                    work.beyond[i] = _beyond(leaf // CELL, positives.cells, queries.points[i])
                    _place_on_grid(i, leaf // CELL, positives.cells, queries.points[i], work)
                    _limit(i, positives.cells, work)
        for number in range(_scan(leaf, chosen, positives, work)):
            if work.found[number] != 0:
                i = work.near[work.blocks[number] // BLOCKS]
                slot = leaf * LEAF + work.blocks[number] % BLOCKS * LANES
                _list_block(slot, np.int64(work.found[number]), i, search, positives, lists, work)


@njit(nogil=True, cache=True, _nrt=False)
def _list_nearest(search: Search, positives: Leaves, lists: Lists, work: Workspace) -> None:
    """Fill the lists with the positives that are nearest to each query, exactly.

    The queries before, which are close, tell how far to look; those whose list is short then look everywhere.
    """
    n, listed = lists.rows.shape
    guess = np.inf
    for first in range(0, n, LANES):
        last = min(first + LANES, n)
        for square in (guess, np.inf):
            for i in range(first, last):
                # What was found beyond the guess need not be the nearest there.
                short = lists.count[i] < listed or lists.squares[i, listed - 1] > guess
                lists.count[i] *= not short
                _set_radius(
                    i, square if short else -1.0, search.queries, search.bounds, positives.cells, work
                )
            _list_within(first, last, search, positives, lists, work)
        guess = 0.0
        for i in range(first, last):
            guess = max(guess, lists.squares[i, listed - 1] if lists.count[i] == listed else np.inf)
    for i in range(n):
        work.cell[i] = -1
        for j in range(lists.count[i]):
            lists.surely[i, j] = lists.squares[i, j] * (1 - search.bounds.blur)
            lists.maybe[i, j] = lists.squares[i, j] * (1 + search.bounds.blur)


@njit(nogil=True, cache=True, _nrt=False)
def _look_near(search: Search, lists: Lists, work: Workspace) -> None:
    """Count in leaves so near that they tell most: of the nearest cells those whose box is well within the radius."""
    for i in range(len(work.radii)):
        _shorten(i, lists, search.task.k_max)  # to nothing, if no fold asks for this query
        _let_open_matter(i, search, lists, work)
    work.share[0] = NEARBY * NEARBY
    cells, points = search.leaves.cells, search.queries.points
    order = work.order[: len(cells.finer)]  # as the query in the middle sees them: the others are close to it
    _from_near_to_far(cells.centres, points[len(points) // 2], work.distances, work.ends, order)
    for place in range(min(search.task.cells, len(order))):
        cell = order[place]
        blocks = _enter(cell, search, work)
        for leaf in range(cell * CELL, min((cell + 1) * CELL, len(search.leaves.codes))):
            chosen = _choose(leaf, blocks, search.leaves, work)
            _remember(leaf, place, chosen, work)
            _visit(leaf, chosen, search, lists, work)


@njit(nogil=True, cache=True, _nrt=False)
def _look_everywhere(search: Search, lists: Lists, work: Workspace) -> None:
    """Count in all leaves that the radius of a query touches, but for those that it has been to in `_look_near`."""
    work.share[0] = 1.0
    order = work.order[
        : len(search.leaves.cells.finer)
    ]  # still the order of `_look_near`, whose places `been` has
    for place in range(len(order)):
        cell = order[place]
        blocks = _enter(cell, search, work)
        for leaf in range(cell * CELL, min((cell + 1) * CELL, len(search.leaves.codes))):
            chosen = _choose(leaf, blocks, search.leaves, work)
            if place < search.task.cells:
                chosen = _forget(leaf, place, chosen, work)
            _visit(leaf, chosen, search, lists, work)


@njit(nogil=True, cache=True)
def final_ranks(held_out: Any, lists: Lists, k_max: int) -> Any:
    """Return the rank of each listed positive in each fold, from 1; 0 where the fold has no such rank."""
    n, folds, listed = lists.away.shape
    ranks = np.zeros((n, folds, listed), np.int64)
    for i in range(n):
        for fold in range(folds):
            before = 0
            for j in range(lists.count[i]):
                before += lists.nearer[i, j] - lists.away[i, fold, j]
                counts = lists.searched[i, fold] and not _is_out(held_out[lists.rows[i, j]], fold)
                if counts and before < k_max:
                    ranks[i, fold, j] = before + 1
    return ranks


@njit(nogil=True, cache=True)
def settle_near(
    held_out: Any, queries: Queries, leaves: Leaves, positives: Leaves, bounds: Bounds, task: Task
) -> Any:
    """Return, for each query, whether a positive may be among its `k_max` nearest rows: a no is certain.

    Looks at the nearest positive and the nearest leaves only; arguments are those of `rank_positives`.
    """
    lists, work = empty_lists(held_out, queries, task), _workspace(queries, len(leaves.codes), task)
    search = Search(held_out, queries, leaves, bounds, task)
    _list_nearest(search, positives, lists, work)
    _look_near(search, lists, work)
    return lists.count > 0


@njit(nogil=True, cache=True)
def rank_positives(
    held_out: Any, queries: Queries, leaves: Leaves, positives: Leaves, bounds: Bounds, task: Task
) -> tuple[Any, Any, Any, int]:
    """Rank the nearest positives of each query among all rows.

    Args:
        held_out: one uint64 per row; bit f is set where fold f holds the row out.
        queries: the rows to rank around.
        leaves: all rows as points.
        positives: the labelled ones as points.
        bounds: of the errors.
        task: what is asked.

    Returns:
        (count, rows, ranks, looked): of each query, how many of the listed positives are among its `k_max` nearest
        rows in some fold; which they are; and their ranks in each fold, shape (n, folds, listed), 0 where there is
        none. Last, how many rows had to be looked at themselves, because their points did not tell.
    """
    lists, work = empty_lists(held_out, queries, task), _workspace(queries, len(leaves.codes), task)
    search = Search(held_out, queries, leaves, bounds, task)
    _list_nearest(search, positives, lists, work)
    _look_near(search, lists, work)
    _look_everywhere(search, lists, work)
    return lists.count, lists.rows, final_ranks(held_out, lists, task.k_max), work.looked[0]


class Rows(NamedTuple):
    """What blocked brute force searches.

    Attributes:
        numbers: shape (n,), int64; the row numbers, ascending within each run of `LEAF`.
        values: shape (n, n_features); the rows as they were given.
        same: shape (n,), int64, from 0; equal rows have the same number here.
    """

    numbers: Any
    values: Any
    same: Any


class Products(NamedTuple):
    """|x|^2 / 2 - q x of queries q and some rows x, both less the middle and scaled: blocked brute force.

    Attributes:
        values: shape (n, rows).
        first: the place of the first of these rows among all that are searched.
        own: shape (n,), |q|^2.
        unit: half a unit in the last place of what they were computed in.
        width: over how many columns.
        rounding: how far a row can be off because the middle was subtracted from large numbers.
        scale: squares here are those between rows times this.
        blur: as `Bounds.blur`.
    """

    values: Any
    first: int
    own: Any
    unit: float
    width: int
    rounding: float
    scale: float
    blur: float


@njit(nogil=True, cache=True, _nrt=False)
def _product_slack(square: float, i: int, products: Products) -> float:
    """Return how far the product of a row at this square from query i can be off, where |x| <= |q| + R."""
    length, radius = np.sqrt(products.own[i]), np.sqrt(square)
    summed = (products.width + 6) * products.unit * (2 * length + radius) ** 2
    return summed + 4 * products.rounding * (radius + products.rounding)


@njit(nogil=True, cache=True, _nrt=False)
def _surely_below(square: float, i: int, products: Products) -> float:
    """Return a product below which a row of query i is certainly nearer than `square`, that of two rows."""
    square *= products.scale
    if _product_slack(square, i, products) > square / 8:  # there the slack could grow faster than the product
        return -np.inf
    return (square - products.own[i]) / 2 - _product_slack(square, i, products)


@njit(nogil=True, cache=True, _nrt=False)
def _maybe_below(square: float, i: int, products: Products) -> float:
    """Return the largest product that a row of query i can have which is no farther than `square`, of two rows."""
    square *= products.scale
    return (square - products.own[i]) / 2 + _product_slack(square, i, products)


@njit(nogil=True, cache=True, _nrt=False)
def _bound_of_list(i: int, products: Products, lists: Lists) -> float:
    """Return the largest product that a row can have which belongs into the list of query i; it is never infinite."""
    listed = lists.rows.shape[1]
    if lists.count[i] < listed:
        return LARGEST_PRODUCT
    return min(_maybe_below(lists.squares[i, listed - 1], i, products), LARGEST_PRODUCT)


@njit(nogil=True, cache=True, _nrt=False)
def _exact_squares(query: Any, a: Any, b: Any, c: Any, d: Any) -> tuple[float, float, float, float]:
    """Return `_exact_square` of four rows: one alone would have to wait for each of its sums."""
    to_a, to_b, to_c, to_d = 0.0, 0.0, 0.0, 0.0
    for j in range(len(query)):
        at = np.float64(query[j])
        to_a += (np.float64(a[j]) - at) * (np.float64(a[j]) - at)
        to_b += (np.float64(b[j]) - at) * (np.float64(b[j]) - at)
        to_c += (np.float64(c[j]) - at) * (np.float64(c[j]) - at)
        to_d += (np.float64(d[j]) - at) * (np.float64(d[j]) - at)
    return to_a, to_b, to_c, to_d


class Known(NamedTuple):
    """The exact squares from one query to the rows that were last asked for: equal rows need them only once.

    Attributes:
        same: shape (KNOWN,), int64; see `Rows`, -1 for none.
        squares: shape (KNOWN,).
    """

    same: Any
    squares: Any


@njit(nogil=True, cache=True)
def _nothing_known() -> Known:
    return Known(np.empty(KNOWN, np.int64), np.empty(KNOWN))


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _is_known(place: int, rows: Rows, known: Known) -> bool:
    return bool(known.same[rows.same[place] % KNOWN] == rows.same[place])


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _square_to(query: Any, place: int, rows: Rows, known: Known) -> float:
    """Return `_exact_square` of a query and the row at a place."""
    same = rows.same[place]
    if not _is_known(place, rows, known):
        known.same[same % KNOWN] = same
        known.squares[same % KNOWN] = _exact_square(query, rows.values[place])
    return known.squares[same % KNOWN]


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _surely_beyond(square: float, query: Any, place: int, rows: Rows, known: Known, blur: float) -> bool:
    """Whether the row at a place is farther than a square, as far as that is seen sooner than by the exact square."""
    return not _is_known(place, rows, known) and (
        _quick_square(query, rows.values[place]) > square * (1 + blur)
    )


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _list_row(square: float, row: int, i: int, queries: Queries, lists: Lists) -> bool:
    """Put a row into the list of query i, and return whether it is there: if near enough, and not the query itself."""
    count, listed = lists.count[i], lists.rows.shape[1]
    full = count == listed
    if row == queries.rows[i] or (
        full and not _precedes(square, row, lists.squares[i, listed - 1], lists.rows[i, listed - 1])
    ):
        return False
    lists.count[i] = _insert(square, row, lists.squares[i], lists.rows[i], count)
    return True


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _places_below(products: Any, limit: float, places: Any) -> int:
    """Write the places of those products that are no larger than the limit, and return how many they are."""
    count = 0
    for x in range(len(products)):
        places[count] = x
        count += products[x] <= limit
    return count


@njit(nogil=True, cache=True, _nrt=False)
def _list_some(places: Any, i: int, products: Products, queries: Queries, rows: Rows, lists: Lists) -> None:
    """Put the rows at some places of `products` into the list of query i, and strike their products out."""
    numbers, values = rows.numbers[products.first :], rows.values[products.first :]
    last = len(places) - 1
    for turn in range(0, last + 1, 4):
        a, b = places[turn], places[min(turn + 1, last)]
        c, d = places[min(turn + 2, last)], places[min(turn + 3, last)]
        squares = _exact_squares(queries.values[i], values[a], values[b], values[c], values[d])
        for place, square in ((a, squares[0]), (b, squares[1]), (c, squares[2]), (d, squares[3])):
            if products.values[i, place] < np.inf:
                products.values[i, place] = np.inf
                _list_row(square, numbers[place], i, queries, lists)


@njit(nogil=True, cache=True)
def list_products(products: Products, limits: Any, queries: Queries, rows: Rows, lists: Lists) -> None:
    """Put those rows into the lists that are nearest, given the products of some.

    Rows within the `limits`, one per query, come first, as many as a list holds: with them in the lists, few others need
    be looked at.
    """
    known, places = _nothing_known(), np.empty(products.values.shape[1], np.int64)
    listed = lists.rows.shape[1]
    for i in range(len(queries.rows)):
        first = min(_places_below(products.values[i], limits[i], places), listed)
        _list_some(places[:first], i, products, queries, rows, lists)
        known.same[:] = -1
        bound = _bound_of_list(i, products, lists)
        for x in range(products.values.shape[1]):
            if products.values[i, x] > bound:
                continue
            query, at = queries.values[i], products.first + x
            last = lists.squares[i, listed - 1] if lists.count[i] == listed else np.inf
            if not _surely_beyond(last, query, at, rows, known, products.blur):
                square = _square_to(query, at, rows, known)
                if _list_row(square, rows.numbers[at], i, queries, lists):
                    bound = _bound_of_list(i, products, lists)


@njit(nogil=True, cache=True, _nrt=False, forceinline=True)
def _place_product(
    x: int, i: int, products: Products, queries: Queries, rows: Rows, known: Known, lists: Lists
) -> int:
    """Return the first place of the list of query i that a row stands before, whose product is number x."""
    product, at, blur = products.values[i, x], products.first + x, products.blur
    place, count, row, query = 0, lists.count[i], rows.numbers[at], queries.values[i]
    while place < count and product > lists.maybe[i, place]:
        place += 1
    if place == count or product < lists.surely[i, place]:
        return place
    if row == lists.rows[i, place]:  # the positive itself: it stands before the next one
        return place + 1
    if not _is_known(at, rows, known):
        quick = _quick_square(query, rows.values[at])
        while place < count and quick > lists.squares[i, place] * (1 + blur):
            place += 1
        if place == count or quick < lists.squares[i, place] * (1 - blur):
            return place
    square = _square_to(query, at, rows, known)
    if not _precedes(square, row, lists.squares[i, count - 1], lists.rows[i, count - 1]):
        return count
    while not _precedes(square, row, lists.squares[i, place], lists.rows[i, place]):
        place += 1
    return place


@njit(nogil=True, cache=True, _nrt=False)
def bound_products(products: Products, lists: Lists) -> None:
    """Turn the squares of the listed positives into bounds of products."""
    for i in range(len(lists.count)):
        for j in range(lists.count[i]):
            lists.surely[i, j] = _surely_below(lists.squares[i, j], i, products)
            lists.maybe[i, j] = _maybe_below(lists.squares[i, j], i, products)


@njit(nogil=True, cache=True)
def count_products(
    held_out: Any, products: Products, queries: Queries, rows: Rows, k_max: int, lists: Lists
) -> None:
    """Count some rows around each query, given their products."""
    known, places = _nothing_known(), np.empty(LEAF, np.int64)
    for i in range(len(queries.rows)):
        known.same[:] = -1
        for first in range(0, products.values.shape[1], LEAF):
            last = lists.count[i] - 1
            if last < 0:
                break
            if _none_precedes(rows.numbers[products.first + first], i, lists):
                continue
            here = products.values[i, first : first + LEAF]
            for number in range(_places_below(here, lists.maybe[i, last], places)):
                x = first + places[number]
                row = rows.numbers[products.first + x]
                if row != queries.rows[i]:
                    place = _place_product(x, i, products, queries, rows, known, lists)
                    if place < lists.count[i]:
                        _count_row(place, held_out[row], i, lists)
            _shorten(i, lists, k_max)

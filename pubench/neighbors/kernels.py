"""The compiled search: the positives nearest to a row, and how many rows stand before each of them.

Ranks need no list of neighbours. The positives near a row cut the distances from it into intervals; counting the rows
in each interval gives the ranks. As counts grow, the far positives drop out of the first `k_max`, the radius that is
still of interest shrinks, and for most rows nothing is left after a few leaves: their credibility is zero, exactly.
Folds take part in the same pass: a count of all rows less a count of those that the fold holds out.

Rows decide by `_exact_square`, in float64. What is searched are points: the leading coordinates of the rows, rotated so
that these tell most, and rounded to float32. A point is never farther than its row, but for rounding, and `_reach` says
how much that can be: so nothing is left out by mistake.

All compiled code stands in this one file, because numba's cache on disk looks at the file of a function and not at
those of the functions it calls: constants and functions of another file could change unnoticed. Most of it is compiled
without reference counts (`_nrt`), which took half of the time: such a function can not make arrays.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

#: Points per leaf: half of their coordinates fill a quarter of a first-level cache.
LEAF = 128
#: Coordinates that a scan looks at in one go; a multiple of the 4 of its inner loop.
HALF = 16
#: Coordinates of a point.
WIDTH = 2 * HALF
#: Half a unit in the last place of float32: the relative error of one rounding.
UNIT = 2.0**-24
#: More than any square of a distance between points; see `pubench.neighbors.partition`.
FAR = 1e37
#: So finely `_from_near_to_far` tells distances apart.
BUCKETS = 512


class Leaves(NamedTuple):
    """Points in groups of `LEAF` that lie together; the last group is filled up with slots that never match.

    Attributes:
        rows: shape (leaves * LEAF,), int64; the row in each slot, -2 in a slot that only fills up.
        values: shape (leaves * LEAF, n_features); the rows as they were given, here because near ones lie together.
        coordinates: shape (leaves, 2, HALF * LEAF), float32; the points, half by half, coordinate by coordinate.
        halves: shape (leaves, 2, LEAF), float32; half the squared length of each half, infinite in an empty slot.
        low, high: shape (leaves, WIDTH), float32; the box around the points of each leaf.
        centres: shape (HALF, leaves), float32; the means of the first halves.
    """

    rows: Any
    values: Any
    coordinates: Any
    halves: Any
    low: Any
    high: Any
    centres: Any


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


@njit(nogil=True, cache=True, _nrt=False)
def _precedes(square: float, row: int, other_square: float, other_row: int) -> bool:
    """Whether a row is nearer than another one; equal distances go by row number."""
    return square < other_square or (square == other_square and row < other_row)


@njit(nogil=True, cache=True, _nrt=False)
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


@njit(nogil=True, cache=True, _nrt=False)
def _length_square(point: Any, width: int) -> float:
    """Return the squared length of the first coordinates of a point."""
    total = 0.0
    for j in range(width):
        total += np.float64(point[j]) ** 2
    return total


@njit(nogil=True, cache=True, _nrt=False)
def _scan_limit(square: float, own: float, width: int) -> float:
    """Return the limit of a scan for points within `square` of one whose first `width` coordinates have length `own`.

    |x - q|^2 <= R^2 is |x|^2 / 2 - q x <= (R^2 - |q|^2) / 2. The slack is what float32 can lose in this form, where
    |x| <= |q| + R.
    """
    slack = (width + 6) * UNIT * (2 * np.sqrt(own) + np.sqrt(square)) ** 2
    return (square - own) / 2 + slack


@njit(nogil=True, cache=True, _nrt=False, fastmath=True)
def _scan_three(coordinates: Any, halves: Any, points: Any, limits: Any, products: Any, hits: Any) -> None:
    """Write |x|^2 / 2 - q x over the first half of the coordinates of a leaf, for three points q: shape (3 * LEAF,).

    Three at once, four coordinates at a time, because loading x costs more than multiplying it, and more numbers would
    not fit the registers. Arrays are flat, because the compiler then knows that they do not overlap: both together
    make this twice as fast. `hits` counts the products within each limit.
    """
    for i in range(LEAF):
        products[i] = halves[i]
        products[LEAF + i] = halves[i]
        products[2 * LEAF + i] = halves[i]
    for j in range(0, HALF, 4):
        start = j * LEAF
        p0, p1, p2, p3 = points[0, j], points[0, j + 1], points[0, j + 2], points[0, j + 3]
        q0, q1, q2, q3 = points[1, j], points[1, j + 1], points[1, j + 2], points[1, j + 3]
        r0, r1, r2, r3 = points[2, j], points[2, j + 1], points[2, j + 2], points[2, j + 3]
        for i in range(LEAF):
            w, x = coordinates[start + i], coordinates[start + LEAF + i]
            y, z = coordinates[start + 2 * LEAF + i], coordinates[start + 3 * LEAF + i]
            products[i] -= p0 * w + p1 * x + p2 * y + p3 * z
            products[LEAF + i] -= q0 * w + q1 * x + q2 * y + q3 * z
            products[2 * LEAF + i] -= r0 * w + r1 * x + r2 * y + r3 * z
    for which in range(3):
        limit = limits[which]
        count = np.int32(0)
        for i in range(LEAF):
            count += np.int32(products[which * LEAF + i] <= limit)
        hits[which] = count


@njit(nogil=True, cache=True, _nrt=False, fastmath=True)
def _scan_on(coordinates: Any, halves: Any, point: Any, products: Any) -> None:
    """Add |x|^2 / 2 - q x over half of the coordinates of a leaf to the products of one point q."""
    for i in range(LEAF):
        products[i] += halves[i]
    for j in range(0, HALF, 4):
        start = j * LEAF
        q0, q1, q2, q3 = point[j], point[j + 1], point[j + 2], point[j + 3]
        for i in range(LEAF):
            w, x = coordinates[start + i], coordinates[start + LEAF + i]
            y, z = coordinates[start + 2 * LEAF + i], coordinates[start + 3 * LEAF + i]
            products[i] -= q0 * w + q1 * x + q2 * y + q3 * z


@njit(nogil=True, cache=True, _nrt=False, fastmath=True)
def _count_within(products: Any, limit: float) -> int:
    """Return how many products are at most `limit`."""
    bound = np.float32(limit)
    count = np.int32(0)
    for i in range(LEAF):
        count += np.int32(products[i] <= bound)
    return int(count)


@njit(nogil=True, cache=True, _nrt=False)
def _places_within(products: Any, limit: float, passed: Any) -> int:
    """Write to `passed`, which holds one more than a leaf, where `products` are at most `limit`; return how many."""
    found = 0
    bound = np.float32(limit)
    for i in range(LEAF):
        passed[found] = i  # written in any case: a branch here would be guessed wrong too often
        found += products[i] <= bound
    return found


@njit(nogil=True, cache=True, _nrt=False, fastmath=True)
def _box_squares(low: Any, high: Any, points: Any, squares: Any) -> None:
    """Write the squared distances from points to a box; `points` has shape (WIDTH, n)."""
    for i in range(len(squares)):
        squares[i] = 0
    for j in range(WIDTH):
        least, most, coordinates = low[j], high[j], points[j]
        for i in range(len(squares)):
            gap = max(np.float32(0), least - coordinates[i], coordinates[i] - most)
            squares[i] += gap * gap


@njit(nogil=True, cache=True, _nrt=False, fastmath=True)
def _box_square(low: Any, high: Any, point: Any) -> float:
    """Return the squared distance from one point to a box."""
    total = np.float32(0)
    for j in range(WIDTH):
        gap = max(np.float32(0), low[j] - point[j], point[j] - high[j])
        total += gap * gap
    return np.float64(total)


@njit(nogil=True, cache=True, _nrt=False, fastmath=True)
def _from_near_to_far(centres: Any, point: Any, distances: Any, ends: Any, order: Any) -> None:
    """Write to `order` all leaves, roughly by the distance of their centres from a point, in linear time.

    `distances` and `ends` are scratch: float32, one per leaf, and int64, `BUCKETS` + 1.
    """
    leaves = centres.shape[1]
    for leaf in range(leaves):
        distances[leaf] = 0
    for j in range(HALF):
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


#: Among so many times as many leaves, close to the group, each query finds those nearest to itself.
_CLOSE = 8
#: Queries look into near leaves in so many rounds: an eighth of the leaves, a quarter, the rest. Most need the first alone.
_ROUNDS = 3


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
        leaves: into how many leaves near each query a first look looks.
        folds: the number of folds, at least 1.
    """

    k_max: int
    listed: int
    leaves: int
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
        points: shape (WIDTH, n); the queries.
        own: shape (2, n); the squared lengths of their first halves, and of the whole.
        radii: shape (n,); the square between points within which rows matter, below 0 where none does.
        limits: shape (2, n); what follows from it for a scan of half and of all coordinates.
        boxes, near: shape (n,); how far the queries are from a leaf, and those that are near.
        three, most, products, hits, passed: what a scan needs.
        distances, ends, order: what ordering leaves needs.
        close, centres: the leaves close to the group, and their centres.
        rounds: shape (close, n), uint8; in which round a query looks into a close leaf, `_ROUNDS` for never.
        looked: shape (1,); how many rows had to be looked at themselves.
    """

    points: Any
    own: Any
    radii: Any
    limits: Any
    boxes: Any
    near: Any
    three: Any
    most: Any
    products: Any
    hits: Any
    passed: Any
    distances: Any
    ends: Any
    order: Any
    close: Any
    centres: Any
    rounds: Any
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
    n, close = len(queries.rows), min(leaves, _CLOSE * task.leaves)
    own = np.empty((2, n))
    for i in range(n):
        own[0, i] = _length_square(queries.points[i], HALF)
        own[1, i] = _length_square(queries.points[i], WIDTH)
    return Workspace(
        np.ascontiguousarray(queries.points.T),
        own,
        np.empty(n),
        np.empty((2, n)),
        np.empty(n, np.float32),
        np.empty(n + 1, np.int64),
        np.empty((3, WIDTH), np.float32),
        np.empty(3, np.float32),
        np.empty(3 * LEAF, np.float32),
        np.empty(3, np.int32),
        np.empty(LEAF + 1, np.int64),
        np.empty(leaves, np.float32),
        np.empty(BUCKETS + 1, np.int64),
        np.empty(leaves, np.int64),
        np.empty(close, np.int64),
        np.empty((HALF, close), np.float32),
        np.empty((close, n), np.uint8),
        np.zeros(1, np.int64),
    )


@njit(nogil=True, cache=True, _nrt=False)
def _set_radius(i: int, square: float, queries: Queries, bounds: Bounds, work: Workspace) -> None:
    """Let rows within `square` of query i matter, none if it is below 0."""
    work.radii[i] = -1.0
    if square >= 0:
        radius = _reach(square, queries.errors[i], bounds)
        work.radii[i] = radius
        work.limits[0, i] = _scan_limit(radius, work.own[0, i], HALF)
        work.limits[1, i] = _scan_limit(radius, work.own[1, i], WIDTH)


@njit(nogil=True, cache=True, _nrt=False)
def _second_half(leaves: Leaves, leaf: int, i: int, products: Any, queries: Queries, work: Workspace) -> int:
    """Return how many rows of a leaf may matter to query i, given the products of the first half.

    Writes their places in the leaf to `work.passed`.
    """
    point = queries.points[i, HALF:]
    _scan_on(leaves.coordinates[leaf, 1], leaves.halves[leaf, 1], point, products)
    if _count_within(products, work.limits[1, i]) == 0:
        return 0
    return _places_within(products, work.limits[1, i], work.passed)


@njit(nogil=True, cache=True, _nrt=False)
def _look_into(leaves: Leaves, leaf: int, i: int, queries: Queries, work: Workspace) -> int:
    """Do the same for one query from the beginning."""
    if _box_square(leaves.low[leaf], leaves.high[leaf], queries.points[i]) > work.radii[i]:
        return 0
    products = work.products[:LEAF]
    for place in range(LEAF):
        products[place] = 0
    _scan_on(leaves.coordinates[leaf, 0], leaves.halves[leaf, 0], queries.points[i, :HALF], products)
    if _count_within(products, work.limits[0, i]) == 0:
        return 0
    return _second_half(leaves, leaf, i, products, queries, work)


@njit(nogil=True, cache=True, _nrt=False)
def _list_leaf(
    leaves: Leaves, leaf: int, passed: Any, i: int, queries: Queries, blur: float, lists: Lists
) -> None:
    """Put the rows in the `passed` places of a leaf into the list of query i, exactly, as far as they are near enough."""
    listed = lists.rows.shape[1]
    for place in passed:
        slot = leaf * LEAF + place
        row, value = leaves.rows[slot], leaves.values[slot]
        full = lists.count[i] == listed
        most = lists.squares[i, listed - 1] * (1 + blur) if full else np.inf
        if row != queries.rows[i] and _quick_square(queries.values[i], value) <= most:
            square = _exact_square(queries.values[i], value)
            lists.count[i] = _insert(square, row, lists.squares[i], lists.rows[i], lists.count[i])


@njit(nogil=True, cache=True, _nrt=False)
def _list_nearest(queries: Queries, leaves: Leaves, bounds: Bounds, lists: Lists, work: Workspace) -> None:
    """Fill the lists with the rows of `leaves` that are nearest to each query, exactly."""
    n, listed = lists.rows.shape
    order = work.order[: len(leaves.halves)]
    for i in range(n):
        _set_radius(i, np.inf, queries, bounds, work)
        _from_near_to_far(leaves.centres, queries.points[i], work.distances, work.ends, order)
        for leaf in order:
            found = _look_into(leaves, leaf, i, queries, work)
            if found > 0:
                _list_leaf(leaves, leaf, work.passed[:found], i, queries, bounds.blur, lists)
                if lists.count[i] == listed:
                    _set_radius(i, lists.squares[i, listed - 1], queries, bounds, work)
        for j in range(lists.count[i]):
            lists.surely[i, j] = lists.squares[i, j] * (1 - bounds.blur)
            lists.maybe[i, j] = lists.squares[i, j] * (1 + bounds.blur)


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


@njit(nogil=True, cache=True, _nrt=False)
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


@njit(nogil=True, cache=True, _nrt=False)
def _count_row(place: int, mask: Any, i: int, lists: Lists) -> None:
    """Count a row that stands before this place, and for which folds it does not count."""
    lists.nearer[i, place] += 1
    fold = 0
    while mask:
        if mask & np.uint64(1):
            lists.away[i, fold, place] += 1
        mask >>= np.uint64(1)
        fold += 1


@njit(nogil=True, cache=True, _nrt=False)
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


@njit(nogil=True, cache=True, _nrt=False)
def _count_leaf(
    held_out: Any, leaves: Leaves, leaf: int, passed: Any, i: int, queries: Queries, lists: Lists
) -> None:
    """Count the rows in the `passed` places of a leaf around query i."""
    for place_in_leaf in passed:
        slot = leaf * LEAF + place_in_leaf
        row = leaves.rows[slot]
        if row != queries.rows[i]:
            place = _place(row, leaves.values[slot], queries.values[i], i, lists)
            if place < lists.count[i]:
                _count_row(place, held_out[row], i, lists)


@njit(nogil=True, cache=True, _nrt=False)
def _narrow(i: int, queries: Queries, bounds: Bounds, k_max: int, lists: Lists, work: Workspace) -> None:
    """Let only rows matter that may stand before the last open positive of query i."""
    _shorten(i, lists, k_max)
    last = lists.count[i] - 1
    _set_radius(i, lists.maybe[i, last] if last >= 0 else -1.0, queries, bounds, work)


@njit(nogil=True, cache=True, _nrt=False)
def _choose(leaves: Leaves, leaf: int, work: Workspace) -> int:
    """Write to `work.near` the queries whose radius touches the box of a leaf, and return their number."""
    _box_squares(leaves.low[leaf], leaves.high[leaf], work.points, work.boxes)
    chosen = 0
    for i in range(len(work.radii)):
        work.near[chosen] = i
        chosen += work.boxes[i] <= work.radii[i]
    return chosen


@njit(nogil=True, cache=True, _nrt=False)
def _scan_next_three(
    leaves: Leaves, leaf: int, start: int, chosen: int, queries: Queries, work: Workspace
) -> int:
    """Scan the first half of a leaf for up to three of the chosen queries, and return how many they are."""
    for which in range(3):  # the last one stands in for those that are not there
        point = queries.points[work.near[min(start + which, chosen - 1)]]
        for j in range(HALF):
            work.three[which, j] = point[j]
        work.most[which] = work.limits[0, work.near[min(start + which, chosen - 1)]]
    coordinates, halves = leaves.coordinates[leaf, 0], leaves.halves[leaf, 0]
    _scan_three(coordinates, halves, work.three, work.most, work.products, work.hits)
    return min(3, chosen - start)


@njit(nogil=True, cache=True, _nrt=False)
def _count_chosen(leaf: int, chosen: int, search: Search, lists: Lists, work: Workspace) -> None:
    """Count the rows of a leaf around the first `chosen` queries of `work.near`."""
    held_out, queries, leaves, bounds, task = search
    for start in range(0, chosen, 3):
        for which in range(_scan_next_three(leaves, leaf, start, chosen, queries, work)):
            if work.hits[which] == 0:  # as in most leaves
                continue
            i = work.near[start + which]
            products = work.products[which * LEAF : (which + 1) * LEAF]
            found = _second_half(leaves, leaf, i, products, queries, work)
            work.looked[0] += found
            if found > 0:
                _count_leaf(held_out, leaves, leaf, work.passed[:found], i, queries, lists)
                _narrow(i, queries, bounds, task.k_max, lists, work)


@njit(nogil=True, cache=True, _nrt=False)
def _plan_near(queries: Queries, leaves: Leaves, task: Task, work: Workspace) -> None:
    """Write to `work.rounds` which of the close leaves each query looks into, the nearest to itself first."""
    n, close = len(queries.rows), len(work.close)
    _from_near_to_far(leaves.centres, queries.points[n // 2], work.distances, work.ends, work.order)
    for which in range(close):
        work.close[which] = work.order[which]
        for j in range(HALF):
            work.centres[j, which] = leaves.centres[j, work.close[which]]
        for i in range(n):
            work.rounds[which, i] = _ROUNDS
    order = work.order[:close]
    for i in range(n):
        if work.radii[i] >= 0:
            _from_near_to_far(work.centres, queries.points[i], work.distances, work.ends, order)
            for place in range(min(task.leaves, close)):
                work.rounds[order[place], i] = (8 * place >= task.leaves) + (8 * place >= 3 * task.leaves)


@njit(nogil=True, cache=True, _nrt=False)
def _choose_near(which: int, turn: int, work: Workspace) -> int:
    """Write to `work.near` the queries that look into a close leaf in this round, and return their number."""
    chosen = 0
    for i in range(len(work.radii)):
        work.near[chosen] = i
        chosen += (work.rounds[which, i] == turn) & (work.radii[i] >= 0)
    return chosen


@njit(nogil=True, cache=True, _nrt=False)
def _count_near(search: Search, lists: Lists, work: Workspace) -> None:
    """Count in the leaves nearest to each query: near means others for each, but what is in the cache serves several."""
    for i in range(len(search.queries.rows)):
        _narrow(i, search.queries, search.bounds, search.task.k_max, lists, work)
    _plan_near(search.queries, search.leaves, search.task, work)
    for turn in range(_ROUNDS):
        for which in range(len(work.close)):
            _count_chosen(work.close[which], _choose_near(which, turn, work), search, lists, work)


@njit(nogil=True, cache=True, _nrt=False)
def _count_all(search: Search, lists: Lists, work: Workspace) -> None:
    """Count in all leaves, all queries side by side."""
    queries, leaves = search.queries, search.leaves
    n = len(queries.rows)
    for i in range(n):
        _narrow(i, queries, search.bounds, search.task.k_max, lists, work)
    _from_near_to_far(leaves.centres, queries.points[n // 2], work.distances, work.ends, work.order)
    for leaf in work.order:
        _count_chosen(leaf, _choose(leaves, leaf, work), search, lists, work)


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
    lists, work = empty_lists(held_out, queries, task), _workspace(queries, len(leaves.halves), task)
    _list_nearest(queries, positives, bounds, lists, work)
    _count_near(Search(held_out, queries, leaves, bounds, task), lists, work)
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
    lists, work = empty_lists(held_out, queries, task), _workspace(queries, len(leaves.halves), task)
    _list_nearest(queries, positives, bounds, lists, work)
    _count_all(Search(held_out, queries, leaves, bounds, task), lists, work)
    return lists.count, lists.rows, final_ranks(held_out, lists, task.k_max), work.looked[0]


class Products(NamedTuple):
    """|x|^2 / 2 - q x of queries q and some rows x, both less the mean and scaled: blocked brute force.

    Attributes:
        values: shape (n, rows).
        first: the slot of the first of these rows.
        own: shape (n,), |q|^2.
        unit: half a unit in the last place of what they were computed in.
        width: over how many columns.
        rounding: how far a row can be off because the mean was subtracted from large numbers.
        scale: squares here are those between rows times this.
    """

    values: Any
    first: int
    own: Any
    unit: float
    width: int
    rounding: float
    scale: float


@njit(nogil=True, cache=True, _nrt=False)
def _product_slack(square: float, i: int, products: Products) -> float:
    """Return how far the product of a row at this square from query i can be off; see `_scan_limit`."""
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
def list_products(products: Products, queries: Queries, leaves: Leaves, lists: Lists) -> None:
    """Put those rows of `leaves` into the lists that are nearest, given the products of some."""
    listed = lists.rows.shape[1]
    for i in range(len(queries.rows)):
        bound = np.inf
        for x in range(products.values.shape[1]):
            if products.values[i, x] > bound:
                continue
            row, value = leaves.rows[products.first + x], leaves.values[products.first + x]
            if row >= 0 and row != queries.rows[i]:
                square = _exact_square(queries.values[i], value)
                lists.count[i] = _insert(square, row, lists.squares[i], lists.rows[i], lists.count[i])
            if lists.count[i] == listed:
                bound = _maybe_below(lists.squares[i, listed - 1], i, products)


@njit(nogil=True, cache=True, _nrt=False)
def _place_product(product: float, row: int, value: Any, query: Any, i: int, lists: Lists) -> int:
    """Return the first place of the list of query i that a row stands before, given its product."""
    place, count = 0, lists.count[i]
    while place < count and product > lists.maybe[i, place]:
        place += 1
    if place == count or product < lists.surely[i, place]:
        return place
    square = _exact_square(query, value)
    while place < count and not _precedes(square, row, lists.squares[i, place], lists.rows[i, place]):
        place += 1
    return place


@njit(nogil=True, cache=True, _nrt=False)
def bound_products(products: Products, lists: Lists) -> None:
    """Turn the squares of the listed positives into bounds of products."""
    for i in range(len(lists.count)):
        for j in range(lists.count[i]):
            lists.surely[i, j] = _surely_below(lists.squares[i, j], i, products)
            lists.maybe[i, j] = _maybe_below(lists.squares[i, j], i, products)


@njit(nogil=True, cache=True, _nrt=False)
def count_products(
    held_out: Any, products: Products, queries: Queries, leaves: Leaves, k_max: int, lists: Lists
) -> None:
    """Count some rows of `leaves` around each query, given their products."""
    for i in range(len(queries.rows)):
        for x in range(products.values.shape[1]):
            if lists.count[i] == 0:
                break
            if products.values[i, x] > lists.maybe[i, lists.count[i] - 1]:
                continue
            row, value = leaves.rows[products.first + x], leaves.values[products.first + x]
            if row < 0 or row == queries.rows[i]:
                continue
            place = _place_product(products.values[i, x], row, value, queries.values[i], i, lists)
            if place < lists.count[i]:
                _count_row(place, held_out[row], i, lists)
        _shorten(i, lists, k_max)

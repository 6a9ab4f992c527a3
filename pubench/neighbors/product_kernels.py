"""The compiled part of blocked brute force: candidates and counts from the products of queries and rows.

Products only bound: what is close to a decision is decided by `exact_square`.
"""

from typing import Any, NamedTuple

import numpy as np

from pubench.neighbors.candidates import (
    Candidates,
    Queries,
    count_row,
    exact_square,
    insert,
    none_precedes,
    precedes,
    quick_square,
    shorten,
)
from pubench.neighbors.compilation import kernel
from pubench.neighbors.leaf_codes import LEAF

#: Number of exact squares that are cached for each query.
CACHED_SQUARES = 64
#: More than any product that is computed.
LARGEST_PRODUCT = 1e38


class Rows(NamedTuple):
    """The rows that blocked brute force searches.

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
        first: the position of the first of these rows among all that are searched.
        own: shape (n,), |q|^2.
        unit: half a unit in the last place of the type in which they were computed.
        width: the number of columns.
        rounding: the error of a row because the middle was subtracted from large numbers.
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


class SquareCache(NamedTuple):
    """The last exact squares from one query: equal rows need them only once.

    Attributes:
        same: shape (CACHED_SQUARES,), int64; see `Rows`, -1 for none.
        squares: shape (CACHED_SQUARES,).
    """

    same: Any
    squares: Any


@kernel(_nrt=False)
def _product_slack(square: float, i: int, products: Products) -> float:
    """Return the error of the product of a row at this square R^2 from query i, for which |x| <= |q| + R."""
    length, radius = np.sqrt(products.own[i]), np.sqrt(square)
    summed = (products.width + 6) * products.unit * (2 * length + radius) ** 2
    return summed + 4 * products.rounding * (radius + products.rounding)


@kernel(_nrt=False)
def _certainly_below(square: float, i: int, products: Products) -> float:
    """Return a product below which a row of query i is certainly nearer than `square`, that of two rows."""
    square *= products.scale
    if _product_slack(square, i, products) > square / 8:  # there the slack could grow faster than the product
        return -np.inf
    return (square - products.own[i]) / 2 - _product_slack(square, i, products)


@kernel(_nrt=False)
def _possibly_below(square: float, i: int, products: Products) -> float:
    """Return the largest product that a row of query i can have which is no farther than `square`, of two rows."""
    square *= products.scale
    return (square - products.own[i]) / 2 + _product_slack(square, i, products)


@kernel(_nrt=False)
def _bound_of_list(i: int, products: Products, candidates: Candidates) -> float:
    """Return the largest product that a row can have which belongs into the list of query i; it is never infinite."""
    listed = candidates.rows.shape[1]
    if candidates.count[i] < listed:
        return LARGEST_PRODUCT
    return min(_possibly_below(candidates.squares[i, listed - 1], i, products), LARGEST_PRODUCT)


@kernel(_nrt=False)
def _exact_squares(query: Any, a: Any, b: Any, c: Any, d: Any) -> tuple[float, float, float, float]:
    """Return `exact_square` of four rows: the processor interleaves the four sums."""
    to_a, to_b, to_c, to_d = 0.0, 0.0, 0.0, 0.0
    for j in range(len(query)):
        at = np.float64(query[j])
        to_a += (np.float64(a[j]) - at) * (np.float64(a[j]) - at)
        to_b += (np.float64(b[j]) - at) * (np.float64(b[j]) - at)
        to_c += (np.float64(c[j]) - at) * (np.float64(c[j]) - at)
        to_d += (np.float64(d[j]) - at) * (np.float64(d[j]) - at)
    return to_a, to_b, to_c, to_d


@kernel()
def _empty_cache() -> SquareCache:
    return SquareCache(np.empty(CACHED_SQUARES, np.int64), np.empty(CACHED_SQUARES))


@kernel(_nrt=False, forceinline=True)
def _is_cached(position: int, rows: Rows, cache: SquareCache) -> bool:
    return bool(cache.same[rows.same[position] % CACHED_SQUARES] == rows.same[position])


@kernel(_nrt=False, forceinline=True)
def _square_to(query: Any, position: int, rows: Rows, cache: SquareCache) -> float:
    """Return `exact_square` of a query and the row at a position."""
    same = rows.same[position]
    if not _is_cached(position, rows, cache):
        cache.same[same % CACHED_SQUARES] = same
        cache.squares[same % CACHED_SQUARES] = exact_square(query, rows.values[position])
    return cache.squares[same % CACHED_SQUARES]


@kernel(_nrt=False, forceinline=True)
def _certainly_beyond(
    square: float, query: Any, position: int, rows: Rows, cache: SquareCache, blur: float
) -> bool:
    """Whether the row at a position is farther than a square, if the quick square is enough to say so."""
    return not _is_cached(position, rows, cache) and (
        quick_square(query, rows.values[position]) > square * (1 + blur)
    )


@kernel(_nrt=False, forceinline=True)
def _list_row(square: float, row: int, i: int, queries: Queries, candidates: Candidates) -> bool:
    """Put a row into the list of query i, and return whether it is there: if near enough, and not the query itself."""
    count, listed = candidates.count[i], candidates.rows.shape[1]
    full = count == listed
    if row == queries.rows[i] or (
        full and not precedes(square, row, candidates.squares[i, listed - 1], candidates.rows[i, listed - 1])
    ):
        return False
    candidates.count[i] = insert(square, row, candidates.squares[i], candidates.rows[i], count)
    return True


@kernel(_nrt=False, forceinline=True)
def _positions_below(products: Any, limit: float, positions: Any) -> int:
    """Write the positions of those products that are no larger than the limit, and return their number."""
    count = 0
    for x in range(len(products)):
        positions[count] = x
        count += products[x] <= limit
    return count


@kernel(_nrt=False)
def _list_positions(
    positions: Any, i: int, products: Products, queries: Queries, rows: Rows, candidates: Candidates
) -> None:
    """Put the rows at some positions of `products` into the list of query i, and strike their products out."""
    numbers, values = rows.numbers[products.first :], rows.values[products.first :]
    last = len(positions) - 1
    for turn in range(0, last + 1, 4):
        a, b = positions[turn], positions[min(turn + 1, last)]
        c, d = positions[min(turn + 2, last)], positions[min(turn + 3, last)]
        squares = _exact_squares(queries.values[i], values[a], values[b], values[c], values[d])
        for position, square in ((a, squares[0]), (b, squares[1]), (c, squares[2]), (d, squares[3])):
            if products.values[i, position] < np.inf:
                products.values[i, position] = np.inf
                _list_row(square, numbers[position], i, queries, candidates)


@kernel()
def list_products(
    products: Products, limits: Any, queries: Queries, rows: Rows, candidates: Candidates
) -> None:
    """Put those rows into the candidates that are nearest, given the products of some.

    Rows within the `limits`, one per query, come first, as many as a list holds: once they are listed, few others need be
    read.
    """
    cache, positions = _empty_cache(), np.empty(products.values.shape[1], np.int64)
    listed = candidates.rows.shape[1]
    for i in range(len(queries.rows)):
        first = min(_positions_below(products.values[i], limits[i], positions), listed)
        _list_positions(positions[:first], i, products, queries, rows, candidates)
        cache.same[:] = -1
        bound = _bound_of_list(i, products, candidates)
        for x in range(products.values.shape[1]):
            if products.values[i, x] > bound:
                continue
            query, at = queries.values[i], products.first + x
            last = candidates.squares[i, listed - 1] if candidates.count[i] == listed else np.inf
            if not _certainly_beyond(last, query, at, rows, cache, products.blur):
                square = _square_to(query, at, rows, cache)
                if _list_row(square, rows.numbers[at], i, queries, candidates):
                    bound = _bound_of_list(i, products, candidates)


@kernel(_nrt=False, forceinline=True)
def _position_of_product(
    x: int,
    i: int,
    products: Products,
    queries: Queries,
    rows: Rows,
    cache: SquareCache,
    candidates: Candidates,
) -> int:
    """Return the first position of the list of query i that a row stands before, whose product is number x."""
    product, at, blur = products.values[i, x], products.first + x, products.blur
    position, count, row, query = 0, candidates.count[i], rows.numbers[at], queries.values[i]
    while position < count and product > candidates.possible[i, position]:
        position += 1
    if position == count or product < candidates.certain[i, position]:
        return position
    if row == candidates.rows[i, position]:  # the positive itself: it stands before the next one
        return position + 1
    if not _is_cached(at, rows, cache):
        quick = quick_square(query, rows.values[at])
        while position < count and quick > candidates.squares[i, position] * (1 + blur):
            position += 1
        if position == count or quick < candidates.squares[i, position] * (1 - blur):
            return position
    square = _square_to(query, at, rows, cache)
    if not precedes(square, row, candidates.squares[i, count - 1], candidates.rows[i, count - 1]):
        return count
    while not precedes(square, row, candidates.squares[i, position], candidates.rows[i, position]):
        position += 1
    return position


@kernel(_nrt=False)
def bound_products(products: Products, candidates: Candidates) -> None:
    """Turn the squares of the listed positives into bounds of products."""
    for i in range(len(candidates.count)):
        for j in range(candidates.count[i]):
            candidates.certain[i, j] = _certainly_below(candidates.squares[i, j], i, products)
            candidates.possible[i, j] = _possibly_below(candidates.squares[i, j], i, products)


@kernel()
def count_products(
    held_out: Any, products: Products, queries: Queries, rows: Rows, k_max: int, candidates: Candidates
) -> None:
    """Count some rows around each query, given their products."""
    cache, positions = _empty_cache(), np.empty(LEAF, np.int64)
    for i in range(len(queries.rows)):
        cache.same[:] = -1
        for first in range(0, products.values.shape[1], LEAF):
            last = candidates.count[i] - 1
            if last < 0:
                break
            if none_precedes(rows.numbers[products.first + first], i, candidates):
                continue
            here = products.values[i, first : first + LEAF]
            for number in range(_positions_below(here, candidates.possible[i, last], positions)):
                x = first + positions[number]
                row = rows.numbers[products.first + x]
                if row != queries.rows[i]:
                    position = _position_of_product(x, i, products, queries, rows, cache, candidates)
                    if position < candidates.count[i]:
                        count_row(position, held_out[row], i, candidates)
            shorten(i, candidates, k_max)

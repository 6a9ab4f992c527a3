"""The compiled search of leaves: the positives nearest to a row, and the number of rows before each of them.

Ranks need no list of neighbours. The positives near a row cut the distances from it into intervals; counting the rows
in each interval gives the ranks. As counts grow, the far positives drop out of the first `k_max`, the radius that is
still of interest shrinks, and for most rows nothing is left after a few leaves: their credibility is zero, exactly.
Folds take part in the same pass: a count of all rows less a count of those that the fold holds out.

Rows are compared by `exact_square`; codes (`pubench.neighbors.leaf_codes`) only say which rows need not be read. Most of
it is compiled without reference counts (`_nrt`), which took half of the time: such a function cannot make arrays.
"""

from typing import Any, NamedTuple

import numpy as np

from pubench.neighbors.candidates import (
    Bounds,
    Candidates,
    Queries,
    SearchTask,
    count_row,
    empty_candidates,
    exact_square,
    final_ranks,
    insert,
    none_precedes,
    precedes,
    quick_square,
    shorten,
)
from pubench.neighbors.compilation import kernel
from pubench.neighbors.leaf_codes import (
    BLOCKS,
    CELL,
    LEAF,
    LeafWorkspace,
    Leaves,
    new_workspace,
    order_by_distance,
    place_on_grid,
    set_limits,
    set_radius,
    square_to_box,
)
from pubench.neighbors.simd import LANES, TOGETHER, WORDS, lowest, scan, scan_blocks, touching

#: Leaves within this share of a query's radius come first: they answer most queries.
NEARBY = 0.35
#: Turns four signed bytes into unsigned ones, 128 larger each.
_UNSIGNED = np.int32(-0x7F7F7F80)


class Search(NamedTuple):
    """What does not change while rows are counted; the attributes are arguments of `rank_positives`."""

    held_out: Any
    queries: Queries
    leaves: Leaves
    bounds: Bounds
    task: SearchTask


@kernel(_nrt=False, forceinline=True)
def _enter_cell(cell: int, search: Search, work: LeafWorkspace) -> int:
    """Put the open queries whose radius touches a cell on its grid, each in a lane, and return the number of blocks that they fill."""
    lanes = 0
    for i in range(len(work.radii)):
        if work.radii[i] < 0:
            continue
        work.beyond[i] = square_to_box(cell, search.leaves.cells, search.queries.points[i])
        if work.beyond[i] <= work.radii[i] * work.share[0]:
            work.query[lanes], work.lane[i] = i, lanes
            place_on_grid(i, cell, search.leaves.cells, search.queries.points[i], work)
            set_limits(i, search.leaves.cells, work)
            for word in range(WORDS):
                work.turned[word, lanes] = work.words[i, word] ^ _UNSIGNED
            lanes += 1
    blocks = -(-lanes // LANES)
    for lane in range(lanes, blocks * LANES):
        work.within[lane] = -1
    return blocks


@kernel(_nrt=False, forceinline=True)
def _select_queries(leaf: int, blocks: int, leaves: Leaves, work: LeafWorkspace) -> int:
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


@kernel(_nrt=False, forceinline=True)
def _mark_visited(leaf: int, position: int, chosen: int, work: LeafWorkspace) -> None:
    """Mark that the chosen queries have read a leaf."""
    for which in range(chosen):
        work.visited[work.near[which], position] |= np.uint64(1) << np.uint64(leaf % CELL)


@kernel(_nrt=False, forceinline=True)
def _drop_visited(leaf: int, position: int, chosen: int, work: LeafWorkspace) -> int:
    """Drop those of the chosen queries that have read a leaf, and return the number of the others."""
    left = 0
    for which in range(chosen):
        i = work.near[which]
        work.near[left] = i
        left += (work.visited[i, position] >> np.uint64(leaf % CELL)) & np.uint64(1) == 0
    return left


@kernel(_nrt=False, forceinline=True)
def _scan(leaf: int, chosen: int, leaves: Leaves, work: LeafWorkspace) -> int:
    """Find the rows of a leaf that may matter to the first `chosen` queries of `work.near`.

    Returns the number of blocks that may have some; `work.blocks` has their numbers, `query * BLOCKS + block` with the
    query's position in `work.near`, and `work.found` a bit for each of the rows.
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


@kernel(_nrt=False, forceinline=True)
def _list_block(
    slot: int, bits: Any, i: int, search: Search, leaves: Leaves, candidates: Candidates, work: LeafWorkspace
) -> None:
    """Put the rows of a block, from `slot` on, whose bits are set into the list of query i, exactly, if near enough."""
    queries, blur = search.queries, search.bounds.blur
    listed = candidates.rows.shape[1]
    while bits != 0:
        row, value = leaves.rows[slot + lowest(bits)], leaves.values[slot + lowest(bits)]
        bits &= bits - 1
        full = candidates.count[i] == listed
        most = candidates.squares[i, listed - 1] * (1 + blur) if full else np.inf
        if row != queries.rows[i] and quick_square(queries.values[i], value) <= most:
            square = exact_square(queries.values[i], value)
            candidates.count[i] = insert(
                square, row, candidates.squares[i], candidates.rows[i], candidates.count[i]
            )
    if candidates.count[i] == listed:
        set_radius(i, candidates.squares[i, listed - 1], queries, search.bounds, leaves.cells, work)


@kernel(_nrt=False, forceinline=True)
def _position_in_list(row: int, value: Any, query: Any, i: int, candidates: Candidates) -> int:
    """Return the first position of the list of query i that a row stands before, `count` for none."""
    position, count = 0, candidates.count[i]
    square = quick_square(query, value)
    if count == 0 or square > candidates.possible[i, count - 1]:
        return count
    while square > candidates.possible[i, position]:
        position += 1
    if square < candidates.certain[i, position]:
        return position
    square = exact_square(query, value)  # so close to the positive that the order of summation may matter
    while position < count and not precedes(
        square, row, candidates.squares[i, position], candidates.rows[i, position]
    ):
        position += 1
    return position


@kernel(_nrt=False, forceinline=True)
def _count_block(
    slot: int, bits: Any, i: int, search: Search, candidates: Candidates, work: LeafWorkspace
) -> None:
    """Count the rows of a block, from `slot` on, whose bits are set around query i."""
    queries, leaves = search.queries, search.leaves
    if candidates.count[i] > 0 and none_precedes(leaves.rows[slot], i, candidates):
        return
    while bits != 0:
        work.inspected[0] += 1
        row, value = leaves.rows[slot + lowest(bits)], leaves.values[slot + lowest(bits)]
        bits &= bits - 1
        if row != queries.rows[i]:
            position = _position_in_list(row, value, queries.values[i], i, candidates)
            if position < candidates.count[i]:
                count_row(position, search.held_out[row], i, candidates)


@kernel(_nrt=False, forceinline=True)
def _shrink_radius(i: int, search: Search, candidates: Candidates, work: LeafWorkspace) -> None:
    """Drop candidates out of reach, and shrink the radius of query i to the last one that is left."""
    open_before = candidates.count[i]
    shorten(i, candidates, search.task.k_max)
    if candidates.count[i] < open_before:
        _set_open_radius(i, search, candidates, work)


@kernel(_nrt=False, forceinline=True)
def _set_open_radius(i: int, search: Search, candidates: Candidates, work: LeafWorkspace) -> None:
    """Set the radius of query i to the distance of its last candidate."""
    last = candidates.count[i] - 1
    square = candidates.possible[i, last] if last >= 0 else -1.0
    set_radius(i, square, search.queries, search.bounds, search.leaves.cells, work)


@kernel(_nrt=False)
def _count_leaf(leaf: int, chosen: int, search: Search, candidates: Candidates, work: LeafWorkspace) -> None:
    """Count the rows of a leaf around the first `chosen` queries of `work.near`."""
    for number in range(_scan(leaf, chosen, search.leaves, work)):
        if work.found[number] != 0:
            i = work.near[work.blocks[number] // BLOCKS]
            slot = leaf * LEAF + work.blocks[number] % BLOCKS * LANES
            _count_block(slot, np.int64(work.found[number]), i, search, candidates, work)
            _shrink_radius(i, search, candidates, work)


@kernel(_nrt=False)
def _list_within(
    first: int, last: int, search: Search, positives: Leaves, candidates: Candidates, work: LeafWorkspace
) -> None:
    """Fill the candidates of queries from `first` to before `last` with the nearest positives within their radii, exactly."""
    queries = search.queries
    order = work.order[: len(positives.codes)]
    middle = queries.points[(first + last) // 2]
    order_by_distance(positives.centres, middle, work.distances, work.ends, order)
    for leaf in order:
        chosen = 0
        for i in range(first, last):
            if work.radii[i] >= 0:
                work.near[chosen] = i
                chosen += 1
                if work.cell[i] != leaf // CELL:
                    work.beyond[i] = square_to_box(leaf // CELL, positives.cells, queries.points[i])
                    place_on_grid(i, leaf // CELL, positives.cells, queries.points[i], work)
                    set_limits(i, positives.cells, work)
        for number in range(_scan(leaf, chosen, positives, work)):
            if work.found[number] != 0:
                i = work.near[work.blocks[number] // BLOCKS]
                slot = leaf * LEAF + work.blocks[number] % BLOCKS * LANES
                _list_block(slot, np.int64(work.found[number]), i, search, positives, candidates, work)


@kernel(_nrt=False)
def _list_nearest(search: Search, positives: Leaves, candidates: Candidates, work: LeafWorkspace) -> None:
    """Fill the candidates with the positives that are nearest to each query, exactly.

    The queries before, which are close, give a first radius; those whose list stays short then search without one.
    """
    n, listed = candidates.rows.shape
    guess = np.inf
    for first in range(0, n, LANES):
        last = min(first + LANES, n)
        for square in (guess, np.inf):
            for i in range(first, last):
                # Positives listed beyond the guess need not be the nearest ones.
                short = candidates.count[i] < listed or candidates.squares[i, listed - 1] > guess
                candidates.count[i] *= not short
                set_radius(i, square if short else -1.0, search.queries, search.bounds, positives.cells, work)
            _list_within(first, last, search, positives, candidates, work)
        guess = 0.0
        for i in range(first, last):
            guess = max(guess, candidates.squares[i, listed - 1] if candidates.count[i] == listed else np.inf)
    for i in range(n):
        work.cell[i] = -1
        for j in range(candidates.count[i]):
            candidates.certain[i, j] = candidates.squares[i, j] * (1 - search.bounds.blur)
            candidates.possible[i, j] = candidates.squares[i, j] * (1 + search.bounds.blur)


@kernel(_nrt=False)
def _count_near(search: Search, candidates: Candidates, work: LeafWorkspace) -> None:
    """First pass: count in those leaves of the nearest cells whose box is well within the radius."""
    for i in range(len(work.radii)):
        shorten(i, candidates, search.task.k_max)  # to nothing, if all folds hold out this query
        _set_open_radius(i, search, candidates, work)
    work.share[0] = NEARBY * NEARBY
    cells, points = search.leaves.cells, search.queries.points
    order = work.order[: len(cells.finer)]  # as the query in the middle sees them: the others are close to it
    order_by_distance(cells.centres, points[len(points) // 2], work.distances, work.ends, order)
    for position in range(min(search.task.cells, len(order))):
        cell = order[position]
        blocks = _enter_cell(cell, search, work)
        for leaf in range(cell * CELL, min((cell + 1) * CELL, len(search.leaves.codes))):
            chosen = _select_queries(leaf, blocks, search.leaves, work)
            _mark_visited(leaf, position, chosen, work)
            _count_leaf(leaf, chosen, search, candidates, work)


@kernel(_nrt=False)
def _count_everywhere(search: Search, candidates: Candidates, work: LeafWorkspace) -> None:
    """Second pass: count in all leaves that the radius of a query touches, but for those read by `_count_near`."""
    work.share[0] = 1.0
    order = work.order[: len(search.leaves.cells.finer)]  # as `_count_near` left it: `visited` refers to it
    for position in range(len(order)):
        cell = order[position]
        blocks = _enter_cell(cell, search, work)
        for leaf in range(cell * CELL, min((cell + 1) * CELL, len(search.leaves.codes))):
            chosen = _select_queries(leaf, blocks, search.leaves, work)
            if position < search.task.cells:
                chosen = _drop_visited(leaf, position, chosen, work)
            _count_leaf(leaf, chosen, search, candidates, work)


@kernel()
def may_have_positives(
    held_out: Any, queries: Queries, leaves: Leaves, positives: Leaves, bounds: Bounds, task: SearchTask
) -> Any:
    """Return, for each query, whether a positive may be among its `k_max` nearest rows: a no is certain.

    Reads the nearest leaves only; arguments are those of `rank_positives`.
    """
    candidates = empty_candidates(held_out, queries, task)
    work = new_workspace(queries, len(leaves.codes), task)
    search = Search(held_out, queries, leaves, bounds, task)
    _list_nearest(search, positives, candidates, work)
    _count_near(search, candidates, work)
    return candidates.count > 0


@kernel()
def rank_positives(
    held_out: Any, queries: Queries, leaves: Leaves, positives: Leaves, bounds: Bounds, task: SearchTask
) -> tuple[Any, Any, Any, int]:
    """Rank the nearest positives of each query among all rows.

    Args:
        held_out: one uint64 per row; bit f is set where fold f holds the row out.
        queries: the rows to rank around.
        leaves: all rows as points.
        positives: the labelled ones as points.
        bounds: of the errors.
        task: what is searched for.

    Returns:
        (count, rows, ranks, inspected): for each query the number of candidates that are among its `k_max` nearest rows in
        some fold; their row numbers; and their ranks in each fold, shape (n, folds, listed), 0 where there is none.
        Last, the number of rows that had to be read, because their codes were too close to a decision.
    """
    candidates = empty_candidates(held_out, queries, task)
    work = new_workspace(queries, len(leaves.codes), task)
    search = Search(held_out, queries, leaves, bounds, task)
    _list_nearest(search, positives, candidates, work)
    _count_near(search, candidates, work)
    _count_everywhere(search, candidates, work)
    return candidates.count, candidates.rows, final_ranks(held_out, candidates, task.k_max), work.inspected[0]

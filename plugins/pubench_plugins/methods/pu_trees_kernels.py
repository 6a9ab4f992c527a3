"""The compiled part of PU trees: the risk of a node in closed form, growing a tree by it, and walking rows through trees.

Let pi be the share of positives among unlabeled rows and l(v, y) the loss of a score v where the truth is y. Unlabeled
rows are a mixture, E_U = pi E_P + (1 - pi) E_N, so the risk of a score g needs no negatives (du Plessis et al. 2015):

    R(g) = pi E_P[l(g, +1)] + (1 - pi) E_N[l(g, -1)] = pi E_P[l(g, +1)] + E_U[l(g, -1)] - pi E_P[l(g, -1)]

A tree has one score v in each leaf. With W_p = pi x (share of the labelled rows that lie in the leaf) and W_u = share of
the unlabeled rows that do, the estimate of R is a sum over leaves of

    r(v) = W_p l(v, +1) + W_n l(v, -1),    W_n = W_u - W_p (uPU)  or  max(0, W_u - W_p) (nnPU)

W_n estimates the mass of negatives there, which is not below 0. Kiryo et al. cut the sum over all leaves at 0, here each
leaf is cut by itself (Wilton et al. 2022); a sum of such cuts is never below the cut sum. Let W = W_p + W_n, which is W_u
in uPU and max(W_u, W_p) in nnPU, and p = W_p / W, the share of positives. Minimising r over v, for W_n > 0:

    quadratic, (1 - vy)^2:        r' = 2 W (v - 1) + 4 W_n = 0  at  v = 2p - 1;      r = 4 W_p W_n / W = 4 W p (1 - p)
    logistic, ln(1 + exp(-vy)):   exp(v) = W_p / W_n            at  v = ln(p/(1-p));  r = W (-p ln p - (1 - p) ln(1 - p))

These are twice the Gini impurity and the entropy of p, times the mass; both are 0 where W_p or W_n is. Where W_n < 0,
which only uPU allows, the quadratic formula still holds, with r below 0, as long as the leaf has an unlabeled row; without
one r(v) = -4 W_p v has no lower bound, and the logistic r has none as soon as W_n < 0. Splits minimise the sum of r over
the two children.

All compiled code of PU trees is in this file, because numba's cache on disk compares the file of a function and not
those of the functions that it calls.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numba import njit

_Function = TypeVar("_Function", bound=Callable[..., Any])

#: Rows that are read feature by feature while they are in the first-level cache: twice as fast as row by row.
BLOCK = 256

#: A node sends a row to `left` if the value of `feature` is at most `threshold`, else to the node behind that; a leaf
#: has itself as `left`. `value` is the share of positives, `gain` the risk that a split removes, below 0 taken for 0.
NODE = np.dtype(
    [("feature", "<i4"), ("left", "<i4"), ("threshold", "<f4"), ("value", "<f4"), ("gain", "<f4")]
)


class TreeRisk(NamedTuple):
    """The risk that is minimised.

    Attributes:
        prior: pi, the share of positives among unlabeled rows.
        n_labelled, n_unlabeled: rows that the tree is grown on.
        nonnegative: nnPU; else uPU.
        logistic: the loss; else quadratic.
    """

    prior: float
    n_labelled: int
    n_unlabeled: int
    nonnegative: bool
    logistic: bool


class Growth(NamedTuple):
    """Limits of trees, and the splits among which they choose.

    Attributes:
        max_depth: the largest number of splits above a leaf.
        min_leaf: the smallest number of rows in a leaf, labelled or not.
        features: number of features drawn for a split, of those that vary in the node.
        thresholds: number of thresholds drawn for each of them.
        from_rows: thresholds are values of rows in the node; else evenly drawn between the least and the largest.
        smoothing: number of unlabeled rows, positive by the prior, that a leaf's value counts in addition.
    """

    max_depth: int
    min_leaf: int
    features: int
    thresholds: int
    from_rows: bool
    smoothing: float


class TreeRows(NamedTuple):
    """The rows that a tree is grown on.

    Attributes:
        values: shape (n_rows, n_features), float32, complete.
        labelled, unlabeled: row numbers, int32; those of a node are adjacent, and are moved as nodes are split.
        scratch: int32, as long as the longer one of them.
    """

    values: Any
    labelled: Any
    unlabeled: Any
    scratch: Any


class Span(NamedTuple):
    """The rows of a node: where those labelled and those unlabeled start and stop."""

    labelled: int
    labelled_stop: int
    unlabeled: int
    unlabeled_stop: int


class SplitCandidates(NamedTuple):
    """Splits to choose from, and scratch memory; overwritten for each node.

    Attributes:
        deck: shape (n_features,): all features, in the order of the last draw.
        features: shape (f,): those drawn that vary in the node.
        low, high: shape (f,), float32: the least and the largest value of each.
        thresholds: shape (f, t), float32.
        labelled, unlabeled: shape (f, t): number of rows of each kind that a split sends to the left.
    """

    deck: Any
    features: Any
    low: Any
    high: Any
    thresholds: Any
    labelled: Any
    unlabeled: Any


def compiled(function: _Function) -> _Function:
    """Return `function` as machine code that runs outside the GIL, cached on disk."""
    machine_code: _Function = njit(nogil=True, cache=True)(function)
    return machine_code


@compiled
def masses(labelled: int, unlabeled: int, risk: TreeRisk) -> tuple[float, float]:
    """Return W_p and W_n of a node with these numbers of rows."""
    positive = risk.prior * labelled / risk.n_labelled
    negative = unlabeled / risk.n_unlabeled - positive
    return positive, max(0.0, negative) if risk.nonnegative else negative


@compiled
def node_risk(labelled: int, unlabeled: int, risk: TreeRisk) -> float:
    """Return the least risk r of a node over all scores v; minus infinity where it has no lower bound."""
    positive, negative = masses(labelled, unlabeled, risk)
    total = positive + negative
    if labelled == 0 or negative == 0.0:
        return 0.0
    if unlabeled == 0 or (risk.logistic and negative < 0.0):
        return -math.inf
    if risk.logistic:
        return -positive * math.log(positive / total) - negative * math.log(negative / total)
    return 4.0 * positive * negative / total


@compiled
def node_share(labelled: int, unlabeled: int, smoothing: float, risk: TreeRisk) -> float:
    """Return p of a node in [0, 1], with `smoothing` more unlabeled rows, of which the share pi is positive."""
    positive, negative = masses(labelled, unlabeled, risk)
    more = smoothing / risk.n_unlabeled
    share = positive + more * risk.prior
    total = positive + negative + more
    return share / total if share < total else 1.0


@compiled
def _is_final(labelled: int, unlabeled: int, risk: TreeRisk) -> bool:
    """Whether no split can lower the risk of a node: its rows are of one kind, or its risk is unbounded already."""
    if labelled == 0 or unlabeled == 0:
        return True
    if risk.nonnegative:
        return masses(labelled, unlabeled, risk)[1] == 0.0
    return node_risk(labelled, unlabeled, risk) == -math.inf


@compiled
def _widen(values: Any, rows: Any, candidates: SplitCandidates, start: int, stop: int) -> None:
    """Extend `low` and `high` of the candidate features from `start` to `stop` to these rows."""
    for first in range(0, len(rows), BLOCK):
        block = rows[first : first + BLOCK]
        for position in range(start, stop):
            feature, low, high = (
                candidates.features[position],
                candidates.low[position],
                candidates.high[position],
            )
            for row in block:
                value = values[row, feature]
                low = min(low, value)
                high = max(high, value)
            candidates.low[position], candidates.high[position] = low, high


@compiled
def _draw_features(
    labelled: Any, unlabeled: Any, values: Any, candidates: SplitCandidates, generator: Any
) -> int:
    """Draw features one by one until enough of them vary among these rows; returns their number.

    They are read together, because the values of a row are adjacent in memory.
    """
    deck, features, low, high = candidates.deck, candidates.features, candidates.low, candidates.high
    found, drawn = 0, 0
    while found < len(features) and drawn < len(deck):
        first, stop = found, found + min(len(features) - found, len(deck) - drawn)
        for position in range(first, stop):
            other = drawn + int(generator.random() * (len(deck) - drawn))
            deck[drawn], deck[other] = deck[other], deck[drawn]
            features[position], low[position], high[position] = deck[drawn], math.inf, -math.inf
            drawn += 1
        _widen(values, labelled, candidates, first, stop)
        _widen(values, unlabeled, candidates, first, stop)
        for position in range(first, stop):
            if low[position] < high[position]:
                features[found], low[found], high[found] = features[position], low[position], high[position]
                found += 1
    return found


@compiled
def _draw_thresholds(
    labelled: Any,
    unlabeled: Any,
    values: Any,
    candidates: SplitCandidates,
    found: int,
    from_rows: bool,
    generator: Any,
) -> None:
    """Draw the thresholds of the features found; each leaves rows on both sides."""
    for position in range(found):
        low, high = candidates.low[position], candidates.high[position]
        for number in range(candidates.thresholds.shape[1]):
            if from_rows:
                drawn = int(generator.random() * (len(labelled) + len(unlabeled)))
                row = labelled[drawn] if drawn < len(labelled) else unlabeled[drawn - len(labelled)]
                threshold = values[row, candidates.features[position]]
            else:
                threshold = np.float32(low + (np.float64(high) - np.float64(low)) * generator.random())
            candidates.thresholds[position, number] = threshold if threshold < high else low


@compiled
def _count(values: Any, rows: Any, candidates: SplitCandidates, found: int, counts: Any) -> None:
    """Count the rows that each split sends to the left."""
    counts[:] = 0
    for first in range(0, len(rows), BLOCK):
        block = rows[first : first + BLOCK]
        for position in range(found):
            feature = candidates.features[position]
            for number in range(counts.shape[1]):
                threshold, count = candidates.thresholds[position, number], 0
                for row in block:
                    count += values[row, feature] <= threshold
                counts[position, number] += count


@compiled
def _best(
    candidates: SplitCandidates, found: int, labelled: int, unlabeled: int, min_leaf: int, risk: TreeRisk
) -> tuple[int, int, float]:
    """Return feature and threshold of the split of the least risk, the first of equals, and that risk.

    The feature is -1 where every split leaves fewer than `min_leaf` rows on a side.
    """
    best, best_place, best_number = math.inf, -1, -1
    for position in range(found):
        for number in range(candidates.thresholds.shape[1]):
            left, left_unlabeled = (
                candidates.labelled[position, number],
                candidates.unlabeled[position, number],
            )
            right, right_unlabeled = labelled - left, unlabeled - left_unlabeled
            if min(left + left_unlabeled, right + right_unlabeled) < min_leaf:
                continue
            total = node_risk(left, left_unlabeled, risk) + node_risk(right, right_unlabeled, risk)
            if best_place < 0 or total < best:
                best, best_place, best_number = total, position, number
    return best_place, best_number, best


@compiled
def _part(values: Any, rows: Any, scratch: Any, feature: int, threshold: float) -> int:
    """Move the rows that go to the left before the others; returns their number.

    Both keep their order, so that rows are always read from memory in one direction.
    """
    left, right = 0, 0
    for row in rows:
        if values[row, feature] <= threshold:
            rows[left] = row
            left += 1
        else:
            scratch[right] = row
            right += 1
    rows[left:] = scratch[:right]
    return left


@compiled
def _split(
    rows: TreeRows,
    span: Span,
    node: Any,
    candidates: SplitCandidates,
    growth: Growth,
    risk: TreeRisk,
    generator: Any,
) -> Span:
    """Choose a split, write it into `node` and partition the rows; returns those that go to the left, none without a split."""
    labelled = rows.labelled[span.labelled : span.labelled_stop]
    unlabeled = rows.unlabeled[span.unlabeled : span.unlabeled_stop]
    no_split = Span(span.labelled, span.labelled, span.unlabeled, span.unlabeled)
    found = _draw_features(labelled, unlabeled, rows.values, candidates, generator)
    _draw_thresholds(labelled, unlabeled, rows.values, candidates, found, growth.from_rows, generator)
    _count(rows.values, labelled, candidates, found, candidates.labelled)
    _count(rows.values, unlabeled, candidates, found, candidates.unlabeled)
    position, number, reached = _best(candidates, found, len(labelled), len(unlabeled), growth.min_leaf, risk)
    if position < 0:
        return no_split
    feature, threshold = candidates.features[position], candidates.thresholds[position, number]
    node["feature"], node["threshold"] = feature, threshold
    node["gain"] = max(0.0, max(0.0, node_risk(len(labelled), len(unlabeled), risk)) - max(0.0, reached))
    left = _part(rows.values, labelled, rows.scratch, feature, threshold)
    left_unlabeled = _part(rows.values, unlabeled, rows.scratch, feature, threshold)
    return Span(span.labelled, span.labelled + left, span.unlabeled, span.unlabeled + left_unlabeled)


@compiled
def _candidates(n_features: int, growth: Growth) -> SplitCandidates:
    shape = (min(growth.features, n_features), growth.thresholds)
    return SplitCandidates(
        np.arange(n_features),
        np.empty(shape[0], np.int64),
        np.empty(shape[0], np.float32),
        np.empty(shape[0], np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.int64),
        np.empty(shape, np.int64),
    )


@compiled
def _make_leaf(node: Any, number: int, share: float) -> None:
    node["feature"], node["left"], node["threshold"] = 0, number, 0.0
    node["value"], node["gain"] = share, 0.0


@compiled
def grow(rows: TreeRows, growth: Growth, risk: TreeRisk, generator: Any) -> Any:
    """Return the nodes of one tree, of type `NODE`, children after their parents; moves the row numbers in `rows`."""
    nodes = np.empty(2 * (risk.n_labelled + risk.n_unlabeled), NODE)
    candidates = _candidates(rows.values.shape[1], growth)
    pending = [(0, 0, Span(0, risk.n_labelled, 0, risk.n_unlabeled))]
    known = 1
    while len(pending) > 0:
        number, depth, span = pending.pop()
        labelled, unlabeled = span.labelled_stop - span.labelled, span.unlabeled_stop - span.unlabeled
        _make_leaf(nodes[number], number, node_share(labelled, unlabeled, growth.smoothing, risk))
        small = labelled + unlabeled < 2 * growth.min_leaf
        if small or depth == growth.max_depth or _is_final(labelled, unlabeled, risk):
            continue
        left = _split(rows, span, nodes[number], candidates, growth, risk, generator)
        if left.labelled_stop == left.labelled and left.unlabeled_stop == left.unlabeled:
            continue
        right = Span(left.labelled_stop, span.labelled_stop, left.unlabeled_stop, span.unlabeled_stop)
        nodes[number]["left"] = known
        pending.append((known, depth + 1, left))
        pending.append((known + 1, depth + 1, right))
        known += 2
    return nodes[:known].copy()


@compiled
def walk(values: Any, nodes: Any, roots: Any) -> Any:
    """Return the mean over trees of the value of the leaf in which each row falls: shape (n_rows,), float64."""
    total = np.zeros(len(values))
    for root in roots:  # the outer loop: the nodes of one tree stay in the cache
        for row in range(len(values)):
            node = root
            while nodes[node]["left"] != node:
                goes_left = values[row, nodes[node]["feature"]] <= nodes[node]["threshold"]
                node = nodes[node]["left"] if goes_left else nodes[node]["left"] + 1
            total[row] += nodes[node]["value"]
    return total / len(roots)

"""Profit over depth: where to stop calling, if a positive brings `gain` and every call costs `cost`.

    profit(d) = gain x hidden positives x recall(d / n_U) - cost x d

It is a line between the vertices of the recall curve, so that its maximum lies at one of them. That vertex was selected for its
profit, which is optimistic; a depth d can not be told from it if the interval of the positives between the two is compatible
with no difference in profit.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pubench.decision.call_list import predicted
from pubench.decision.hidden_positives import HiddenPositives
from pubench.decision.recall import Range, RecallCurve
from pubench.errors import ParameterError
from pubench.metrics.intervals import check_confidence
from pubench.types import FloatVector, IndexVector

#: More depths than a picture can show.
_MOST_DEPTHS = 200


@dataclass(frozen=True, eq=False)
class ProfitCurve:
    """Profit over depth, and the best cut.

    Attributes:
        rows: shape (k,), ascending from 0: numbers of rows called.
        profit: shape (k,): the expected profit at each.
        low, high: shape (k,): the range of the profit, chance and the range of the hidden positives included.
        best: number of rows at which the expected profit is highest; 0: no call pays.
        best_profit: the profit there; its estimate is optimistic, because it was selected.
        first, last: the fewest and the most rows whose profit can not be told from the best.
        gain, cost: per positive, and per call.
    """

    rows: IndexVector
    profit: FloatVector
    low: FloatVector
    high: FloatVector
    best: int
    best_profit: Range
    first: int
    last: int
    gain: float
    cost: float

    @property
    def sentence(self) -> str:
        """Where to stop calling, how much that brings and how sure it is."""
        stakes = f"If a positive brings {self.gain:,g} and a call costs {self.cost:,g}"
        if self.best == 0:
            return f"{stakes}, no call pays{f', though up to {self.last:,} might' if self.last else ''}."
        best = self.best_profit
        return (
            f"{stakes}, call the best {self.best:,} rows: the expected profit is {best.estimate:,.0f} ({best.low:,.0f} to "
            f"{best.high:,.0f}), and {self.first:,} to {self.last:,} calls cannot be told from it."
        )


def profit_over_depth(
    s: npt.ArrayLike,
    scores: npt.ArrayLike,
    n_unlabeled: int,
    hidden: HiddenPositives,
    *,
    gain: float,
    cost: float,
    confidence: float = 0.95,
) -> ProfitCurve:
    """Return the profit of calling the best rows, by their number.

    Args:
        s: labels of the rows that were held out.
        scores: of the same rows, by a model that did not see them.
        n_unlabeled: number of unlabeled rows to call from.
        hidden: number of hidden positives among these.
        gain: what a positive brings, the cost of its call not deducted.
        cost: what each call costs.
        confidence: of the ranges.

    Raises:
        DataError: as `aul_pu_score`.
        ParameterError: gain or cost is not above 0, or another argument is out of its range.
    """
    check_confidence(confidence)
    check_gain_and_cost(gain, cost)
    curve = RecallCurve.of(s, scores)
    rows = _depths(curve, n_unlabeled)
    share = rows / n_unlabeled
    expected = gain * np.minimum(hidden.estimate * curve.at(share), rows) - cost * rows
    best = int(np.argmax(expected))
    # Without calls there is neither profit nor doubt.
    low, high = np.zeros(len(rows)), np.zeros(len(rows))
    for number in range(1, len(rows)):
        found = _positives(curve, hidden, int(rows[number]), n_unlabeled, confidence)
        low[number], high[number] = (gain * end - cost * rows[number] for end in (found.low, found.high))
    alike = rows[_alike(curve, hidden, rows, best, n_unlabeled, gain / cost, confidence)]
    return ProfitCurve(
        rows,
        expected,
        low,
        high,
        int(rows[best]),
        Range(float(expected[best]), float(low[best]), float(high[best])),
        int(alike[0]),
        int(alike[-1]),
        gain,
        cost,
    )


def check_gain_and_cost(gain: float, cost: float) -> None:
    """Raise `ParameterError` unless both are above 0 and finite."""
    if not (0 < gain < math.inf and 0 < cost < math.inf):
        raise ParameterError(f"Gain and cost are above 0; got {gain:g} and {cost:g}.")


def _depths(curve: RecallCurve, n_unlabeled: int) -> IndexVector:
    """Return the vertices of the curve as numbers of rows, thinned out evenly by logarithm where there are many."""
    vertices = np.unique(np.rint(curve.share * n_unlabeled).astype(np.int64))
    if len(vertices) <= _MOST_DEPTHS:
        return vertices
    wanted = np.geomspace(max(1, vertices[1]), n_unlabeled, _MOST_DEPTHS - 1)
    nearest = np.unique(np.minimum(np.searchsorted(vertices, wanted), len(vertices) - 1))
    return np.append(0, vertices[nearest[vertices[nearest] > 0]])


def _positives(
    curve: RecallCurve, hidden: HiddenPositives, rows: int, n_unlabeled: int, confidence: float
) -> Range:
    if rows == n_unlabeled:
        return Range(hidden.estimate, hidden.low, hidden.high)
    depth = np.array([rows / n_unlabeled])
    return predicted(hidden, float(curve.at(depth)[0]), curve.spread(depth, n_unlabeled), rows, confidence)


def _alike(
    curve: RecallCurve,
    hidden: HiddenPositives,
    rows: IndexVector,
    best: int,
    n_unlabeled: int,
    ratio: float,
    confidence: float,
) -> IndexVector:
    """Return the depths whose profit can not be told from that of the best one, which is among them.

    Deeper calls may pay if the most positives that may lie between are worth their calls; fewer calls may do if the fewest
    positives that may lie between are not.
    """
    share = rows / n_unlabeled
    shallow, deep = np.minimum(share, share[best]), np.maximum(share, share[best])
    low, high = curve.spread_between(shallow, deep, n_unlabeled).bounds(confidence)
    calls = np.abs(rows - rows[best])
    pays_deeper = ratio * hidden.high * high >= calls
    saves = ratio * hidden.low * low <= calls
    at = np.arange(len(rows))
    return np.flatnonzero(np.where(at > best, pays_deeper, np.where(at < best, saves, True)))

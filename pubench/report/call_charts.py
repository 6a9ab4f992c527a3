"""Charts of whom to call: profit over depth, and probabilities beside what was observed."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pubench.decision.calibration import ReliabilityBin
from pubench.decision.profit import ProfitCurve
from pubench.decision.recall import Range
from pubench.html import numbers
from pubench.html.markup import Markup, element, join
from pubench.html.scale import padded_range
from pubench.html.svg import Axis, ChartFrame, Point, band, dot, line
from pubench.types import FloatVector, IndexVector

_HEIGHT = 300


def profit_chart(profit: ProfitCurve, width: int) -> Markup:
    """Return the profit by number of calls: its range, the best cut, and the cuts that cannot be told from it.

    Calls beyond twice the best cut, and well beyond what might be as good, are left out: all they do is cost.
    """
    end = _deepest(profit)
    rows = np.append(profit.rows[profit.rows < end], end)
    low, middle, high = (
        np.interp(rows, profit.rows, values) for values in (profit.low, profit.profit, profit.high)
    )
    y_axis = Axis(*padded_range([0.0, float(low.min()), float(high.max())]), "Profit", "{:,.10g}".format)
    frame = ChartFrame(
        width,
        _HEIGHT,
        Axis(0.0, float(end), "Rows called, best first", numbers.whole),
        y_axis,
        left=72,
        right=24,
    )
    first, last = frame.x(profit.first), frame.x(profit.last)
    alike = element(
        "rect",
        class_="plateau",
        x=first,
        y=frame.y.end,
        width=max(1.0, last - first),
        height=frame.y.start - frame.y.end,
    )
    best = frame.x(profit.best)
    return frame.draw(
        profit.sentence,
        alike,
        line(
            [(frame.x.start, frame.y(0)), (frame.x.end, frame.y(0))], "reference", "Neither profit nor loss"
        ),
        band(_positions(frame, rows, low), _positions(frame, rows, high), "series-1"),
        line(_positions(frame, rows, middle), "series-1"),
        line([(best, frame.y.start), (best, frame.y.end)], "cut", f"The best cut: {profit.best:,} rows"),
    )


def _positions(frame: ChartFrame, rows: IndexVector, values: FloatVector) -> list[Point]:
    return frame.positions(zip(rows.tolist(), values.tolist(), strict=True))


def _deepest(profit: ProfitCurve) -> int:
    n_unlabeled = int(profit.rows[-1])
    wanted = max(2 * profit.best, round(1.3 * profit.last), n_unlabeled // 100, 1)
    return min(wanted, n_unlabeled)


def reliability_chart(bins: Sequence[ReliabilityBin], width: int) -> Markup:
    """Return for groups of rows the mean probability and the share of positives that labelled rows imply, at most 1."""
    shown = [replace(one, observed=Range(*(min(share, 1.0) for share in one.observed))) for one in bins]
    most = min(1.0, 1.05 * max(max(one.predicted, one.observed.high) for one in shown))
    x_axis, y_axis = (
        Axis(0.0, most, title, numbers.short_percent)
        for title in ("Mean probability of a group", "Share of positives that its labelled rows imply")
    )
    frame = ChartFrame(width, _HEIGHT, x_axis, y_axis, right=24)
    return frame.draw(
        "Reliability: " + "; ".join(_in_words(one) for one in shown),
        line(frame.positions([(0.0, 0.0), (most, most)]), "reference", "Probabilities that are right"),
        (_group(frame, one) for one in shown),
    )


def _group(frame: ChartFrame, one: ReliabilityBin) -> Markup:
    """Return the dot of a group with whiskers."""
    low, middle, high = frame.positions(
        (one.predicted, share) for share in (one.observed.low, one.observed.estimate, one.observed.high)
    )
    return join(line([low, high], "whisker series-1"), dot(middle, "mark series-1", _in_words(one), 5))


def _in_words(one: ReliabilityBin) -> str:
    share = numbers.between(one.observed.low, one.observed.high, numbers.percent)
    return (
        f"{numbers.counted(one.rows, 'row')} with {numbers.percent(one.predicted)}, observed "
        f"{numbers.percent(one.observed.estimate)} ({share})"
    )

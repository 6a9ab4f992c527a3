"""Charts of the overview: mean ranks, critical differences, quality against time."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from pubench.html import numbers
from pubench.html.markup import Markup, element, join
from pubench.html.svg import (
    NARROW,
    WIDE,
    Axis,
    ChartFrame,
    Point,
    Scale,
    diamond,
    dot,
    line,
    padded_range,
    svg,
)
from pubench.leaderboard.ranking import Standing
from pubench.leaderboard.significance import ALPHA, PostHoc

_ROW = 24
_TOP, _BOTTOM = 62, 12
#: With more bars beside each other the chart is unreadable; the whiskers show the same.
_MAX_BARS = 8
#: Upper bound in pixels of the mean width of a letter, in the widest font that browsers fall back to.
LETTER_WIDTH = 7.4


def rank_whisker(standing: Standing, field: int) -> Markup:
    """Return a mean rank with its interval on a line from rank 1 to rank `field`, 100 pixels wide."""
    x = Scale(1, max(field, 2), 3, 97)
    rank = standing.rank or 1.0
    low, high = standing.low or rank, standing.high or rank
    return element(
        "svg",
        element("line", class_="grid", x1=3, x2=97, y1=6, y2=6),
        element("line", class_="span", x1=x(low), x2=x(high), y1=6, y2=6),
        element("circle", class_="mark series-1", cx=x(rank), cy=6, r=4),
        attributes={"viewBox": "0 0 100 12"},
        class_="rank-whisker",
        aria_hidden="true",
    )


def critical_differences(tests: PostHoc, labels: Sequence[str], width: int) -> Markup:
    """Return mean ranks with whiskers of half the critical difference, and bars that join methods that do not differ."""
    k = len(labels)
    bars = _columns(tests.groups)
    n_bars = max(bars, default=-1) + 1
    bars_width = 10 * n_bars + 10 if n_bars <= _MAX_BARS else 0
    left = label_width(labels, width)
    scale = Scale(1, k, left + 12, width - 16 - bars_width)
    max_length = int(left / LETTER_WIDTH)
    rows = (
        _difference_row(
            _TOP + _ROW * (i + 0.5), shortened(labels[i], max_length), labels[i], rank, tests, scale
        )
        for i, rank in enumerate(tests.mean_ranks.tolist())
    )
    height = _TOP + _ROW * k + _BOTTOM
    return svg(
        width,
        height,
        f"Mean ranks of {k} methods over {len(tests.datasets)} data sets; the critical difference is "
        f"{tests.critical_difference:.2f}",
        _rank_axis(scale, height, tests.critical_difference),
        rows,
        _bars(tests.groups, bars, width - bars_width) if bars_width else None,
    )


def _difference_row(y: float, short: str, label: str, rank: float, tests: PostHoc, scale: Scale) -> Markup:
    half = tests.critical_difference / 2
    ends = [(scale(rank - half), y), (scale(rank + half), y)]
    return join(
        element(
            "text",
            element("title", label),
            short,
            class_="axis-title",
            x=scale.start - 16,
            y=y + 4,
            text_anchor="end",
        ),
        line(ends, "whisker"),
        dot((scale(rank), y), "mark series-1", f"{label}: mean rank {rank:.2f}", 4.5),
    )


def _rank_axis(scale: Scale, height: float, difference: float) -> Markup:
    ends = scale.start, scale(scale.low + difference)
    y = 26.0
    return join(
        element(
            "text",
            f"Mean rank, 1 is best; critical difference {difference:.2f}",
            class_="axis-title",
            x=2,
            y=14,
        ),
        line([(end, y) for end in ends], "smooth"),
        (line([(end, y - 4), (end, y + 4)], "smooth") for end in ends),
        (_rank_tick(scale, value, height) for value in scale.ticks(8) if value == int(value)),
    )


def _rank_tick(scale: Scale, value: float, height: float) -> Markup:
    x = scale(value)
    return join(
        element("line", class_="grid", x1=x, x2=x, y1=_TOP - 6, y2=height - _BOTTOM),
        element("text", f"{value:g}", class_="tick", x=x, y=_TOP - 12, text_anchor="middle"),
    )


def _columns(groups: Sequence[tuple[int, int]]) -> list[int]:
    """Return for each group the first column in which its bar touches no other bar."""
    ends: list[int] = []
    columns = []
    for first, last in groups:
        column = next((i for i, end in enumerate(ends) if end < first), len(ends))
        ends[column : column + 1] = [last]
        columns.append(column)
    return columns


def _bars(groups: Sequence[tuple[int, int]], columns: Sequence[int], left: float) -> Markup:
    return join(
        line(
            [
                (left + 10 * column, _TOP + _ROW * first + 5),
                (left + 10 * column, _TOP + _ROW * (last + 1) - 5),
            ],
            "group",
            f"No difference at {ALPHA:g} from position {first + 1} to {last + 1}",
        )
        for (first, last), column in zip(groups, columns, strict=True)
    )


@dataclass(frozen=True)
class TimedEntry:
    """A contender in the chart of quality against time.

    Attributes:
        label: of the contender.
        href: of its page.
        rank: mean rank.
        seconds: median time to fit, at least 1 ms.
        best: no other contender is better in both.
    """

    label: str
    href: str
    rank: float
    seconds: float
    best: bool


def pareto_front(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Return which points (rank, seconds) are Pareto-optimal: no other is as good in both and better in one."""
    order = sorted(range(len(points)), key=lambda i: (points[i][1], points[i][0]))
    best, optimal = float("inf"), set()
    for i in order:
        if points[i][0] < best:
            best = points[i][0]
            optimal.add(points[i])
    return [point in optimal for point in points]


def quality_and_time(timed: Sequence[TimedEntry], width: int) -> Markup:
    """Return mean rank against time to fit; contenders on the Pareto front are diamonds, joined and labelled."""
    low, high = padded_range([-entry.rank for entry in timed], share=0.1)
    seconds = [entry.seconds for entry in timed]
    frame = ChartFrame(
        width,
        380,
        Axis(
            min(seconds) / 1.5,
            max(seconds) * 1.5,
            "Median seconds to fit, logarithmic",
            numbers.seconds,
            log=True,
        ),
        Axis(low, high, "Mean rank, best on top", lambda value: f"{-value:g}", ticks=_rank_ticks(low, high)),
    )
    best = sorted((entry for entry in timed if entry.best), key=lambda entry: entry.seconds)
    positions = frame.positions((entry.seconds, -entry.rank) for entry in best)
    return frame.draw(
        f"Mean rank against time of {len(timed)} methods; none beats {', '.join(entry.label for entry in best)} in both",
        line(_staircase(positions), "reference"),
        (_timed_mark(frame, entry) for entry in sorted(timed, key=lambda entry: entry.best)),
        _names(best, positions, width),
    )


def _rank_ticks(low: float, high: float) -> tuple[float, ...] | None:
    """Return round ranks from 1 on, negated as on the axis."""
    return tuple(value for value in Scale(low, high, 0, 1).ticks(5) if value <= -1) or None


def _staircase(positions: Sequence[Point]) -> list[Point]:
    points = [positions[0]]
    for (_, y), (x, y_next) in itertools.pairwise(positions):
        points += [(x, y), (x, y_next)]
    return points


def _timed_mark(frame: ChartFrame, entry: TimedEntry) -> Markup:
    (position,) = frame.positions([(entry.seconds, -entry.rank)])
    text = f"{entry.label}: mean rank {entry.rank:.2f}, {numbers.seconds(entry.seconds)} to fit"
    mark = diamond(position, "mark series-2", text, 6.5) if entry.best else dot(position, "done", text)
    return element("a", mark, href=entry.href, aria_label=text)


def _names(best: Sequence[TimedEntry], positions: Sequence[Point], width: int) -> Markup:
    """Return the labels beside the marks, without those that would overlap another one."""
    labels: list[Markup] = []
    taken: list[tuple[float, float, float]] = []
    for entry, (x, y) in zip(best, positions, strict=True):
        text = shortened(entry.label, 24 if width == NARROW else 40)
        text_width = len(text) * LETTER_WIDTH
        start = x + 10 if x + 12 + text_width < width - 14 else x - 10 - text_width
        free = all(
            abs(y - other) > 15 or start > right or start + text_width < left for left, right, other in taken
        )
        if start > 60 and free:
            taken.append((start, start + text_width, y))
            anchor, text_x = ("start", start) if start > x else ("end", x - 10)
            labels.append(element("text", text, class_="callout", x=text_x, y=y - 8, text_anchor=anchor))
    return join(labels)


def label_width(labels: Sequence[str], width: int) -> int:
    """Return the width of the column of labels beside a chart: that of the longest label, up to a limit."""
    limit = 292 if width == WIDE else 128
    return min(limit, round(max(map(len, labels), default=1) * LETTER_WIDTH) + 6)


def shortened(text: str, max_length: int) -> str:
    """Return a text, truncated to a maximum length."""
    return text if len(text) <= max_length else f"{text[: max(max_length - 1, 1)]}…"

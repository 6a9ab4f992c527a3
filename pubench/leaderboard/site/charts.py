"""Pictures of the overview: mean ranks, critical differences, quality against time."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from pubench.leaderboard.posthoc import ALPHA, PostHoc
from pubench.leaderboard.ranking import Standing
from pubench.reporting import figures
from pubench.reporting.markup import Markup, element, join
from pubench.reporting.scales import Scale, around
from pubench.reporting.svg import NARROW, WIDE, Axis, Frame, Point, diamond, dot, line, picture

_ROW = 24
_TOP, _BOTTOM = 62, 12
#: More bars beside each other than this are a hatching that nobody reads; whiskers say the same.
_MOST_BARS = 8
#: How wide a letter is at most, on the mean of a label, in the widest font that browsers fall back to.
LETTER = 7.4


def rank_whisker(standing: Standing, field: int) -> Markup:
    """Return a mean rank and its interval on a line from the first to the last of `field`, 100 wide."""
    place = Scale(1, max(field, 2), 3, 97)
    rank = standing.rank or 1.0
    low, high = standing.low or rank, standing.high or rank
    return element(
        "svg",
        element("line", class_="grid", x1=3, x2=97, y1=6, y2=6),
        element("line", class_="span", x1=place(low), x2=place(high), y1=6, y2=6),
        element("circle", class_="mark series-1", cx=place(rank), cy=6, r=4),
        attributes={"viewBox": "0 0 100 12"},
        class_="rank-whisker",
        aria_hidden="true",
    )


def critical_differences(tests: PostHoc, labels: Sequence[str], width: int) -> Markup:
    """Return mean ranks with whiskers of half the critical difference, and bars beside those that are not told apart."""
    k = len(labels)
    bars = _columns(tests.groups)
    n_bars = max(bars, default=-1) + 1
    bars_width = 10 * n_bars + 10 if n_bars <= _MOST_BARS else 0
    left = label_room(labels, width)
    scale = Scale(1, k, left + 12, width - 16 - bars_width)
    longest = int(left / LETTER)
    rows = (
        _difference_row(_TOP + _ROW * (i + 0.5), cut(labels[i], longest), labels[i], rank, tests, scale)
        for i, rank in enumerate(tests.mean_ranks.tolist())
    )
    height = _TOP + _ROW * k + _BOTTOM
    return picture(
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
    place = scale(value)
    return join(
        element("line", class_="grid", x1=place, x2=place, y1=_TOP - 6, y2=height - _BOTTOM),
        element("text", f"{value:g}", class_="tick", x=place, y=_TOP - 12, text_anchor="middle"),
    )


def _columns(groups: Sequence[tuple[int, int]]) -> list[int]:
    """Return for each group the first column whose bars it does not touch."""
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
            f"No difference at {ALPHA:g} from place {first + 1} to {last + 1}",
        )
        for (first, last), column in zip(groups, columns, strict=True)
    )


@dataclass(frozen=True)
class Timed:
    """A contender on the picture of quality against time."""

    label: str
    href: str
    rank: float
    seconds: float
    best: bool


def frontier(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Return which points (rank, seconds) no other one beats: none is as good in both and better in one."""
    order = sorted(range(len(points)), key=lambda i: (points[i][1], points[i][0]))
    best, chosen = float("inf"), set()
    for i in order:
        if points[i][0] < best:
            best = points[i][0]
            chosen.add(points[i])
    return [point in chosen for point in points]


def quality_and_time(timed: Sequence[Timed], width: int) -> Markup:
    """Return mean rank against fitting time; those that nobody beats in both are diamonds, joined and named."""
    low, high = around([-one.rank for one in timed], share=0.1)
    seconds = [max(one.seconds, 1e-3) for one in timed]
    frame = Frame(
        width,
        380,
        Axis(
            min(seconds) / 1.5,
            max(seconds) * 1.5,
            "Median seconds to fit, logarithmic",
            figures.seconds,
            log=True,
        ),
        Axis(low, high, "Mean rank, best on top", lambda value: f"{-value:g}", ticks=_rank_ticks(low, high)),
    )
    best = sorted((one for one in timed if one.best), key=lambda one: one.seconds)
    steps = frame.place((max(one.seconds, 1e-3), -one.rank) for one in best)
    return frame.draw(
        f"Mean rank against time of {len(timed)} methods; nobody beats {', '.join(one.label for one in best)} in both",
        line(_staircase(steps), "reference"),
        (_timed_mark(frame, one) for one in sorted(timed, key=lambda one: one.best)),
        _names(best, steps, width),
    )


def _rank_ticks(low: float, high: float) -> tuple[float, ...] | None:
    """Return round ranks from 1 on, below 0 as the axis has them."""
    return tuple(value for value in Scale(low, high, 0, 1).ticks(5) if value <= -1) or None


def _staircase(steps: Sequence[Point]) -> list[Point]:
    found = [steps[0]]
    for (_, y), (x, y_next) in itertools.pairwise(steps):
        found += [(x, y), (x, y_next)]
    return found


def _timed_mark(frame: Frame, one: Timed) -> Markup:
    (place,) = frame.place([(max(one.seconds, 1e-3), -one.rank)])
    told = f"{one.label}: mean rank {one.rank:.2f}, {figures.seconds(one.seconds)} to fit"
    mark = diamond(place, "mark series-2", told, 6.5) if one.best else dot(place, "done", told)
    return element("a", mark, href=one.href, aria_label=told)


def _names(best: Sequence[Timed], steps: Sequence[Point], width: int) -> Markup:
    """Return the names beside the marks, those left out that would lie on another one."""
    found: list[Markup] = []
    taken: list[tuple[float, float, float]] = []
    for one, (x, y) in zip(best, steps, strict=True):
        text = cut(one.label, 24 if width == NARROW else 40)
        wide = len(text) * LETTER
        start = x + 10 if x + 12 + wide < width - 14 else x - 10 - wide
        free = all(
            abs(y - other) > 15 or start > right or start + wide < left for left, right, other in taken
        )
        if start > 60 and free:
            taken.append((start, start + wide, y))
            anchor, at = ("start", start) if start > x else ("end", x - 10)
            found.append(element("text", text, class_="callout", x=at, y=y - 8, text_anchor=anchor))
    return join(found)


def label_room(labels: Sequence[str], width: int) -> int:
    """Return how wide the column of labels beside a chart is: as the longest one, within what there is room for."""
    most = 292 if width == WIDE else 128
    return min(most, round(max(map(len, labels), default=1) * LETTER) + 6)


def cut(text: str, longest: int) -> str:
    """Return the text, cut where it is longer."""
    return text if len(text) <= longest else f"{text[: max(longest - 1, 1)]}…"

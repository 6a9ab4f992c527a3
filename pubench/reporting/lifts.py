"""Pictures of contenders on the holdout: intervals and lift curves."""

import math
from collections.abc import Mapping

import numpy as np

from pubench.metrics.inference import AULInterval, sensitivity_band
from pubench.metrics.label_free import lift_curve
from pubench.reporting import figures
from pubench.reporting.markup import Markup, element, join
from pubench.reporting.scales import Scale
from pubench.reporting.svg import Axis, Frame, band, diamond, dot, line, picture
from pubench.types import BoolVector, FloatVector

_WHISKER_WIDTH, _WHISKER_HEIGHT = 220, 26
_PANEL_WIDTH, _PANEL_HEIGHT = 364, 300
_POINTS = 160


def whisker_scale(intervals: Mapping[str, AULInterval], further: float) -> Scale:
    """Return a scale that holds all intervals and one value more."""
    low = min(further, *(one.low for one in intervals.values()))
    high = max(further, *(one.high for one in intervals.values()))
    air = max(0.04 * (high - low), 1e-4)
    return Scale(low - air, high + air, 6, _WHISKER_WIDTH - 6)


def whisker(interval: AULInterval, scale: Scale, series: int, inner: float | None = None) -> Markup:
    """Return an interval as a dot with whiskers; `inner` adds the score of the search as a hollow diamond."""
    middle = _WHISKER_HEIGHT / 2
    low, high = scale(interval.low), scale(interval.high)
    told = f"{figures.area(interval.estimate)} {figures.span(interval.low, interval.high)}"
    return picture(
        _WHISKER_WIDTH,
        _WHISKER_HEIGHT,
        f"AUL_PU {told}",
        element("line", class_="grid", x1=scale.start, x2=scale.end, y1=middle, y2=middle),
        line([(low, middle), (high, middle)], f"whisker series-{series}"),
        (line([(x, middle - 5), (x, middle + 5)], f"whisker series-{series}") for x in (low, high)),
        dot((scale(interval.estimate), middle), f"mark series-{series}", told, 5),
        None
        if inner is None
        else diamond((scale(inner), middle), "hollow", f"score of the search: {figures.area(inner)}"),
        class_="chart whiskers",
    )


def whisker_axis(scale: Scale) -> Markup:
    """Return the ticks that belong under a column of whiskers."""
    ticks = scale.ticks(4)
    digits = max(2, min(4, -math.floor(math.log10(ticks[1] - ticks[0])))) if len(ticks) > 1 else 3
    return picture(
        _WHISKER_WIDTH,
        _WHISKER_HEIGHT,
        "Scale of AUL_PU",
        element("line", class_="axis", x1=scale.start, x2=scale.end, y1=1, y2=1),
        (
            join(
                element("line", class_="axis", x1=scale(value), x2=scale(value), y1=1, y2=5),
                element(
                    "text", f"{value:.{digits}f}", class_="tick", x=scale(value), y=19, text_anchor="middle"
                ),
            )
            for value in ticks
        ),
        class_="chart whiskers",
    )


def lift_panels(s: BoolVector, named: Mapping[int, tuple[str, FloatVector]]) -> tuple[Markup, Markup]:
    """Return the lift curves over all rows, and over the top of the list on a logarithmic axis.

    Args:
        s: which rows are labelled.
        named: number of the series, which decides its colour -> name and scores.
    """
    first = min(0.1, 10.0 ** math.ceil(math.log10(1 / len(s))))
    names = ", ".join(name for name, _ in named.values())
    scores = {number: values for number, (_, values) in named.items()}
    whole = Axis(0.0, 1.0, "Share of rows, highest scores first", "{:.0%}".format)
    top = Axis(first, 1.0, "Share of rows, logarithmic", _fine_percent, log=True)
    return (
        _lift_panel(s, scores, whole, f"Lift curves of {names} over all rows"),
        _lift_panel(s, scores, top, f"Lift curves of {names} at the top of the list"),
    )


def _fine_percent(share: float) -> str:
    return f"{100 * share:.10g}%"


def _lift_panel(s: BoolVector, scores: Mapping[int, FloatVector], x_axis: Axis, label: str) -> Markup:
    caught = Axis(0.0, 1.0, "Labelled positives found", "{:.0%}".format)
    frame = Frame(_PANEL_WIDTH, _PANEL_HEIGHT, x_axis, caught, left=46, right=20)
    grid = np.geomspace(x_axis.low, 1, _POINTS) if x_axis.log else np.linspace(0, 1, _POINTS)
    curves = [_curve(frame, s, values, grid, series) for series, values in scores.items()]
    return frame.draw(
        label,
        line(frame.place((share, share) for share in grid.tolist()), "reference", "Random order: AUL 0.5"),
        [one[0] for one in reversed(curves)],
        [one[1] for one in reversed(curves)],
    )


def _curve(
    frame: Frame, s: BoolVector, scores: FloatVector, grid: FloatVector, series: int
) -> tuple[Markup, Markup]:
    """Return the band and the line of one contender."""
    curve = lift_curve(s, scores)
    bounds = sensitivity_band(curve, int(s.sum()))
    # Vertices that the grid would step over are kept as long as they are few: a curve of 20 positives is a staircase.
    inside = curve.share[(curve.share >= grid[0]) & (curve.share <= 1)]
    shares = np.union1d(grid, inside) if len(inside) < 2 * _POINTS else grid
    low, middle, high = (
        frame.place(zip(shares.tolist(), np.interp(shares, curve.share, values).tolist(), strict=True))
        for values in (bounds.low, curve.sensitivity, bounds.high)
    )
    return band(low, high, f"series-{series}"), line(middle, f"series-{series}")

"""Charts of the report: intervals and lift curves on the holdout, the trials of the search, and E_k."""

import math
from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from pubench.html import numbers
from pubench.html.markup import Markup, element, join
from pubench.html.svg import (
    Axis,
    ChartFrame,
    Point,
    Scale,
    band,
    cross,
    diamond,
    dot,
    line,
    padded_range,
    svg,
)
from pubench.metrics.aul import lift_curve
from pubench.metrics.intervals import AULInterval, sensitivity_band
from pubench.neighbors.k_choice import REACHED
from pubench.report.values import NeighbourCurve
from pubench.tuning.trial import Trial
from pubench.types import BoolVector, FloatVector

_WHISKER_WIDTH, _WHISKER_HEIGHT = 220, 26
_LIFT_HEIGHT = 300
_POINTS = 160


def whisker_scale(intervals: Sequence[AULInterval], inner: float) -> Scale:
    """Return a scale that contains all intervals and the score of the search."""
    low = min(inner, *(interval.low for interval in intervals))
    high = max(inner, *(interval.high for interval in intervals))
    margin = max(0.04 * (high - low), 1e-4)
    return Scale(low - margin, high + margin, 6, _WHISKER_WIDTH - 6)


def whisker(interval: AULInterval, scale: Scale, series: int, inner: float | None = None) -> Markup:
    """Return an interval as a dot with whiskers; `inner` adds the score of the search as a hollow diamond."""
    middle = _WHISKER_HEIGHT / 2
    low, high = scale(interval.low), scale(interval.high)
    text = f"{numbers.area(interval.estimate)} {numbers.area_interval(interval.low, interval.high)}"
    return svg(
        _WHISKER_WIDTH,
        _WHISKER_HEIGHT,
        f"AUL_PU {text}",
        element("line", class_="grid", x1=scale.start, x2=scale.end, y1=middle, y2=middle),
        line([(low, middle), (high, middle)], f"whisker series-{series}"),
        (line([(x, middle - 5), (x, middle + 5)], f"whisker series-{series}") for x in (low, high)),
        dot((scale(interval.estimate), middle), f"mark series-{series}", text, 5),
        None
        if inner is None
        else diamond((scale(inner), middle), "hollow", f"score of the search: {numbers.area(inner)}"),
        class_="chart whiskers",
    )


def whisker_axis(scale: Scale) -> Markup:
    """Return the axis below a column of whiskers."""
    ticks = scale.ticks(4)
    digits = max(2, min(4, -math.floor(math.log10(ticks[1] - ticks[0])))) if len(ticks) > 1 else 3
    return svg(
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


def lift_chart(s: BoolVector, series: Mapping[int, tuple[str, FloatVector]], width: int) -> Markup:
    """Return the lift curves over all rows.

    Args:
        s: which rows are labelled.
        series: number of the series, which sets its colour -> name and scores.
        width: of the chart.
    """
    x_axis = Axis(0.0, 1.0, "Share of rows, highest scores first", numbers.short_percent)
    y_axis = Axis(0.0, 1.0, "Labelled positives found", numbers.short_percent)
    frame = ChartFrame(width, _LIFT_HEIGHT, x_axis, y_axis, left=46, right=20)
    curves = [_curve(frame, s, values, number) for number, (_, values) in series.items()]
    return frame.draw(
        f"Lift curves of {', '.join(name for name, _ in series.values())} over all rows",
        line(frame.positions([(0.0, 0.0), (1.0, 1.0)]), "reference", "Random order: AUL 0.5"),
        [curve_band for curve_band, _ in reversed(curves)],
        [curve_line for _, curve_line in reversed(curves)],
    )


def _curve(frame: ChartFrame, s: BoolVector, scores: FloatVector, series: int) -> tuple[Markup, Markup]:
    """Return the band and the line of one contender."""
    curve = lift_curve(s, scores)
    bounds = sensitivity_band(curve, int(s.sum()))
    # A curve of few positives is a staircase, so its own vertices are added to the grid.
    grid = np.linspace(0, 1, _POINTS)
    shares = np.union1d(grid, curve.share) if len(curve.share) < 2 * _POINTS else grid
    low, middle, high = (
        frame.positions(zip(shares.tolist(), np.interp(shares, curve.share, values).tolist(), strict=True))
        for values in (bounds.low, curve.sensitivity, bounds.high)
    )
    return band(low, high, f"series-{series}"), line(middle, f"series-{series}")


_PARAMETER_HEIGHT = 220
#: A parameter whose largest value is more than this multiple of its smallest gets a logarithmic axis.
_LOG_RATIO = 20
_MAX_TICK_LENGTH = 11


def trial_history(trials: Sequence[Trial], chosen: Container[int], best: Trial, width: int) -> Markup:
    """Return the values of the trials by number, the best so far, and failed trials on the axis.

    Args:
        trials: all of them.
        chosen: numbers of the trials that the tuned model consists of.
        best: the best single trial.
        width: of the chart.
    """
    valued = [trial for trial in trials if trial.value is not None]
    low, high = _value_range(valued)
    order = [trial.number for trial in trials]
    x_axis = Axis(min(order) - 0.5, max(order) + 0.5, "Trial", "{:.0f}".format, ticks=_ticks(order, width))
    frame = ChartFrame(width, 280, x_axis, Axis(low, high, "AUL_PU within the search", "{:.3f}".format))
    return frame.draw(
        f"{len(trials)} trials; the best one is number {best.number} with {numbers.area(best.value or 0)}",
        line(frame.positions(_best_so_far(valued)), "best-so-far", "Best so far"),
        [_mark(frame, trial, is_chosen=trial.number in chosen) for trial in trials],
    )


def _value_range(valued: Sequence[Trial]) -> tuple[float, float]:
    """Return the range of values that is drawn: a few very bad trials must not flatten all others into one line."""
    values = np.array([trial.value for trial in valued], dtype=np.float64)
    top = float(values.max())
    floor = top - 4 * (top - float(np.quantile(values, 0.25)))
    return padded_range([max(floor, float(values.min())) if floor < top else float(values.min()), top])


def _ticks(order: Sequence[int], width: int) -> tuple[float, ...]:
    step = max(1, round((max(order) - min(order) + 1) / max(3, width // 70)))
    step = next((m for m in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if m >= step), step)
    return tuple(float(n) for n in range(min(order), max(order) + 1) if n % step == 0)


def _best_so_far(valued: Sequence[Trial]) -> list[Point]:
    """Return a staircase over the complete trials: the values of those stopped early are only estimated."""
    points: list[Point] = []
    best = -np.inf
    for trial in (trial for trial in valued if trial.is_complete):
        points.append((trial.number, best if points else float(trial.value or 0)))
        best = max(best, float(trial.value or 0))
        points.append((trial.number, best))
    return [*points, (valued[-1].number, best)] if points else []


def _mark(frame: ChartFrame, trial: Trial, *, is_chosen: bool) -> Markup:
    name = f"Trial {trial.number}: {trial.configuration}"
    if trial.value is None:
        return cross(
            (frame.x(trial.number), frame.y.start), "failed", f"{name}, {trial.status}: {trial.reason}"
        )
    position = (frame.x(trial.number), frame.y(trial.value))
    text = f"{name}, {numbers.area(trial.value)}, {numbers.seconds(trial.seconds)}"
    if trial.stopped_early:
        return dot(position, "stopped", f"{text}, stopped early", 3.5)
    if is_chosen:
        return dot(position, "chosen", f"{text}, chosen", 6)
    return dot(position, "done", text, 3.5)


def parameter_chart(trials: Sequence[Trial], name: str, chosen: Container[int], width: int) -> Markup | None:
    """Return the values of trials against one parameter; None if fewer than two trials have it."""
    having = [trial for trial in trials if trial.value is not None and name in trial.params]
    if len(having) < 2:
        return None
    x_axis, xs = _parameter_axis([trial.params[name] for trial in having], name.rpartition(".")[2])
    y_axis = Axis(*_value_range(having), "AUL_PU", "{:.3f}".format)
    frame = ChartFrame(width, _PARAMETER_HEIGHT, x_axis, y_axis, left=46, right=22)
    marks = []
    for trial, x in zip(having, xs, strict=True):
        kind = "chosen" if trial.number in chosen else "stopped" if trial.stopped_early else "done"
        text = (
            f"Trial {trial.number}: {numbers.parameter(trial.params[name])}, {numbers.area(trial.value or 0)}"
        )
        size = 5.5 if kind == "chosen" else 3.5
        marks.append((kind, dot((frame.x(x), frame.y(trial.value or 0)), kind, text, size)))
    ordered = sorted(marks, key=lambda mark: mark[0] == "chosen")  # chosen trials are drawn on top
    return frame.draw(f"AUL_PU of trials against {name}", [mark for _, mark in ordered])


def _parameter_axis(values: Sequence[Any], title: str) -> tuple[Axis, list[float]]:
    """Return an axis for a parameter's values, and the position of each value on it in the axis's units."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        xs = [float(value) for value in values]
        if min(xs) > 0 and max(xs) / min(xs) > _LOG_RATIO:
            return Axis(min(xs) / 1.2, max(xs) * 1.2, f"{title}, logarithmic", log=True), xs
        return Axis(*padded_range(xs), title), xs
    words = sorted({numbers.parameter(value) for value in values})
    axis = Axis(
        -0.5,
        len(words) - 0.5,
        title,
        lambda x: _shortened(words[round(x)]),
        ticks=tuple(float(i) for i in range(len(words))),
    )
    return axis, [float(words.index(numbers.parameter(value))) for value in values]


def _shortened(word: str) -> str:
    return word if len(word) <= _MAX_TICK_LENGTH else f"{word[: _MAX_TICK_LENGTH - 1]}…"


def expected_positives(curve: NeighbourCurve, width: int) -> Markup:
    """Return E_k over k, the plateau that the rule looks for, and the k in use."""
    choice, k = curve.choice, curve.k
    ks = range(1, len(choice.expected) + 1)
    maximum = max(float(choice.expected.max()), 1e-9)
    x_axis = Axis(0.0, len(choice.expected) + 1.0, "Neighbours k", "{:.0f}".format)
    frame = ChartFrame(
        width, 280, x_axis, Axis(0.0, 1.12 * maximum, "Expected positives among unlabeled rows, E_k")
    )
    raw, smooth = (
        frame.positions(zip(ks, values.tolist(), strict=True))
        for values in (choice.expected, choice.smoothed)
    )
    top, bottom = frame.y(choice.level), frame.y(REACHED * choice.level)
    plateau = element(
        "rect",
        class_="plateau",
        x=frame.x.start,
        y=top,
        width=frame.x.end - frame.x.start,
        height=max(1.0, bottom - top),
    )
    chosen = [(frame.x(k), frame.y.start), (frame.x(k), frame.y.end)]
    beside = {"x": frame.x(k) + 6, "y": frame.y.start - 8}
    return frame.draw(
        f"E_k for k from 1 to {len(choice.expected)}, with k = {k}",
        plateau,
        line(smooth, "smooth", "Median of five"),
        line(chosen, "cut", f"k = {k}"),
        [
            dot(position, "done", f"k = {n}: {value:.1f}", 2.5)
            for n, position, value in zip(ks, raw, choice.expected, strict=True)
        ],
        element("text", f"k = {k}", class_="callout", attributes=beside),
    )

"""Charts of runs: the AUL_PU of every fold as a dot, and lift curves from placements."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pubench.html import numbers
from pubench.html.markup import Markup, element, join
from pubench.html.parts import figure, legend
from pubench.html.svg import (
    WIDE,
    Axis,
    ChartFrame,
    Point,
    Scale,
    cross,
    diamond,
    dot,
    line,
    padded_range,
    svg,
)
from pubench.leaderboard.ranking import RankedTask
from pubench.leaderboard.runs import Run
from pubench.leaderboard.site.rank_charts import LETTER_WIDTH, label_width, shortened
from pubench.leaderboard.task_results import known
from pubench.types import FloatVector

_ROW, _TOP, _BOTTOM = 24, 40, 10
_PANEL_WIDTH, _PANEL_HEIGHT = 364, 300
_SMALL_WIDTH, _SMALL_HEIGHT = 236, 190
#: The shares at which a curve is drawn; the steps are a few pixels wide.
_GRID = np.linspace(0, 1, 61)
_MAX_FAILURES = 10


@dataclass(frozen=True)
class FoldStrip:
    """One row of a chart of folds.

    Attributes:
        label: shown beside the row.
        points: AUL_PU of each successful run with its tooltip.
        mean: with failed runs replaced; None if there is no value.
        failures: one text for each failed run.
    """

    label: str
    points: Sequence[tuple[float, str]]
    mean: float | None
    failures: Sequence[str] = ()


def strip_of(label: str, runs: Iterable[Run], ranked_task: RankedTask, row: int) -> FoldStrip:
    """Return the row of a contender's runs on a task; `row` is the contender's row in the task's results."""
    points, failures = [], []
    for run in runs:
        if run.ok:
            aul = run.record.metrics["aul_pu"]
            points.append((aul, f"{fold_name(run)}: {numbers.area(aul)}"))
        else:
            failures.append(f"{fold_name(run)}: {run.record.status.value}")
    return FoldStrip(label, points, known(ranked_task.aul[row]), failures[:_MAX_FAILURES])


def fold_name(run: Run) -> str:
    """Return the seed and fold of a run as text."""
    return f"seed {run.unit.seed}, fold {run.unit.fold + 1} of {run.unit.folds}"


def all_placements(runs: Iterable[Run]) -> FloatVector:
    """Return the placements of all runs together."""
    placements = [run.placements for run in runs if len(run.placements)]
    return np.concatenate(placements) if placements else np.empty(0)


def fold_points_figure(strips: Sequence[FoldStrip]) -> Markup:
    """Return `fold_points` with legend and caption."""
    return join(
        legend([("dot done", "a fold"), ("hollow", "mean"), ("cross", "failed")]),
        figure(
            lambda width: fold_points(strips, width),
            "AUL_PU of each fold. Hover over a mark for its seed and fold.",
        ),
    )


def fold_points(strips: Sequence[FoldStrip], width: int) -> Markup:
    """Return AUL_PU of every fold, one row per strip; the mean is a diamond, failures are a cross at the left."""
    values = [value for strip in strips for value, _ in strip.points]
    values += [strip.mean for strip in strips if strip.mean is not None]
    left = label_width([strip.label for strip in strips], width)
    low, high = padded_range(values or [0.5])
    scale = Scale(max(low, 0.0), min(high, 1.0), left + 26, width - 14)
    height = _TOP + _ROW * len(strips) + _BOTTOM
    return svg(
        width,
        height,
        f"AUL_PU of each fold, {numbers.counted(len(strips), 'row')}",
        element("text", "AUL_PU", class_="axis-title", x=scale.start, y=12),
        (_tick(scale, value, height) for value in scale.ticks(5 if width == WIDE else 3)),
        (_strip(strip, _TOP + _ROW * (i + 0.5), scale, left) for i, strip in enumerate(strips)),
    )


def _tick(scale: Scale, value: float, height: float) -> Markup:
    x = scale(value)
    return join(
        element("line", class_="grid", x1=x, x2=x, y1=_TOP - 4, y2=height - _BOTTOM),
        element("text", f"{value:g}", class_="tick", x=x, y=_TOP - 10, text_anchor="middle"),
    )


def _strip(strip: FoldStrip, y: float, scale: Scale, left: float) -> Markup:
    return join(
        element(
            "text",
            element("title", strip.label),
            shortened(strip.label, int(left / LETTER_WIDTH)),
            class_="axis-title",
            x=left,
            y=y + 4,
            text_anchor="end",
        ),
        element("line", class_="grid", x1=scale.start, x2=scale.end, y1=y, y2=y),
        (dot((scale(value), y), "done", text, 3.5) for value, text in strip.points),
        cross((left + 12, y), "failed", "; ".join(strip.failures), 4) if strip.failures else None,
        None if strip.mean is None else _mean_mark(strip.label, strip.mean, (scale(strip.mean), y)),
    )


def _mean_mark(label: str, mean: float, position: Point) -> Markup:
    return diamond(position, "hollow", f"{label}: mean {numbers.area(mean)}", 5)


def lift_chart(curves: Sequence[tuple[str, FloatVector]], label: str, *, small: bool = False) -> Markup:
    """Return lift curves of at most five series, from the placements of labelled rows."""
    width, height = (_SMALL_WIDTH, _SMALL_HEIGHT) if small else (_PANEL_WIDTH, _PANEL_HEIGHT)
    rows = Axis(0.0, 1.0, "Share of rows", "{:.0%}".format, ticks=(0.0, 0.5, 1.0))
    labelled = Axis(0.0, 1.0, "Labelled positives found", "{:.0%}".format, ticks=(0.0, 0.5, 1.0))
    frame = ChartFrame(width, height, rows, labelled, left=46, right=20)
    return frame.draw(
        label,
        line(frame.positions([(0.0, 0.0), (1.0, 1.0)]), "reference", "Random order: AUL 0.5"),
        [
            line(
                frame.positions(zip(_GRID.tolist(), shares_found(placements).tolist(), strict=True)),
                f"series-{number}",
                name,
            )
            for number, (name, placements) in reversed(list(enumerate(curves, start=1)))
        ],
    )


def shares_found(placements: FloatVector, shares: FloatVector = _GRID) -> FloatVector:
    """Return the share of labelled rows found among each share of all rows, highest scores first."""
    depths = np.sort(1 - placements)
    return np.asarray(np.searchsorted(depths, shares, side="right") / len(depths))

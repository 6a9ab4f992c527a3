"""Pictures of single folds: every value as a dot, and lift curves made of placements."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pubench.leaderboard.site.charts import LETTER, cut, label_room
from pubench.reporting import figures
from pubench.reporting.markup import Markup, element, join
from pubench.reporting.scales import Scale, around
from pubench.reporting.svg import WIDE, Axis, Frame, cross, diamond, dot, line, picture
from pubench.types import FloatVector

_ROW, _TOP, _BOTTOM = 24, 40, 10
_PANEL_WIDTH, _PANEL_HEIGHT = 364, 300
_SMALL_WIDTH, _SMALL_HEIGHT = 236, 190
#: Where a curve is drawn: finer steps than a pixel are seen by nobody.
_GRID = np.linspace(0, 1, 61)


@dataclass(frozen=True)
class Strip:
    """A row of dots.

    Attributes:
        label: what stands beside it.
        points: AUL_PU and what it is of.
        mean: of them, with what stands for failures; None where there is nothing.
        failures: what failed, a text each.
    """

    label: str
    points: Sequence[tuple[float, str]]
    mean: float | None
    failures: Sequence[str] = ()


def fold_points(strips: Sequence[Strip], width: int) -> Markup:
    """Return AUL_PU of every fold, a row per strip, with the mean as a diamond and failures as crosses at the left."""
    values = [value for strip in strips for value, _ in strip.points]
    values += [strip.mean for strip in strips if strip.mean is not None]
    left = label_room([strip.label for strip in strips], width)
    low, high = around(values or [0.5])
    scale = Scale(max(low, 0.0), min(high, 1.0), left + 26, width - 14)
    height = _TOP + _ROW * len(strips) + _BOTTOM
    return picture(
        width,
        height,
        f"AUL_PU of each fold, {figures.counted(len(strips), 'row')}",
        element("text", "AUL_PU", class_="axis-title", x=scale.start, y=12),
        (_tick(scale, value, height) for value in scale.ticks(5 if width == WIDE else 3)),
        (_strip(strip, _TOP + _ROW * (i + 0.5), scale, left) for i, strip in enumerate(strips)),
    )


def _tick(scale: Scale, value: float, height: float) -> Markup:
    place = scale(value)
    return join(
        element("line", class_="grid", x1=place, x2=place, y1=_TOP - 4, y2=height - _BOTTOM),
        element("text", f"{value:g}", class_="tick", x=place, y=_TOP - 10, text_anchor="middle"),
    )


def _strip(strip: Strip, y: float, scale: Scale, left: float) -> Markup:
    told = None if strip.mean is None else f"{strip.label}: mean {figures.area(strip.mean)}"
    return join(
        element(
            "text",
            element("title", strip.label),
            cut(strip.label, int(left / LETTER)),
            class_="axis-title",
            x=left,
            y=y + 4,
            text_anchor="end",
        ),
        element("line", class_="grid", x1=scale.start, x2=scale.end, y1=y, y2=y),
        (dot((scale(value), y), "done", text, 3.5) for value, text in strip.points),
        cross((left + 12, y), "failed", "; ".join(strip.failures), 4) if strip.failures else None,
        None if told is None or strip.mean is None else diamond((scale(strip.mean), y), "hollow", told, 5),
    )


def lift_panel(curves: Sequence[tuple[str, FloatVector]], label: str, *, small: bool = False) -> Markup:
    """Return lift curves of at most five series, from the placements of labelled rows."""
    width, height = (_SMALL_WIDTH, _SMALL_HEIGHT) if small else (_PANEL_WIDTH, _PANEL_HEIGHT)
    rows = Axis(0.0, 1.0, "Share of rows", "{:.0%}".format, ticks=(0.0, 0.5, 1.0))
    found = Axis(0.0, 1.0, "Labelled positives found", "{:.0%}".format, ticks=(0.0, 0.5, 1.0))
    frame = Frame(width, height, rows, found, left=46, right=20)
    return frame.draw(
        label,
        line(frame.place([(0.0, 0.0), (1.0, 1.0)]), "reference", "Random order: AUL 0.5"),
        [
            line(
                frame.place(zip(_GRID.tolist(), caught(placements).tolist(), strict=True)),
                f"series-{number}",
                name,
            )
            for number, (name, placements) in reversed(list(enumerate(curves, start=1)))
        ],
    )


def caught(placements: FloatVector, shares: FloatVector = _GRID) -> FloatVector:
    """Return the share of labelled rows found among each share of all rows, best scores first."""
    depths = np.sort(1 - placements)
    return np.asarray(np.searchsorted(depths, shares, side="right") / len(depths))

"""Charts as SVG: scales, a frame with axes, and marks in it. Colours come from classes of page.css, which follow the theme."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pubench.html.markup import Child, Markup, element, join

#: Widths in pixels. A chart is drawn for a screen and for a phone, since scaled-down text would be unreadable.
WIDE, NARROW = 760, 348

Point = tuple[float, float]


@dataclass(frozen=True)
class Scale:
    """Maps [low, high] to [start, end], linearly or logarithmically.

    Attributes:
        low, high: range of the values; low < high, and 0 < low if `log`.
        start, end: range of the positions in pixels; end may be less than start, as on a vertical axis.
        log: the scale is logarithmic.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return the position of a value; values outside the range are clipped to it."""
        inside = min(max(value, self.low), self.high)
        return self.start + (self.end - self.start) * self._share(inside)

    def _share(self, value: float) -> float:
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self, n_ticks: int = 6) -> list[float]:
        """Return about `n_ticks` round values within the range, ascending, at most one more."""
        if self.log:
            return _log_ticks(self.low, self.high, n_ticks)
        return _linear_ticks(self.low, self.high, n_ticks)


def padded_range(values: Sequence[float], *, share: float = 0.06) -> tuple[float, float]:
    """Return a range that contains the values with a margin of `share` of it; never empty."""
    low, high = min(values), max(values)
    margin = (high - low) * share or max(abs(high) * share, 1e-3)
    return low - margin, high + margin


def _linear_ticks(low: float, high: float, n_ticks: int) -> list[float]:
    rough = (high - low) / max(1, n_ticks)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _log_ticks(low: float, high: float, n_ticks: int) -> list[float]:
    """Return powers of ten: with 2 and 5 times them where the range is short, every n-th one where it is long."""
    first, last = math.floor(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    powers = [10.0**i for i in range(first, last + 1)]
    fine, coarse = (
        [m * power for power in powers for m in steps if low * (1 - 1e-9) <= m * power <= high * (1 + 1e-9)]
        for steps in ((1, 2, 5), (1,))
    )
    if len(fine) <= n_ticks:
        return fine
    stride = max(1, math.ceil(len(coarse) / n_ticks))
    return coarse[::-stride][::-1]


@dataclass(frozen=True)
class Axis:
    """One axis of a frame.

    Attributes:
        low, high: range of the values.
        title: the quantity, with its unit.
        label: formats the value of a tick.
        log: the axis is logarithmic.
        ticks: values to mark; None: round values are chosen.
    """

    low: float
    high: float
    title: str
    label: Callable[[float], str] = "{:g}".format
    log: bool = False
    ticks: tuple[float, ...] | None = None


@dataclass(frozen=True)
class ChartFrame:
    """A chart's area with two axes: origin at the lower left, titles outside."""

    width: int
    height: int
    x_axis: Axis
    y_axis: Axis
    left: int = 58
    right: int = 14
    top: int = 30
    bottom: int = 48

    @property
    def x(self) -> Scale:
        """Maps values to horizontal positions, left to right."""
        axis = self.x_axis
        return Scale(axis.low, axis.high, self.left, self.width - self.right, axis.log)

    @property
    def y(self) -> Scale:
        """Maps values to vertical positions, from the bottom up."""
        axis = self.y_axis
        return Scale(axis.low, axis.high, self.height - self.bottom, self.top, axis.log)

    def axes(self) -> Markup:
        """Return grid, ticks, tick labels and axis titles."""
        x, y = self.x, self.y
        return join(
            (self._y_tick(value) for value in self.y_axis.ticks or y.ticks(5)),
            element("line", class_="axis", x1=x.start, x2=x.end, y1=y.start, y2=y.start),
            (self._x_tick(value) for value in self.x_axis.ticks or x.ticks(max(3, self.width // 90))),
            element("text", self.y_axis.title, class_="axis-title", x=2, y=14),
            element(
                "text",
                self.x_axis.title,
                class_="axis-title",
                x=x.end,
                y=self.height - 8,
                text_anchor="end",
            ),
        )

    def _y_tick(self, value: float) -> Markup:
        y = self.y(value)
        return join(
            element("line", class_="grid", x1=self.x.start, x2=self.x.end, y1=y, y2=y),
            element(
                "text",
                self.y_axis.label(value),
                class_="tick",
                x=self.left - 8,
                y=y + 4,
                text_anchor="end",
            ),
        )

    def _x_tick(self, value: float) -> Markup:
        x, base = self.x(value), self.y.start
        return join(
            element("line", class_="axis", x1=x, x2=x, y1=base, y2=base + 4),
            element("text", self.x_axis.label(value), class_="tick", x=x, y=base + 18, text_anchor="middle"),
        )

    def positions(self, points: Iterable[Point]) -> list[Point]:
        """Return the positions of points, given as values, in the chart."""
        x, y = self.x, self.y
        return [(x(a), y(b)) for a, b in points]

    def draw(self, label: str, *marks: Child) -> Markup:
        """Return the chart with its axes; `label` describes it in words for screen readers."""
        return svg(self.width, self.height, label, self.axes(), *marks)


def svg(width: int, height: int, label: str, *children: Child, class_: str = "chart") -> Markup:
    """Return an SVG image that is never scaled up; `label` describes it in words for screen readers."""
    return element(
        "svg",
        *children,
        attributes={"viewBox": f"0 0 {width} {height}"},
        class_=class_,
        role="img",
        aria_label=label,
        style=f"max-width:{width}px",
    )


def line(points: Sequence[Point], class_: str, tooltip: str | None = None) -> Markup:
    """Return a line through positions."""
    return element("path", _title(tooltip), class_=f"line {class_}", d=_path(points))


def band(low: Sequence[Point], high: Sequence[Point], class_: str) -> Markup:
    """Return the area between two lines through positions."""
    return element("path", class_=f"band {class_}", d=_path([*high, *reversed(low)]) + "Z")


def dot(position: Point, class_: str, tooltip: str, radius: float = 4.0) -> Markup:
    """Return a dot."""
    return element("circle", _title(tooltip), class_=class_, cx=position[0], cy=position[1], r=radius)


def cross(position: Point, class_: str, tooltip: str, reach: float = 4.0) -> Markup:
    """Return a cross."""
    x, y = position
    path = f"M{x - reach:.1f} {y - reach:.1f}l{2 * reach:.1f} {2 * reach:.1f}m0 {-2 * reach:.1f}l{-2 * reach:.1f} {2 * reach:.1f}"
    return element("path", _title(tooltip), class_=class_, d=path)


def diamond(position: Point, class_: str, tooltip: str, reach: float = 5.5) -> Markup:
    """Return a diamond."""
    x, y = position
    return element(
        "path",
        _title(tooltip),
        class_=class_,
        d=_path([(x - reach, y), (x, y - reach), (x + reach, y), (x, y + reach)]) + "Z",
    )


def _title(tooltip: str | None) -> Markup | None:
    return None if tooltip is None else element("title", tooltip)


def _path(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)

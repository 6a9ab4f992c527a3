"""Charts as SVG: a frame with axes, and marks in it. Colours come from classes of page.css, which follow the theme."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pubench.html.markup import Child, Markup, element, join
from pubench.html.scale import Scale

#: Widths in pixels. A chart is drawn for a screen and for a phone, since scaled-down text would be unreadable.
WIDE, NARROW = 760, 348

Point = tuple[float, float]


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

"""What sections are built of."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pubench.reporting import figures
from pubench.reporting.markup import Child, Markup, element, join
from pubench.reporting.svg import NARROW, WIDE

#: The metric as it is written in running text.
AUL = Markup("AUL<sub>PU</sub>")


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Attributes:
        anchor: its address on the page.
        title: its heading.
        body: what stands below.
    """

    anchor: str
    title: str
    body: Markup

    def render(self) -> Markup:
        """Return the section with its heading."""
        heading = element("h2", self.title, id=f"{self.anchor}-title")
        labelled = f"{self.anchor}-title"
        return element("section", heading, self.body, id=self.anchor, aria_labelledby=labelled)


def paragraph(*children: Child, class_: str | None = None) -> Markup:
    """Return a paragraph."""
    return element("p", *children, class_=class_)


def figure(draw: Callable[[int], Markup], *caption: Child) -> Markup:
    """Return a chart in both widths, of which a reader sees one, and its caption."""
    return element(
        "figure",
        element("div", draw(WIDE), class_="wide"),
        element("div", draw(NARROW), class_="narrow"),
        element("figcaption", *caption),
    )


def panels(charts: Iterable[Markup], *caption: Child) -> Markup:
    """Return two charts side by side, or below each other where there is no room, and their caption."""
    return element("figure", element("div", *charts, class_="panels"), element("figcaption", *caption))


def legend(entries: Iterable[tuple[str, str]]) -> Markup:
    """Return what marks stand for: pairs of a class of the style sheet and a text."""
    return element(
        "ul",
        (element("li", element("span", class_=f"swatch {kind}"), label) for kind, label in entries),
        class_="legend",
    )


def bars(shares: Sequence[tuple[str, float]]) -> Markup:
    """Return shares as bars, the first as long as there is room."""
    longest = max(share for _, share in shares)
    return element(
        "ul",
        (
            element(
                "li",
                element("span", name, class_="name"),
                element("span", element("span", style=f"width:{100 * share / longest:.1f}%"), class_="bar"),
                element("span", figures.percent(share), class_="value"),
            )
            for name, share in shares
        ),
        class_="bars",
    )


def table(
    head: Sequence[str], rows: Iterable[Sequence[Child]], caption: str, numbers: tuple[int, ...] = (1,)
) -> Markup:
    """Return a table that scrolls by itself where it is too wide; `numbers` are the columns set to the right."""

    def cell(name: str, number: int, content: Child) -> Markup:
        return element(name, content, class_="number" if number in numbers else None)

    header = element("tr", (cell("th", i, title) for i, title in enumerate(head)))
    body = (element("tr", (cell("td", i, value) for i, value in enumerate(row))) for row in rows)
    content = element(
        "table",
        element("caption", caption, class_="unseen"),
        element("thead", header),
        element("tbody", *body),
    )
    return element("div", content, class_="scroll", tabindex="0", role="region", aria_label=caption)


def facts(pairs: Mapping[str, Child]) -> Markup:
    """Return figures with what they are."""
    return element(
        "dl",
        (element("div", element("dt", name), element("dd", value)) for name, value in pairs.items()),
        class_="facts",
    )


def listing(code: str) -> Markup:
    """Return code as it is typed."""
    return element("pre", element("code", code), tabindex="0")


def sentences(notices: Sequence[str]) -> Markup | None:
    """Return notices as a list; None without any."""
    return element("ul", (element("li", notice) for notice in notices), class_="notices") if notices else None


def stacked(first: Child, second: Child) -> Markup:
    """Return a value with a smaller one below."""
    return join(element("span", first), element("span", second, class_="below"))

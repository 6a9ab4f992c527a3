"""The parts of a page: what its sections are built of, such as figures, tables and lists, and the document around them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from pubench.html import numbers
from pubench.html.markup import Child, Markup, element, join
from pubench.html.svg import NARROW, WIDE

#: The name of the metric as it appears in running text.
AUL = Markup("AUL<sub>PU</sub>")


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Attributes:
        anchor: its id, which links on the page refer to.
        title: its heading.
        body: the content below the heading.
    """

    anchor: str
    title: str
    body: Markup

    def render(self) -> Markup:
        """Return the section with its heading."""
        heading = element("h2", self.title, id=f"{self.anchor}-title")
        return element("section", heading, self.body, id=self.anchor, aria_labelledby=f"{self.anchor}-title")


def paragraph(*children: Child, class_: str | None = None) -> Markup:
    """Return a paragraph."""
    return element("p", *children, class_=class_)


def figure(draw: Callable[[int], Markup], *caption: Child) -> Markup:
    """Return a chart with its caption, drawn in both widths; the style sheet shows the one that fits the screen."""
    return element(
        "figure",
        element("div", draw(WIDE), class_="wide"),
        element("div", draw(NARROW), class_="narrow"),
        element("figcaption", *caption),
    )


def legend(entries: Iterable[tuple[str, str]]) -> Markup:
    """Return the legend of a chart from pairs of a class of the style sheet and a label."""
    return element(
        "ul",
        (element("li", element("span", class_=f"swatch {kind}"), label) for kind, label in entries),
        class_="legend",
    )


def largest(shares: Mapping[str, float], count: int) -> list[tuple[str, float]]:
    """Return at most `count` of the largest shares by name, in descending order; ties keep their order."""
    return sorted(shares.items(), key=lambda item: -item[1])[:count]


def bars(shares: Sequence[tuple[str, float]]) -> Markup:
    """Return shares as horizontal bars; the largest has the full width."""
    longest = max(share for _, share in shares)
    return element(
        "ul",
        (
            element(
                "li",
                element("span", name, class_="name"),
                element("span", element("span", style=f"width:{100 * share / longest:.1f}%"), class_="bar"),
                element("span", numbers.percent(share), class_="value"),
            )
            for name, share in shares
        ),
        class_="bars",
    )


def table(
    head: Sequence[str], rows: Iterable[Sequence[Child]], caption: str, number_columns: tuple[int, ...] = (1,)
) -> Markup:
    """Return a table that scrolls by itself where it is too wide; `number_columns` are aligned to the right."""

    def cell(name: str, column: int, content: Child) -> Markup:
        return element(name, content, class_="number" if column in number_columns else None)

    header = element("tr", (cell("th", i, title) for i, title in enumerate(head)))
    body = (element("tr", (cell("td", i, value) for i, value in enumerate(row))) for row in rows)
    content = element(
        "table",
        element("caption", caption, class_="visually-hidden"),
        element("thead", header),
        element("tbody", *body),
    )
    return element("div", content, class_="scroll", tabindex="0", role="region", aria_label=caption)


def facts(pairs: Mapping[str, Child]) -> Markup:
    """Return values with their names as a description list."""
    return element(
        "dl",
        (element("div", element("dt", name), element("dd", value)) for name, value in pairs.items()),
        class_="facts",
    )


def listing(code: str) -> Markup:
    """Return code or configuration as a preformatted block."""
    return element("pre", element("code", code), tabindex="0")


def bullets(sentences: Sequence[str]) -> Markup | None:
    """Return sentences as a bulleted list; None without any."""
    if not sentences:
        return None
    return element("ul", (element("li", sentence) for sentence in sentences), class_="notices")


def unbroken(*children: Child) -> Markup:
    """Return a part of a section that is printed on one page."""
    return element("div", *children, class_="unbroken")


def card_cell(title: str, content: Child) -> Markup:
    """Return a number in a table of the class `cards`, whose rows are blocks on a phone and repeat the title of each column."""
    empty = " empty" if content == numbers.NO_VALUE else ""
    return element("td", element("span", content), class_=f"number{empty}", data_title=title)


def stacked(first: Child, second: Child) -> Markup:
    """Return a value with a second one below it in smaller type."""
    return join(element("span", first), element("span", second, class_="below"))


def document(title: str, policy: str, assets: Markup, *body: Child) -> str:
    """Return a whole HTML document.

    Args:
        title: of the browser's window.
        policy: the Content-Security-Policy that the browser enforces.
        assets: elements of the head that hold or load style and script.
        *body: content of the body.
    """
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", attributes={"http-equiv": "Content-Security-Policy"}, content=policy),
        element("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name_="color-scheme", content="light dark"),
        element("title", title),
        assets,
    )
    return "<!DOCTYPE html>\n" + element("html", head, element("body", *body), lang="en") + "\n"


def contents(sections: Sequence[Section]) -> Markup:
    """Return a list of links to the sections of the page."""
    links = (element("li", element("a", section.title, href=f"#{section.anchor}")) for section in sections)
    return element("ol", *links)


def style_sheet() -> str:
    """Return page.css, which reports embed and the leaderboard extends by site.css."""
    return files("pubench.html").joinpath("page.css").read_text(encoding="utf-8")

"""What all pages have in common."""

from collections.abc import Sequence
from importlib.resources import files

from pubench.leaderboard.evidence import Dataset
from pubench.leaderboard.labels import Entry
from pubench.reporting.markup import Child, Markup, element, join
from pubench.reporting.parts import Section

#: Only the site's own style and script; attributes of pictures may say how wide they are. Nothing from anywhere else.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
#: Pages stand at the top or one folder below.
_ASSETS = {
    depth: Markup(
        f'<link rel="icon" href="data:,"><link rel="stylesheet" href="{up}site.css">'
        f'<script src="{up}site.js" defer></script>'
    )
    for depth, up in ((0, ""), (1, "../"))
}


def page(title: str, heading: Child, sections: Sequence[Section], depth: int = 1) -> str:
    """Return a whole page; `depth` is how many folders it stands below the site's top."""
    up = "../" * depth
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", attributes={"http-equiv": "Content-Security-Policy"}, content=_POLICY),
        element("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name_="color-scheme", content="light dark"),
        element("title", title),
        _ASSETS[depth],
    )
    body = element(
        "body",
        element("a", "Skip to the content", class_="skip", href="#content"),
        element("div", _contents(sections, up), _main(heading, sections), class_="page board"),
    )
    return "<!DOCTYPE html>\n" + element("html", head, body, lang="en") + "\n"


def _contents(sections: Sequence[Section], up: str) -> Markup:
    home = element("a", "Leaderboard", href=f"{up}index.html", class_="home")
    links = (element("li", element("a", one.title, href=f"#{one.anchor}")) for one in sections)
    return element("nav", home, element("ol", *links), aria_label="Pages and sections", class_="contents")


def _main(heading: Child, sections: Sequence[Section]) -> Markup:
    return element("main", heading, join(*(section.render() for section in sections)), id="content")


def asset(name: str) -> str:
    """Return the text of a file that goes with the pages."""
    return files("pubench.leaderboard.site").joinpath(name).read_text(encoding="utf-8")


def style() -> str:
    """Return the style sheet: that of reports, and what a board needs besides."""
    report = files("pubench.reporting").joinpath("page.css").read_text(encoding="utf-8")
    return report + asset("site.css")


def entry_link(entry: Entry, up: str) -> Markup:
    """Return a contender with a link to its page."""
    return element("a", entry.label, href=f"{up}methods/{entry.id}.html")


def dataset_link(dataset: Dataset, up: str) -> Markup:
    """Return a data set with a link to its page, marked where it is a stand-in."""
    link = element("a", dataset.label, href=f"{up}datasets/{dataset.id}.html")
    return join(link, " ", stand_in_tag()) if dataset.stand_in else link


def stand_in_tag() -> Markup:
    """Return the mark of synthetic data."""
    return element("span", "synthetic stand-in", class_="tag")

"""Whole documents: what a report and the pages of a leaderboard have in common around their sections."""

from collections.abc import Sequence
from importlib.resources import files

from pubench.html.markup import Child, Markup, element
from pubench.html.parts import Section


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

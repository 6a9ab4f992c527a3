"""The page as a whole."""

from importlib.resources import files
from pathlib import Path

from pubench.atomic import replacing
from pubench.reporting.contexts import again, data
from pubench.reporting.markup import Markup, element, join
from pubench.reporting.models import features, neighbours
from pubench.reporting.outcomes import comparison, lift, verdict
from pubench.reporting.parts import Section
from pubench.reporting.report import Report
from pubench.reporting.trials import parameters, search

#: The page needs nothing from anywhere, and a browser holds it to that.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def write_report(report: Report, path: Path) -> None:
    """Write the report as one HTML file that needs no other; what was at `path` is replaced.

    Raises:
        DataError: it can not be written.
    """
    page = render(report)
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def render(report: Report) -> str:
    """Return the page."""
    sections = [
        comparison(report),
        lift(report),
        neighbours(report),
        search(report),
        parameters(report),
        features(report),
        data(report),
        again(report),
    ]
    shown = [section for section in sections if section is not None]
    body = element(
        "body",
        element("div", _contents(shown), _main(report, shown), class_="page"),
    )
    return "<!DOCTYPE html>\n" + element("html", _head(report), body, lang="en") + "\n"


def _head(report: Report) -> Markup:
    style = files("pubench.reporting").joinpath("page.css").read_text(encoding="utf-8")
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", attributes={"http-equiv": "Content-Security-Policy"}, content=_POLICY),
        element("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name_="color-scheme", content="light dark"),
        element("title", f"{report.subject.name}: pubench tune"),
        element("style", Markup(style)),
    )


def _contents(sections: list[Section]) -> Markup:
    links = (element("li", element("a", one.title, href=f"#{one.anchor}")) for one in sections)
    return element("nav", element("ol", *links), aria_label="Sections", class_="contents")


def _main(report: Report, sections: list[Section]) -> Markup:
    return element("main", verdict(report), join(*(section.render() for section in sections)))

"""The report as one HTML file: which sections it has, and in which order."""

from pathlib import Path

from pubench.html.markup import Markup, element, join
from pubench.html.parts import contents, document, style_sheet
from pubench.report.call_sections import calls_section
from pubench.report.data_sections import data_section, reproduction_section
from pubench.report.result_sections import (
    features_section,
    leaderboard_section,
    lift_section,
    neighbours_section,
    page_header,
)
from pubench.report.search_sections import parameters_section, search_section
from pubench.report.values import Report
from pubench.system.files import write_whole

#: The page loads nothing, and the browser enforces that.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def write_report(report: Report, path: Path) -> None:
    """Write the report as one HTML file that needs no other file; an existing file at `path` is replaced.

    Raises:
        DataError: the file cannot be written.
    """
    page = report_page(report)
    with write_whole(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def report_page(report: Report) -> str:
    """Return the report as HTML."""
    candidates = [
        leaderboard_section(report),
        calls_section(report),
        lift_section(report),
        search_section(report),
        parameters_section(report),
        features_section(report),
        neighbours_section(report),
        data_section(report),
        reproduction_section(report),
    ]
    sections = [section for section in candidates if section is not None]
    navigation = element("nav", contents(sections), aria_label="Sections", class_="contents")
    main = element("main", page_header(report), join(*(section.render() for section in sections)))
    body = element("div", navigation, main, class_="page")
    style = element("style", Markup(style_sheet()))
    return document(f"{report.subject.name}: pubench tune", _POLICY, style, body)

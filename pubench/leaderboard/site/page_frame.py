"""What all pages of the site have in common: their frame, links, and the format of values."""

from collections.abc import Sequence
from importlib.resources import files

from pubench.html import numbers
from pubench.html.markup import Child, Markup, element, join
from pubench.html.parts import Section, contents, document, style_sheet
from pubench.leaderboard.display_names import BoardEntry
from pubench.leaderboard.ranking import RankedTask
from pubench.leaderboard.runs import BoardDataset
from pubench.leaderboard.task_results import known

#: Pages load only the style sheet and script of the site; style attributes are allowed because charts set their width.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)


def page(title: str, heading: Child, sections: Sequence[Section], depth: int = 1) -> str:
    """Return a whole page; `depth` is the number of folders between it and the top of the site."""
    up = "../" * depth
    home = element("a", "Leaderboard", href=f"{up}index.html", class_="home")
    navigation = element("nav", home, contents(sections), aria_label="Pages and sections", class_="contents")
    main = element("main", heading, join(*(section.render() for section in sections)), id="content")
    return document(
        title,
        _POLICY,
        _assets(up),
        element("a", "Skip to the content", class_="skip", href="#content"),
        element("div", navigation, main, class_="page board"),
    )


def _assets(up: str) -> Markup:
    return Markup(
        f'<link rel="icon" href="data:,"><link rel="stylesheet" href="{up}site.css">'
        f'<script src="{up}site.js" defer></script>'
    )


def packaged_text(name: str) -> str:
    """Return a text file of this package, such as site.js."""
    return files("pubench.leaderboard.site").joinpath(name).read_text(encoding="utf-8")


def site_style() -> str:
    """Return the style sheet of the site: page.css and what a board adds to it."""
    return style_sheet() + packaged_text("site.css")


def entry_link(entry: BoardEntry, up: str) -> Markup:
    """Return the label of a contender with a link to its page; `up` leads to the top of the site."""
    return element("a", entry.label, href=f"{up}methods/{entry.id}.html")


def dataset_link(dataset: BoardDataset, up: str) -> Markup:
    """Return the label of a data set with a link to its page; a stand-in is marked."""
    link = element("a", dataset.label, href=f"{up}datasets/{dataset.id}.html")
    return join(link, " ", stand_in_tag()) if dataset.stand_in else link


def stand_in_tag() -> Markup:
    """Return the tag that marks synthetic data."""
    return element("span", "synthetic stand-in", class_="tag")


def value_text(key: str, value: float | None) -> str:
    """Return the text of a table cell by the name of its value; site.js formats values in the same way."""
    if value is None:
        return numbers.NO_VALUE
    if key in {"aul_pu", "auc"}:
        return numbers.area(value)
    if key in {"win_rate", "failures"}:
        return f"{100 * value:.0f}%"
    return numbers.seconds(value) if key.endswith("seconds") else f"{value:g}"


def rank_text(ranked_task: RankedTask, row: int) -> str:
    """Return a contender's rank on a task, marked if values of failed runs are part of it."""
    rank = known(ranked_task.ranks[row])
    mark = "†" if ranked_task.results.failed[row].any() else ""
    return numbers.NO_VALUE if rank is None else f"{rank:.4g}{mark}"

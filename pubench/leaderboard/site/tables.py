"""The tables of the overview."""

import json
from collections.abc import Mapping, Sequence

from pubench.leaderboard.board import Board, View
from pubench.leaderboard.data_files import verified_counts
from pubench.leaderboard.pairs import Pair
from pubench.leaderboard.ranking import Standing
from pubench.leaderboard.site.charts import rank_whisker
from pubench.leaderboard.site.frame import entry_link
from pubench.reporting import figures
from pubench.reporting.markup import Child, Markup, element
from pubench.reporting.parts import AUL

#: The columns that the script sorts by: name of the value, title, whether small comes first, what it is.
COLUMNS: Sequence[tuple[str, Child, bool, str]] = (
    (
        "rank",
        "Mean rank",
        True,
        "Mean over data sets of the rank by AUL_PU, 1 is best, with its 95% interval",
    ),
    ("aul_pu", AUL, False, "Mean AUL_PU"),
    ("auc", "AUC", False, "Mean AUC, on data sets whose truth is known"),
    ("win_rate", "Win rate", False, "Share of the other methods on the same tasks that it beats"),
    ("failures", "Failed", True, "Share of its runs that failed"),
    ("fit_seconds", "Fit", True, "Median time to fit, of tuned methods with their search"),
    ("predict_seconds", "Predict", True, "Median seconds to predict"),
    ("tasks", "Tasks", False, "Tasks it was tried on"),
)
MOST_IN_MATRIX = 20
_SIGNIFICANT = 0.05


def overview_table(board: Board) -> Markup:
    """Return the ranking: a row per contender, in which each cell has its value for the script."""
    heads = (
        element(
            "th",
            element("button", title, type="button", title=told, data_key=key, data_up="1" if up else None),
            class_="number",
            scope="col",
            aria_sort="ascending" if key == "rank" else "none",
        )
        for key, title, up, told in COLUMNS
    )
    head = element(
        "tr",
        element("th", "#", class_="number", scope="col"),
        element("th", element("button", "Method", type="button", data_key="label", data_up="1"), scope="col"),
        *heads,
        element("th", "Verified", scope="col"),
    )
    rows = (_row(board, place, one) for place, one in enumerate(board.standings, start=1))
    caption = element("caption", "Methods by mean rank", class_="unseen")
    table = element("table", caption, element("thead", head), element("tbody", *rows), class_="ranking")
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label="Ranking")


def _row(board: Board, place: int, one: Standing) -> Markup:
    entry = board.evidence.entries[one.entry]
    agrees, differs = verified_counts(board, board.evidence.runs_by_entry[one.entry])
    state = "differs" if differs else "agrees" if agrees else "no"
    return element(
        "tr",
        element("td", str(place), class_="number place"),
        element("th", entry_link(entry, ""), scope="row"),
        (element("td", _cell(key, one, board), class_="number", data_key=key) for key, *_ in COLUMNS),
        element("td", _verified(agrees, differs, len(board.evidence.runs_by_entry[one.entry]))),
        data_entry=one.entry,
        data_tuned="yes" if entry.tuned else "no",
        data_verified=state,
    )


def _verified(agrees: int, differs: int, runs: int) -> Markup:
    if differs:
        return element("span", f"✗ {differs} of {runs} differ", class_="alarm")
    return element("span", f"✓ {agrees} of {runs}" if agrees else "no", class_=None if agrees else "muted")


def _cell(key: str, one: Standing, board: Board) -> Child:
    if key == "rank":
        rank, low, high = kept(one.rank), kept(one.low), kept(one.high)
        text = figures.NOTHING if rank is None else f"{rank:.2f}{'†' if one.imputed else ''}"
        span = f"{low:.2f} to {high:.2f}" if low is not None else ""
        whisker = rank_whisker(one, len(board.evidence.entries))
        return (element("span", text, class_="value"), whisker, element("span", span, class_="below"))
    return figure_text(key, kept(getattr(one, key)))


def figure_text(key: str, value: float | None) -> str:
    """Return a cell's figure; the script writes the same."""
    if value is None:
        return figures.NOTHING
    if key in {"aul_pu", "auc"}:
        return figures.area(value)
    if key in {"win_rate", "failures"}:
        return f"{100 * value:.0f}%"
    return figures.seconds(value) if key.endswith("seconds") else f"{value:g}"


def views_block(board: Board) -> Markup:
    """Return all views as a block of JSON in the page: pages that are opened as files may not load any."""
    tables: list[list[list[float | None]]] = []
    numbers: dict[int, int] = {}
    names = {}
    for view in board.views:
        if id(view.standings) not in numbers:
            numbers[id(view.standings)] = len(tables)
            tables.append([_packed(one) for one in view.standings])
        names[_view_name(view)] = numbers[id(view.standings)]
    keys = ["entry", *(key for key, *_ in COLUMNS), "low", "high", "imputed"]
    content = {"keys": keys, "field": len(board.evidence.entries), "views": names, "tables": tables}
    return element("script", json_text(content), type="application/json", id="views")


def json_text(content: Mapping[str, object]) -> Markup:
    """Return JSON that can stand in a page's script element: nothing in it can end the element."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def _view_name(view: View) -> str:
    return f"{'' if view.dataset is None else view.dataset},{'' if view.theta is None else view.theta}"


def _packed(one: Standing) -> list[float | None]:
    values = [one.entry, *(getattr(one, key) for key, *_ in COLUMNS), one.low, one.high, int(one.imputed)]
    return [kept(value) for value in values]


def kept(value: float | None) -> float | None:
    """Return a value with as many digits as the page keeps: what is written is made of these, here and in the script."""
    return round(value, 6) if isinstance(value, float) else value


def win_matrix(board: Board) -> Markup:
    """Return who beats whom among the best: the share of tasks won, marked where the difference is significant."""
    leading = [one.entry for one in board.standings[:MOST_IN_MATRIX]]
    pairs: dict[tuple[int, int], tuple[Pair, bool]] = {}
    for pair in board.pairs:
        pairs[pair.a, pair.b] = pair, False
        pairs[pair.b, pair.a] = pair, True
    numbers = (element("th", str(i), scope="col", class_="number") for i in range(1, len(leading) + 1))
    head = element("tr", element("th", "#", class_="number"), element("th", "Method", scope="col"), *numbers)
    rows = (
        element(
            "tr",
            element("td", str(place), class_="number"),
            element("th", entry_link(board.evidence.entries[entry], ""), scope="row"),
            (_win_cell(pairs.get((entry, other)), same=entry == other) for other in leading),
        )
        for place, entry in enumerate(leading, start=1)
    )
    caption = element(
        "caption", "Share of tasks on which the row's method beats the column's", class_="unseen"
    )
    table = element("table", caption, element("thead", head), element("tbody", *rows), class_="wins")
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label="Who beats whom")


def _win_cell(found: tuple[Pair, bool] | None, *, same: bool) -> Markup:
    if found is None:
        return element("td", "" if same else figures.NOTHING, class_="number same" if same else "number")
    pair, turned = found
    wins, difference = (pair.losses, -pair.difference) if turned else (pair.wins, pair.difference)
    share = (wins + pair.ties / 2) / (pair.wins + pair.losses + pair.ties)
    significant = pair.p_holm < _SIGNIFICANT
    mark = ("▲" if difference > 0 else "▼") if significant else ""
    told = f"{figures.change(difference)} AUL_PU, {p_text(pair.p_holm)} ({tested_by(pair)}, Holm)"
    kind = f"number tint-{round(4 * share)}"
    return element(
        "td",
        f"{100 * share:.0f}",
        element("span", mark, class_="mark") if mark else None,
        class_=kind,
        title=told,
    )


def tested_by(pair: Pair) -> str:
    """Return in words what was tested."""
    return {
        "placements": "paired by rows",
        "wilcoxon": "Wilcoxon over tasks",
        "none": "too few tasks to test",
    }[pair.test]


def p_text(p_value: float) -> str:
    """Return a p-value as it stands in a sentence."""
    text = figures.chance(p_value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"

"""The tables of the overview: the ranking, whose views the script shows, and the win matrix."""

import json
from collections.abc import Mapping, Sequence

from pubench.html import numbers
from pubench.html.markup import Child, Markup, element
from pubench.html.parts import AUL
from pubench.leaderboard.board import Board, BoardView
from pubench.leaderboard.export import verified_counts
from pubench.leaderboard.pairs import Pair
from pubench.leaderboard.ranking import Standing
from pubench.leaderboard.site.page_frame import entry_link, value_text
from pubench.leaderboard.site.rank_charts import rank_whisker

#: The columns that the script sorts by: name of the value, title, whether small values come first, description.
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
    ("tasks", "Tasks", False, "Number of tasks it was run on"),
)
MAX_IN_MATRIX = 20
_SIGNIFICANT = 0.05


def overview_table(board: Board) -> Markup:
    """Return the ranking, one row per contender; attributes of the rows and cells are for the script."""
    heads = (
        element(
            "th",
            element(
                "button", title, type="button", title=description, data_key=key, data_up="1" if up else None
            ),
            class_="number",
            scope="col",
            aria_sort="ascending" if key == "rank" else "none",
        )
        for key, title, up, description in COLUMNS
    )
    head = element(
        "tr",
        element("th", "#", class_="number", scope="col"),
        element("th", element("button", "Method", type="button", data_key="label", data_up="1"), scope="col"),
        *heads,
        element("th", "Verified", scope="col"),
    )
    rows = (_row(board, position, standing) for position, standing in enumerate(board.standings, start=1))
    caption = element("caption", "Methods by mean rank", class_="visually-hidden")
    table = element("table", caption, element("thead", head), element("tbody", *rows), class_="ranking")
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label="Ranking")


def _row(board: Board, position: int, standing: Standing) -> Markup:
    entry, runs = board.ranked.entries[standing.entry], board.ranked.runs_by_entry[standing.entry]
    agrees, differs = verified_counts(board, runs)
    state = "differs" if differs else "agrees" if agrees else "no"
    return element(
        "tr",
        element("td", str(position), class_="number place"),
        element("th", entry_link(entry, ""), scope="row"),
        (element("td", _cell(key, standing, board), class_="number", data_key=key) for key, *_ in COLUMNS),
        element("td", _verified(agrees, differs, len(runs))),
        data_entry=standing.entry,
        data_tuned="yes" if entry.tuned else "no",
        data_verified=state,
    )


def _verified(agrees: int, differs: int, runs: int) -> Markup:
    if differs:
        return element("span", f"✗ {differs} of {runs} differ", class_="alarm")
    return element("span", f"✓ {agrees} of {runs}" if agrees else "no", class_=None if agrees else "muted")


def _cell(key: str, standing: Standing, board: Board) -> Child:
    if key == "rank":
        rank, low, high = rounded(standing.rank), rounded(standing.low), rounded(standing.high)
        text = numbers.NO_VALUE if rank is None else f"{rank:.2f}{'†' if standing.imputed else ''}"
        interval = f"{low:.2f} to {high:.2f}" if low is not None else ""
        whisker = rank_whisker(standing, len(board.ranked.entries))
        return (element("span", text, class_="value"), whisker, element("span", interval, class_="below"))
    return value_text(key, rounded(getattr(standing, key)))


def views_block(board: Board) -> Markup:
    """Return all views as a JSON block within the page, since pages opened from a disk cannot load files."""
    tables: list[list[list[float | None]]] = []
    index_of: dict[int, int] = {}
    names = {}
    for view in board.views:
        if id(view.standings) not in index_of:
            index_of[id(view.standings)] = len(tables)
            tables.append([_packed(standing) for standing in view.standings])
        names[_view_name(view)] = index_of[id(view.standings)]
    keys = ["entry", *(key for key, *_ in COLUMNS), "low", "high", "imputed"]
    content = {"keys": keys, "field": len(board.ranked.entries), "views": names, "tables": tables}
    return element("script", json_text(content), type="application/json", id="views")


def json_text(content: Mapping[str, object]) -> Markup:
    """Return JSON for a script element; nothing in it can end the element."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def _view_name(view: BoardView) -> str:
    return f"{'' if view.dataset is None else view.dataset},{'' if view.theta is None else view.theta}"


def _packed(standing: Standing) -> list[float | None]:
    columns = [getattr(standing, key) for key, *_ in COLUMNS]
    values = [standing.entry, *columns, standing.low, standing.high, int(standing.imputed)]
    return [rounded(value) for value in values]


def rounded(value: float | None) -> float | None:
    """Return a value with six decimals, from which page and script format the same text."""
    return round(value, 6) if isinstance(value, float) else value


def win_matrix(board: Board) -> Markup:
    """Return the shares of tasks won among the best contenders, marked where the difference is significant."""
    leading = [standing.entry for standing in board.standings[:MAX_IN_MATRIX]]
    pairs: dict[tuple[int, int], tuple[Pair, bool]] = {}
    for pair in board.pairs:
        pairs[pair.a, pair.b] = pair, False
        pairs[pair.b, pair.a] = pair, True
    columns = (element("th", str(i), scope="col", class_="number") for i in range(1, len(leading) + 1))
    head = element("tr", element("th", "#", class_="number"), element("th", "Method", scope="col"), *columns)
    rows = (
        element(
            "tr",
            element("td", str(position), class_="number"),
            element("th", entry_link(board.ranked.entries[entry], ""), scope="row"),
            (_win_cell(pairs.get((entry, other)), same=entry == other) for other in leading),
        )
        for position, entry in enumerate(leading, start=1)
    )
    caption = element(
        "caption", "Share of tasks on which the row's method beats the column's", class_="visually-hidden"
    )
    table = element("table", caption, element("thead", head), element("tbody", *rows), class_="wins")
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label="Who beats whom")


def _win_cell(compared: tuple[Pair, bool] | None, *, same: bool) -> Markup:
    if compared is None:
        return element("td", "" if same else numbers.NO_VALUE, class_="number same" if same else "number")
    pair, swapped = compared
    wins, difference = (pair.losses, -pair.difference) if swapped else (pair.wins, pair.difference)
    share = (wins + pair.ties / 2) / (pair.wins + pair.losses + pair.ties)
    significant = pair.p_holm < _SIGNIFICANT
    mark = ("▲" if difference > 0 else "▼") if significant else ""
    text = f"{numbers.difference(difference)} AUL_PU, {p_text(pair.p_holm)} ({test_text(pair)}, Holm)"
    return element(
        "td",
        f"{100 * share:.0f}",
        element("span", mark, class_="mark") if mark else None,
        class_=f"number tint-{round(4 * share)}",
        title=text,
    )


def test_text(pair: Pair) -> str:
    """Return the name of the test of a pair."""
    return {
        "placements": "paired by rows",
        "wilcoxon": "Wilcoxon over tasks",
        "none": "too few tasks to test",
    }[pair.test]


def p_text(p_value: float) -> str:
    """Return a p-value for use in a sentence."""
    text = numbers.p_value(p_value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"

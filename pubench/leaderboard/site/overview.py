"""The first page of the site: the ranking, its uncertainty, and how it was computed."""

from collections import Counter
from collections.abc import Iterable

import numpy as np

from pubench.html import numbers
from pubench.html.markup import Child, Markup, element, join
from pubench.html.parts import AUL, Section, bullets, facts, figure, paragraph, table
from pubench.leaderboard.board import Board
from pubench.leaderboard.export import DOWNLOADS
from pubench.leaderboard.pairs import MAX_COMPARED
from pubench.leaderboard.ranking import CONFIDENCE, RESAMPLES
from pubench.leaderboard.significance import ALPHA
from pubench.leaderboard.site.overview_tables import (
    MAX_IN_MATRIX,
    overview_table,
    p_text,
    views_block,
    win_matrix,
)
from pubench.leaderboard.site.page_frame import dataset_link, page
from pubench.leaderboard.site.rank_charts import (
    TimedEntry,
    critical_differences,
    pareto_front,
    quality_and_time,
)

_MAX_PROBLEMS = 20
_SEARCH_INPUT = Markup('<input type="search" id="find" autocomplete="off" placeholder="part of a name">')


def overview_page(board: Board) -> str:
    """Return the first page as HTML."""
    candidates = [
        _ranking(board),
        _wins(board),
        _differences(board),
        _times(board),
        _choosing(board),
        _datasets(board),
        _reading(board),
        _downloads(),
    ]
    sections = [section for section in candidates if section is not None]
    return page("pubench leaderboard", _heading(board), sections, depth=0)


def _heading(board: Board) -> Markup:
    ranked = board.ranked
    stand_ins = sum(dataset.stand_in for dataset in ranked.datasets)
    verified = sum(verification.agrees for verification in board.verifications.values())
    summary: dict[str, Child] = {
        "Methods": numbers.count(len(ranked.entries)),
        "Data sets": numbers.count(len(ranked.datasets)),
        **({"of them synthetic stand-ins": numbers.count(stand_ins)} if stand_ins else {}),
        "Tasks": numbers.count(len(ranked.tasks)),
        "Runs": numbers.count(len(ranked.runs)),
        "Failed runs": numbers.count(sum(not run.ok for run in ranked.runs)),
        "Verified runs": numbers.count(verified),
    }
    return join(
        paragraph("pubench leaderboard", class_="kicker"),
        element("h1", "Learning from positives and unlabeled rows"),
        paragraph(
            "Methods ranked by ", AUL, ", the probability that a labelled positive scores above a random row. No negative "
            "labels are needed to measure it.", class_="subtitle",
        ),
        element("div", facts(summary), class_="figures"),
    )  # fmt: skip


def _ranking(board: Board) -> Section:
    imputed = any(standing.imputed for standing in board.standings)
    body = join(
        _filters(board),
        overview_table(board),
        paragraph(
            f"Below each mean rank is its {CONFIDENCE:.0%} interval. ",
            "† Includes failed runs: a failed fold counts as a random order (AUL_PU 0.5), or as the lowest value on that "
            "fold if this is less; a method that failed on all folds of a task has the worst rank there. "
            if imputed
            else None,
            class_="muted",
        ),
        views_block(board),
    )
    return Section("ranking", "Ranking", body)


def _filters(board: Board) -> Markup:
    datasets = [(str(i), dataset.shown) for i, dataset in enumerate(board.ranked.datasets)]
    thetas = [
        (str(i), "as observed" if theta is None else f"{theta:g}") for i, theta in enumerate(board.thetas)
    ]
    return element(
        "div",
        _select("dataset", "Data set", [("", "all"), *datasets]),
        _select("theta", "Share labelled, θ_O", [("", "all"), *thetas]),
        _select("tuned", "Parameters", [("", "default and tuned"), ("no", "default"), ("yes", "tuned")]),
        _select("verified", "Verified", [("", "all"), ("agrees", "run again, agrees"), ("differs", "run again, differs"), ("no", "not yet")]),
        element("label", element("span", "Method"), _SEARCH_INPUT),
        element("p", class_="muted", id="count", role="status"),
        class_="filters",
        role="search",
        aria_label="Filter the ranking",
    )  # fmt: skip


def _select(name: str, title: str, options: Iterable[tuple[str, str]]) -> Markup:
    choices = (element("option", text, value=value) for value, text in options)
    return element("label", element("span", title), element("select", *choices, id=name))


def _wins(board: Board) -> Section | None:
    """Return the win matrix; None if no two methods were run on the same task."""
    if not board.pairs:
        return None
    body = join(
        paragraph(
            "The percentage of tasks on which the method of the row beats that of the column. ▲: it is better, ▼: it is "
            "worse, with a p-value below 0.05 after Holm's correction for all pairs. The tests are paired tests on the "
            "labelled rows of shared test folds, or Wilcoxon's test over tasks where two methods share none. They refer "
            "to these data sets. Hover over a cell for the difference."
        ),
        win_matrix(board),
        paragraph(
            f"The best {MAX_IN_MATRIX} methods; pairs.csv compares {min(MAX_COMPARED, len(board.standings))}.",
            class_="muted",
        )
        if len(board.standings) > MAX_IN_MATRIX
        else None,
    )
    return Section("wins", "Who beats whom", body)


def _differences(board: Board) -> Section:
    """Return the critical-difference diagram, or the reason why there is none."""
    tests = board.tests
    if tests is None:
        return Section(
            "differences",
            "Critical differences",
            paragraph(
                "Friedman's test needs at least three methods that differ and were run on the same three data sets."
            ),
        )
    labels = [board.ranked.entries[i].label for i in tests.entries]
    left_out = [board.ranked.entries[i].label for i in tests.left_out_entries]
    left_out += [board.ranked.datasets[i].shown for i in tests.left_out_datasets]
    further = len(board.standings) - len(tests.entries) - len(tests.left_out_entries)
    body = join(
        paragraph(
            f"Tests over data sets: Friedman's test on {numbers.counted(len(tests.datasets), 'data set')} has "
            f"χ² = {tests.statistic:.1f}, {p_text(tests.p_value)}. By Nemenyi's post-hoc test, two methods "
            f"differ at {ALPHA:g} where their whiskers do not overlap, which is where their mean ranks are more than "
            f"{tests.critical_difference:.2f} apart."
            " Bars, if there are any, join methods that do not differ."
        ),
        figure(
            lambda width: critical_differences(tests, labels, width),
            "Mean ranks within data sets on which all of these methods were run.",
            f" Left out, not run on the same data sets: {', '.join(left_out)}." if left_out else None,
            f" The best {len(tests.entries)} methods; {further} more are not tested."
            if further > 0
            else None,
        ),
    )
    return Section("differences", "Critical differences", body)


def _times(board: Board) -> Section | None:
    """Return quality against time; None if no time is known."""
    known = {
        standing.entry: (standing.rank, standing.fit_seconds)
        for standing in board.standings
        if standing.rank is not None and standing.fit_seconds is not None
    }
    if not known:
        return None
    entries, optimal = board.ranked.entries, pareto_front(list(known.values()))
    timed = [
        TimedEntry(entries[i].label, f"methods/{entries[i].id}.html", rank, max(seconds, 1e-3), best)
        for (i, (rank, seconds)), best in zip(known.items(), optimal, strict=True)
    ]
    body = join(
        paragraph(
            "A diamond marks a method that no other method beats in both. The time of a tuned method includes its search. "
            "Times depend on the machines of the runs."
        ),
        figure(lambda width: quality_and_time(timed, width), "Mean rank and median time to fit."),
    )
    return Section("times", "Quality and time", body)


def _choosing(board: Board) -> Section | None:
    """Return what choosing without truth costs; None if no truth is known."""
    if not board.regrets:
        return None
    lost = np.array([regret.lost for regret in board.regrets])
    taus = np.array([regret.tau for regret in board.regrets if regret.tau is not None])
    rows = [
        (
            board.ranked.tasks[regret.task].label,
            numbers.count(regret.contenders),
            numbers.area(regret.best_auc),
            numbers.area(regret.chosen_auc),
            numbers.area(regret.lost),
            numbers.NO_VALUE if regret.tau is None else f"{regret.tau:.2f}",
        )
        for regret in board.regrets
    ]
    head = ("Task", "Methods", "Best AUC", "AUC of the chosen", "Lost", "Kendall's τ")
    body = join(
        paragraph(
            "Without truth, the method with the highest ", AUL, " is chosen. On tasks whose truth is known, this "
            f"choice loses {numbers.area(float(lost.mean()))} AUC on average and {numbers.area(float(lost.max()))} at "
            "most against the best choice. ",
            f"The two orders agree with a mean Kendall's τ of {taus.mean():.2f}." if len(taus) else None,
        ),
        element("details", element("summary", "Task by task"), table(head, rows, "Regret of choosing without truth", (1, 2, 3, 4, 5))),
    )  # fmt: skip
    return Section("choosing", "Choosing without truth", body)


def _datasets(board: Board) -> Section:
    counts = Counter(task.dataset for task in board.ranked.tasks)
    rows = [
        (
            dataset_link(dataset, ""),
            numbers.NO_VALUE if dataset.rows is None else numbers.count(dataset.rows),
            numbers.NO_VALUE if dataset.features is None else numbers.count(dataset.features),
            numbers.count(counts[i]),
        )
        for i, dataset in enumerate(board.ranked.datasets)
    ]
    body = table(("Data set", "Rows", "Features", "Tasks"), rows, "Data sets", (1, 2, 3))
    return Section("datasets", "Data sets", body)


def _reading(board: Board) -> Section:
    """Return how the board was computed, and which files could not be used."""
    problems = [file.reason for file in board.unreadable[:_MAX_PROBLEMS]]
    more = len(board.unreadable) - len(problems)
    body = join(
        bullets(
            [
                (
                    "A task is a data set with a share θ_O of its positives labelled and a number of rows. On a task methods "
                    "are ranked by their mean AUL_PU over folds and seeds; ties share the mean of their ranks. Where not "
                    "all methods were run, ranks are stretched to the number of all methods."
                ),
                (
                    "The mean rank is the mean over data sets; each counts once, whatever its number of tasks. Its interval "
                    f"is a bootstrap over data sets and folds, {RESAMPLES:,} draws with a fixed seed: the same records "
                    "give the same board."
                ),
                (
                    "Failures are shown and never dropped; they count as described below the ranking. A task without runs of "
                    "a method does not count for this method; the column Tasks gives the number of tasks that count."
                ),
                (
                    "A filter by data set or θ_O ranks again on the selected tasks; the other filters only hide rows, and "
                    "the ranks among all methods stay."
                ),
                "Verified: the specification in the record was run again and the results were compared. Differences are shown.",
                ("A synthetic stand-in replaces data that is not public. It is marked as such everywhere."),
            ]
        ),
        element("h3", "Files that could not be used") if problems else None,
        bullets([*problems, *([f"{more} more."] if more > 0 else [])]),
    )
    return Section("reading", "How to read this", body)


def _downloads() -> Section:
    links = (
        element("li", element("a", name, href=name, attributes={"download": ""}), f": {description}")
        for name, description in DOWNLOADS.items()
    )
    return Section("downloads", "Downloads", element("ul", *links, class_="notices"))

"""The first page: who is best, and how sure that is."""

from collections.abc import Iterable

import numpy as np

from pubench.leaderboard.board import Board
from pubench.leaderboard.data_files import DOWNLOADS
from pubench.leaderboard.pairs import MOST_COMPARED
from pubench.leaderboard.posthoc import ALPHA
from pubench.leaderboard.ranking import CONFIDENCE, RESAMPLES
from pubench.leaderboard.site.charts import Timed, critical_differences, frontier, quality_and_time
from pubench.leaderboard.site.frame import dataset_link, page
from pubench.leaderboard.site.tables import MOST_IN_MATRIX, overview_table, p_text, views_block, win_matrix
from pubench.reporting import figures
from pubench.reporting.markup import Child, Markup, element, join
from pubench.reporting.parts import AUL, Section, facts, figure, paragraph, sentences, table

_MOST_PROBLEMS = 20
_FIND = Markup('<input type="search" id="find" autocomplete="off" placeholder="part of a name">')


def overview_page(board: Board) -> str:
    """Return the first page."""
    sections = [
        ranking(board),
        wins(board),
        differences(board),
        times(board),
        choosing(board),
        datasets(board),
        reading(board),
        downloads(),
    ]
    shown = [section for section in sections if section is not None]
    return page("pubench leaderboard", _heading(board), shown, depth=0)


def _heading(board: Board) -> Markup:
    evidence = board.evidence
    stand_ins = sum(dataset.stand_in for dataset in evidence.datasets)
    verified = sum(one.agrees for one in board.verifications.values())
    figures_shown: dict[str, Child] = {
        "Methods": figures.count(len(evidence.entries)),
        "Data sets": figures.count(len(evidence.datasets)),
        **({"of them synthetic stand-ins": figures.count(stand_ins)} if stand_ins else {}),
        "Tasks": figures.count(len(evidence.tasks)),
        "Runs": figures.count(len(evidence.runs)),
        "Failed runs": figures.count(sum(not run.ok for run in evidence.runs)),
        "Verified runs": figures.count(verified),
    }
    return join(
        paragraph("pubench leaderboard", class_="kicker"),
        element("h1", "Learning from positives and unlabeled rows"),
        paragraph(
            "Methods ranked by ", AUL, ", the chance that a labelled positive scores above a random row: no negative "
            "label is needed for it.", class_="subtitle",
        ),
        element("div", facts(figures_shown), class_="figures"),
    )  # fmt: skip


def ranking(board: Board) -> Section:
    """Return the table with its filters."""
    imputed = any(one.imputed for one in board.standings)
    body = join(
        _filters(board),
        overview_table(board),
        paragraph(
            f"Below each mean rank its {CONFIDENCE:.0%} interval. ",
            "† Part of it stands for failed runs: a failed fold counts as a random order (AUL_PU 0.5), or as the "
            "lowest value on that fold; who failed on all folds of a task has the worst rank there. "
            if imputed
            else None,
            class_="muted",
        ),
        views_block(board),
    )
    return Section("ranking", "Ranking", body)


def _filters(board: Board) -> Markup:
    datasets = [(str(i), one.shown) for i, one in enumerate(board.evidence.datasets)]
    thetas = [
        (str(i), "as observed" if theta is None else f"{theta:g}") for i, theta in enumerate(board.thetas)
    ]
    return element(
        "div",
        _select("dataset", "Data set", [("", "all"), *datasets]),
        _select("theta", "Share labelled, θ_O", [("", "all"), *thetas]),
        _select("tuned", "Parameters", [("", "default and tuned"), ("no", "default"), ("yes", "tuned")]),
        _select("verified", "Verified", [("", "all"), ("agrees", "run again, the same"), ("differs", "run again, differs"), ("no", "not yet")]),
        element("label", element("span", "Method"), _FIND),
        element("p", class_="muted", id="count", role="status"),
        class_="filters",
        role="search",
        aria_label="Filter the ranking",
    )  # fmt: skip


def _select(name: str, title: str, options: Iterable[tuple[str, str]]) -> Markup:
    choices = (element("option", text, value=value) for value, text in options)
    return element("label", element("span", title), element("select", *choices, id=name))


def wins(board: Board) -> Section | None:
    """Return the win matrix; None where nobody met anybody."""
    if not board.pairs:
        return None
    body = join(
        paragraph(
            "The percentage of tasks on which the method of the row beats that of the column. ▲ it is better, ▼ it is "
            "worse, with a p-value below 0.05 after Holm's correction for all pairs: paired tests on the labelled rows "
            "of shared test folds, or Wilcoxon's test over tasks where two methods share none. They speak of these "
            "data sets. Point at a cell for the difference."
        ),
        win_matrix(board),
        paragraph(
            f"The best {MOST_IN_MATRIX}; pairs.csv compares {min(MOST_COMPARED, len(board.standings))}.",
            class_="muted",
        )
        if len(board.standings) > MOST_IN_MATRIX
        else None,
    )
    return Section("wins", "Who beats whom", body)


def differences(board: Board) -> Section:
    """Return the critical-difference diagram, or why there is none."""
    tests = board.tests
    if tests is None:
        return Section(
            "differences",
            "Critical differences",
            paragraph(
                "Friedman's test needs three methods that were run on the same three data sets, and differ."
            ),
        )
    labels = [board.evidence.entries[i].label for i in tests.entries]
    left_out = [board.evidence.entries[i].label for i in tests.left_out_entries]
    left_out += [board.evidence.datasets[i].shown for i in tests.left_out_datasets]
    further = len(board.standings) - len(tests.entries) - len(tests.left_out_entries)
    body = join(
        paragraph(
            f"Over data sets as such: Friedman's test on {figures.counted(len(tests.datasets), 'data set')} has "
            f"χ² = {tests.statistic:.1f}, {p_text(tests.p_value)}. By Nemenyi's test after it, two methods "
            f"differ at {ALPHA:g} where their whiskers do not overlap, which is where their mean ranks are more than "
            f"{tests.critical_difference:.2f} apart."
            " Where there are bars, they join those that are not told apart."
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


def times(board: Board) -> Section | None:
    """Return quality against time; None where no time is known."""
    known = [one for one in board.standings if one.rank is not None and one.fit_seconds is not None]
    if not known:
        return None
    best = frontier([(one.rank or 0.0, one.fit_seconds or 0.0) for one in known])
    entries = board.evidence.entries
    timed = [
        Timed(entries[one.entry].label, f"methods/{entries[one.entry].id}.html", one.rank or 0.0, one.fit_seconds or 0.0, is_best)
        for one, is_best in zip(known, best, strict=True)
    ]  # fmt: skip
    body = join(
        paragraph(
            "A diamond is a method that none beats in both. A tuned method's time holds its search. Times are of the "
            "machines that the runs were made on."
        ),
        figure(lambda width: quality_and_time(timed, width), "Mean rank and median time to fit."),
    )
    return Section("times", "Quality and time", body)


def choosing(board: Board) -> Section | None:
    """Return what choosing without truth costs; None where no truth is known."""
    if not board.regrets:
        return None
    lost = np.array([one.lost for one in board.regrets])
    taus = np.array([one.tau for one in board.regrets if one.tau is not None])
    rows = [
        (
            board.evidence.tasks[one.task].label,
            figures.count(one.contenders),
            figures.area(one.best_auc),
            figures.area(one.chosen_auc),
            figures.area(one.lost),
            figures.NOTHING if one.tau is None else f"{one.tau:.2f}",
        )
        for one in board.regrets
    ]
    head = ("Task", "Methods", "Best AUC", "AUC of the chosen", "Lost", "Kendall's τ")
    body = join(
        paragraph(
            "Whoever has no truth chooses the method with the highest ", AUL, ". On tasks whose truth is known, that "
            f"choice loses {figures.area(float(lost.mean()))} AUC on average and {figures.area(float(lost.max()))} at "
            "most against the best choice. ",
            f"The two orders agree with a mean Kendall's τ of {taus.mean():.2f}." if len(taus) else None,
        ),
        element("details", element("summary", "Task by task"), table(head, rows, "Regret of choosing without truth", (1, 2, 3, 4, 5))),
    )  # fmt: skip
    return Section("choosing", "Choosing without truth", body)


def datasets(board: Board) -> Section:
    """Return the data sets with links to their pages."""
    counts: dict[int, int] = {}
    for task in board.evidence.tasks:
        counts[task.dataset] = counts.get(task.dataset, 0) + 1
    rows = [
        (
            dataset_link(one, ""),
            figures.NOTHING if one.rows is None else figures.count(one.rows),
            figures.NOTHING if one.features is None else figures.count(one.features),
            figures.count(counts[i]),
        )
        for i, one in enumerate(board.evidence.datasets)
    ]
    body = table(("Data set", "Rows", "Features", "Tasks"), rows, "Data sets", (1, 2, 3))
    return Section("datasets", "Data sets", body)


def reading(board: Board) -> Section:
    """Return how everything was computed, and what could not be read."""
    problems = [one.reason for one in board.unreadable[:_MOST_PROBLEMS]]
    more = len(board.unreadable) - len(problems)
    body = join(
        sentences(
            [
                (
                    "A task is a data set with a share θ_O of its positives labelled, at a number of rows. On a task methods "
                    "are ranked by their mean AUL_PU over folds and seeds, ties sharing the mean of their ranks; where not "
                    "all methods were run, ranks are stretched to the number of all."
                ),
                (
                    "The mean rank is over data sets, each counting once, however many tasks it has. Its interval is a "
                    f"bootstrap over data sets and folds, {RESAMPLES:,} draws from a fixed seed: the same records give the "
                    "same board."
                ),
                (
                    "Failures are shown, never dropped: they count as the note below the ranking says. A task that nobody "
                    "tried with a method does not count for it; the column Tasks says how many were tried."
                ),
                (
                    "A filter by data set or θ_O ranks again on those tasks alone; the other filters only hide rows, and "
                    "ranks stay those among all methods."
                ),
                "Verified: somebody ran the record's own specification again and compared. Differences are shown.",
                (
                    "A synthetic stand-in is made-up data in the place of data that is not public, and is called so "
                    "everywhere."
                ),
            ]
        ),
        element("h3", "Files that could not be used") if problems else None,
        sentences([*problems, *([f"{more} more."] if more > 0 else [])]),
    )
    return Section("reading", "How to read this", body)


def downloads() -> Section:
    """Return the links to the data."""
    links = (
        element("li", element("a", name, href=name, attributes={"download": ""}), f": {what}")
        for name, what in DOWNLOADS.items()
    )
    return Section("downloads", "Downloads", element("ul", *links, class_="notices"))

"""The page of one contender: its results by task, its opponents, its configuration and its runs."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np

from pubench.html import numbers
from pubench.html.markup import Child, element, join
from pubench.html.parts import Section, facts, listing, paragraph, table
from pubench.leaderboard.board import Board
from pubench.leaderboard.display_names import canonical
from pubench.leaderboard.export import verification_text
from pubench.leaderboard.ranking import Standing
from pubench.leaderboard.runs import Run
from pubench.leaderboard.site.fold_charts import (
    all_placements,
    fold_name,
    fold_points_figure,
    lift_chart,
    strip_of,
)
from pubench.leaderboard.site.overview_tables import test_text
from pubench.leaderboard.site.page_frame import dataset_link, entry_link, page, rank_text, value_text
from pubench.leaderboard.task_results import known

_MAX_RUNS = 400
_MAX_LIFT_CHARTS = 40
_MAX_ENVIRONMENTS = 5
_MAX_LISTING_LENGTH = 4000
_MAX_CHOSEN_LENGTH = 120
_MAX_DIFFERENCES_LENGTH = 400
_UP = "../"


def method_page(board: Board, entry: int) -> str:
    """Return the page of one contender as HTML."""
    contender = board.ranked.entries[entry]
    runs = board.ranked.runs_by_entry[entry]
    heading = join(
        paragraph("Tuned method" if contender.tuned else "Method at a fixed configuration", class_="kicker"),
        element("h1", contender.label),
        element("div", facts(_summary(board, entry, runs)), class_="figures"),
    )
    configuration = {"configuration": contender.configuration, "tuning": contender.tuning}
    sections = [
        _tasks(board, entry, runs),
        _lift_curves(board, runs),
        _opponents(board, entry),
        Section("configuration", "Configuration", listing(_json_listing(configuration))),
        _environments(runs),
        _runs(board, runs),
    ]
    return page(
        f"{contender.label}: pubench leaderboard", heading, [section for section in sections if section]
    )


def _summary(board: Board, entry: int, runs: Sequence[Run]) -> dict[str, Child]:
    standing = next(standing for standing in board.standings if standing.entry == entry)
    position = board.standings.index(standing) + 1
    return {
        "Place": f"{position} of {len(board.standings)}",
        "Mean rank": _mean_rank(standing),
        "Mean AUL_PU": value_text("aul_pu", standing.aul_pu),
        "Mean AUC": value_text("auc", standing.auc),
        "Failed runs": f"{sum(not run.ok for run in runs)} of {len(runs)}",
        "Median time to fit": value_text("fit_seconds", standing.fit_seconds),
    }


def _mean_rank(standing: Standing) -> str:
    if standing.rank is None:
        return numbers.NO_VALUE
    interval = f" [{standing.low:.2f}, {standing.high:.2f}]" if standing.low is not None else ""
    return f"{standing.rank:.2f}{interval}"


def _tasks(board: Board, entry: int, runs: Sequence[Run]) -> Section:
    rows, strips = [], []
    for number in sorted({run.task for run in runs}):
        task, ranked_task = board.ranked.tasks[number], board.tasks[number]
        own = [run for run in runs if run.task == number]
        row = int(np.searchsorted(ranked_task.results.entries, entry))
        strips.append(strip_of(task.label, own, ranked_task, row))
        rows.append(
            (
                dataset_link(board.ranked.datasets[task.dataset], _UP),
                numbers.NO_VALUE if task.theta_o is None else f"{task.theta_o:g}",
                "all" if task.rows is None else numbers.count(task.rows),
                rank_text(ranked_task, row),
                value_text("aul_pu", known(ranked_task.aul[row])),
                value_text("auc", known(ranked_task.auc[row])),
                f"{sum(not run.ok for run in own)} of {len(own)}",
            )
        )
    head = ("Data set", "θ_O", "Rows", "Rank", "AUL_PU", "AUC", "Failed")
    body = join(
        table(head, rows, "Results by task", (1, 2, 3, 4, 5, 6)),
        element("h3", "Every fold"),
        fold_points_figure(strips),
    )
    return Section("tasks", "Tasks", body)


def _lift_curves(board: Board, runs: Sequence[Run]) -> Section | None:
    charts = []
    for number in sorted({run.task for run in runs}):
        placements = all_placements(run for run in runs if run.task == number)
        if len(placements):
            label = board.ranked.tasks[number].label
            chart = lift_chart([(label, placements)], f"Lift curve on {label}", small=True)
            charts.append(element("figure", element("figcaption", label), chart))
    if not charts:
        return None
    more = len(charts) - _MAX_LIFT_CHARTS
    body = join(
        paragraph(
            "The share of the labelled positives found among the rows with the highest scores, all folds together."
        ),
        element("div", *charts[:_MAX_LIFT_CHARTS], class_="lifts"),
        paragraph(f"{more} more tasks are not drawn.", class_="muted") if more > 0 else None,
    )
    return Section("lift", "Lift curves", body)


def _opponents(board: Board, entry: int) -> Section | None:
    rows = []
    for pair in board.pairs:
        if entry not in {pair.a, pair.b}:
            continue
        swapped = pair.b == entry
        wins, losses = (pair.losses, pair.wins) if swapped else (pair.wins, pair.losses)
        opponent = board.ranked.entries[pair.a if swapped else pair.b]
        difference = -pair.difference if swapped else pair.difference
        rows.append(
            (
                entry_link(opponent, _UP),
                f"{wins} : {losses}",
                numbers.difference(difference),
                numbers.p_value(pair.p_holm),
                test_text(pair),
            )
        )
    if not rows:
        return None
    head = ("Against", "Tasks won : lost", "Difference of AUL_PU", "p-value (Holm)", "Test")
    body = element(
        "details",
        element("summary", numbers.counted(len(rows), "opponent")),
        table(head, rows, "Opponents", (1, 2, 3)),
    )
    return Section("opponents", "Against the others", body)


def _environments(runs: Iterable[Run]) -> Section:
    counts = Counter(
        canonical({"environment": run.record.environment, "origins": run.record.origins}) for run in runs
    )
    shown = [
        join(element("h3", numbers.counted(count, "run")), listing(_json_listing(json.loads(text))))
        for text, count in islice(counts.most_common(), _MAX_ENVIRONMENTS)
    ]
    more = len(counts) - len(shown)
    body = join(shown, paragraph(f"{more} more.", class_="muted") if more > 0 else None)
    return Section("environment", "Environment", body)


def _runs(board: Board, runs: Sequence[Run]) -> Section:
    head = (
        "Record",
        "Task",
        "Split",
        "Status",
        "AUL_PU",
        "Fit",
        "Predict",
        "Memory",
        "Chosen by itself",
        "Verified",
    )
    rows = [_run_row(board, run) for run in runs[:_MAX_RUNS]]
    more = len(runs) - len(rows)
    body = join(
        element(
            "details",
            element("summary", numbers.counted(len(rows), "run")),
            table(head, rows, "Runs", (4, 5, 6, 7)),
        ),
        paragraph(f"{numbers.count(more)} more are in runs.csv.", class_="muted") if more > 0 else None,
        paragraph(
            "All runs: ",
            element("a", "runs.csv", href="../runs.csv"),
            ", ",
            element("a", "runs.parquet", href="../runs.parquet"),
            ".",
        ),
    )
    return Section("runs", "Runs", body)


def _run_row(board: Board, run: Run) -> tuple[Child, ...]:
    record = run.record
    return (
        element("code", run.key[:12], title=run.key),
        board.ranked.tasks[run.task].label,
        fold_name(run),
        record.status.value if run.ok else f"{record.status.value}: {record.reason}",
        value_text("aul_pu", record.metrics.get("aul_pu")),
        value_text("fit_seconds", run.fit_seconds),
        value_text("predict_seconds", run.predict_seconds),
        _memory(record.peak_memory_bytes),
        _chosen(run),
        _verification(board, run),
    )


def _verification(board: Board, run: Run) -> Child:
    verification = board.verifications.get(run.key)
    if verification is None or verification.agrees:
        return verification_text(board, run) or numbers.NO_VALUE
    text = "; ".join(
        f"{difference.what} {difference.recorded} became {difference.found}"
        for difference in verification.differences
    )
    return element("span", f"✗ differs: {text[:_MAX_DIFFERENCES_LENGTH]}", class_="alarm")


def _memory(size: int | None) -> str:
    return numbers.NO_VALUE if size is None else f"{size / 2**30:.2f} GiB"


def _chosen(run: Run) -> str:
    text = ", ".join(f"{name} {numbers.parameter(value)}" for name, value in run.record.chosen.items())
    return text if len(text) <= _MAX_CHOSEN_LENGTH else f"{text[: _MAX_CHOSEN_LENGTH - 1]}…"


def _json_listing(content: object) -> str:
    text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= _MAX_LISTING_LENGTH else f"{text[:_MAX_LISTING_LENGTH]}\n…"

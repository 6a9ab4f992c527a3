"""The page of one data set: each of its tasks with its ranking, its folds and its lift curves."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from pubench.html import numbers
from pubench.html.markup import Child, Markup, element, join
from pubench.html.parts import AUL, Section, facts, legend, paragraph, table
from pubench.leaderboard.board import Board
from pubench.leaderboard.ranking import RankedTask
from pubench.leaderboard.runs import Run
from pubench.leaderboard.site.fold_charts import all_placements, fold_points_figure, lift_chart, strip_of
from pubench.leaderboard.site.page_frame import entry_link, page, rank_text, stand_in_tag, value_text
from pubench.leaderboard.task_results import known
from pubench.types import FloatVector

_MAX_CURVES = 5
_UP = "../"


def dataset_page(board: Board, number: int) -> str:
    """Return the page of one data set as HTML."""
    dataset = board.ranked.datasets[number]
    summary: dict[str, Child] = {
        "Rows": numbers.NO_VALUE if dataset.rows is None else numbers.count(dataset.rows),
        "Features": numbers.NO_VALUE if dataset.features is None else numbers.count(dataset.features),
        "Fingerprint": element("code", dataset.hash[:16], title=dataset.hash)
        if dataset.hash
        else numbers.NO_VALUE,
    }
    heading = join(
        paragraph("Data set", class_="kicker"),
        element("h1", dataset.label, *([" ", stand_in_tag()] if dataset.stand_in else [])),
        paragraph("These rows are synthetic and replace data that is not public.", class_="subtitle")
        if dataset.stand_in
        else None,
        element("div", facts(summary), class_="figures"),
    )
    sections = [_task(board, i) for i, task in enumerate(board.ranked.tasks) if task.dataset == number]
    return page(f"{dataset.shown}: pubench leaderboard", heading, sections)


def _task(board: Board, number: int) -> Section:
    task, ranked_task = board.ranked.tasks[number], board.tasks[number]
    by_entry: dict[int, list[Run]] = {}
    for run in sorted(board.ranked.runs_by_task[number], key=lambda run: run.unit):
        by_entry.setdefault(run.entry, []).append(run)
    order = np.lexsort((-np.nan_to_num(ranked_task.aul), np.nan_to_num(ranked_task.ranks, nan=np.inf)))
    rows = {int(ranked_task.results.entries[row]): int(row) for row in order}
    labels = {entry: board.ranked.entries[entry].label for entry in rows}
    strips = [strip_of(labels[entry], by_entry[entry], ranked_task, row) for entry, row in rows.items()]
    body = join(
        _ranking(board, ranked_task, rows, by_entry),
        _ceilings(board, task.label),
        _lift_curves([(labels[entry], all_placements(by_entry[entry])) for entry in rows]),
        element("h3", "Every fold"),
        fold_points_figure(strips),
    )
    return Section(f"task-{task.id}", task.label, body)


def _ranking(
    board: Board, ranked_task: RankedTask, rows: Mapping[int, int], by_entry: Mapping[int, Sequence[Run]]
) -> Markup:
    cells = [
        (
            rank_text(ranked_task, row),
            entry_link(board.ranked.entries[entry], _UP),
            value_text("aul_pu", known(ranked_task.aul[row])),
            value_text("auc", known(ranked_task.auc[row])),
            _failures(by_entry[entry]),
        )
        for entry, row in rows.items()
    ]
    return table(("Rank", "Method", "AUL_PU", "AUC", "Failed"), cells, "Ranking on this task", (0, 2, 3))


def _ceilings(board: Board, label: str) -> Markup | None:
    """Return the results of methods that use all true labels; None if none was run on the task."""
    by_entry: dict[int, list[Run]] = {}
    for run in board.ceilings.runs:
        if run.ok and board.ceilings.tasks[run.task].label == label:
            by_entry.setdefault(run.entry, []).append(run)
    if not by_entry:
        return None
    texts = []
    for entry, runs in by_entry.items():
        aul = float(np.mean([run.record.metrics["aul_pu"] for run in runs]))
        texts.append(f"{board.ceilings.entries[entry].label}, AUL_PU {numbers.area(aul)}")
    return paragraph(f"Not ranked, as it is given every true label: {'; '.join(texts)}.", class_="muted")


def _failures(runs: Sequence[Run]) -> str:
    counts = Counter(run.record.status.value for run in runs if not run.ok)
    text = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    return f"{text}, of {len(runs)}" if text else f"0 of {len(runs)}"


def _lift_curves(curves: Sequence[tuple[str, FloatVector]]) -> Markup | None:
    best = [(label, placements) for label, placements in curves if len(placements)][:_MAX_CURVES]
    if not best:
        return None
    caption = ("Labelled positives found among the rows with the highest scores; ", AUL, " is the area.")
    return join(
        element("h3", "Lift curves of the best"),
        legend([(f"line series-{i}", label) for i, (label, _) in enumerate(best, start=1)]),
        element(
            "figure",
            lift_chart(best, f"Lift curves of {', '.join(label for label, _ in best)}"),
            element("figcaption", *caption),
        ),
    )

"""The pages of single methods and single data sets."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np

from pubench.leaderboard.board import Board
from pubench.leaderboard.data_files import verdict
from pubench.leaderboard.evidence import Run
from pubench.leaderboard.labels import canonical
from pubench.leaderboard.ranking import RankedTask
from pubench.leaderboard.site.folds import Strip, fold_points, lift_panel
from pubench.leaderboard.site.frame import dataset_link, entry_link, page, stand_in_tag
from pubench.leaderboard.site.tables import figure_text, tested_by
from pubench.reporting import figures
from pubench.reporting.markup import Child, Markup, element, join
from pubench.reporting.parts import AUL, Section, facts, figure, legend, listing, paragraph, table
from pubench.types import FloatVector

_MOST_RUNS = 400
_MOST_PANELS = 40
_MOST_ENVIRONMENTS = 5
_LONGEST_LISTING = 4000
_LONGEST_CHOSEN = 120
_MOST_CURVES = 5
_UP = "../"


def method_page(board: Board, entry: int) -> str:
    """Return the page of one contender."""
    contender = board.evidence.entries[entry]
    runs = board.evidence.runs_by_entry[entry]
    standing = next(one for one in board.standings if one.entry == entry)
    place = board.standings.index(standing) + 1
    shown: dict[str, Child] = {
        "Place": f"{place} of {len(board.standings)}",
        "Mean rank": figures.NOTHING
        if standing.rank is None
        else f"{standing.rank:.2f}" + (f" [{standing.low:.2f}, {standing.high:.2f}]" if standing.low is not None else ""),
        "Mean AUL_PU": figure_text("aul_pu", standing.aul_pu),
        "Mean AUC": figure_text("auc", standing.auc),
        "Failed runs": f"{sum(not run.ok for run in runs)} of {len(runs)}",
        "Median time to fit": figure_text("fit_seconds", standing.fit_seconds),
    }  # fmt: skip
    heading = join(
        paragraph("Tuned method" if contender.tuned else "Method at a fixed configuration", class_="kicker"),
        element("h1", contender.label),
        element("div", facts(shown), class_="figures"),
    )
    sections = [
        _tasks_section(board, entry, runs),
        _lift_section(board, runs),
        _opponents(board, entry),
        Section("configuration", "Configuration", listing(_text({"configuration": contender.configuration, "tuning": contender.tuning}))),
        _environments(runs),
        _runs_section(board, runs),
    ]  # fmt: skip
    return page(f"{contender.label}: pubench leaderboard", heading, [one for one in sections if one])


def _tasks_section(board: Board, entry: int, runs: Sequence[Run]) -> Section:
    rows, strips = [], []
    for number in sorted({run.task for run in runs}):
        task, ranked = board.evidence.tasks[number], board.tasks[number]
        own = [run for run in runs if run.task == number]
        column = int(np.searchsorted(ranked.results.entries, entry))
        strips.append(_strip(task.label, own, ranked, column))
        rows.append(
            (
                dataset_link(board.evidence.datasets[task.dataset], _UP),
                figures.NOTHING if task.theta_o is None else f"{task.theta_o:g}",
                "all" if task.rows is None else figures.count(task.rows),
                _rank(ranked, column),
                figure_text("aul_pu", _known(ranked.aul[column])),
                figure_text("auc", _known(ranked.auc[column])),
                f"{sum(not run.ok for run in own)} of {len(own)}",
            )
        )
    head = ("Data set", "θ_O", "Rows", "Rank", "AUL_PU", "AUC", "Failed")
    body = join(
        table(head, rows, "Results by task", (1, 2, 3, 4, 5, 6)),
        element("h3", "Every fold"),
        _points(strips),
    )
    return Section("tasks", "Tasks", body)


def _points(strips: Sequence[Strip]) -> Markup:
    return join(
        legend([("dot done", "a fold"), ("hollow", "mean"), ("cross", "failed")]),
        figure(
            lambda width: fold_points(strips, width), "AUL_PU of each fold. Point at a mark for its split."
        ),
    )


def _strip(label: str, runs: Iterable[Run], ranked: RankedTask, column: int) -> Strip:
    runs = list(runs)
    points = [
        (run.record.metrics["aul_pu"], f"{_split(run)}: {figures.area(run.record.metrics['aul_pu'])}")
        for run in runs
        if run.ok
    ]
    failures = [f"{_split(run)}: {run.record.status.value}" for run in runs if not run.ok]
    return Strip(label, points, _known(ranked.aul[column]), failures[:10])


def _split(run: Run) -> str:
    return f"seed {run.unit.seed}, fold {run.unit.fold + 1} of {run.unit.folds}"


def _rank(ranked: RankedTask, column: int) -> str:
    rank = _known(ranked.ranks[column])
    mark = "†" if ranked.results.failed[column].any() else ""
    return figures.NOTHING if rank is None else f"{rank:.4g}{mark}"


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _placements(runs: Iterable[Run]) -> FloatVector:
    """Return the placements of all folds together."""
    found = [run.placements for run in runs if len(run.placements)]
    return np.concatenate(found) if found else np.empty(0)


def _lift_section(board: Board, runs: Sequence[Run]) -> Section | None:
    panels = []
    for number in sorted({run.task for run in runs}):
        together = _placements(run for run in runs if run.task == number)
        if len(together):
            label = board.evidence.tasks[number].label
            picture = lift_panel([(label, together)], f"Lift curve on {label}", small=True)
            panels.append(element("figure", element("figcaption", label), picture))
    if not panels:
        return None
    more = len(panels) - _MOST_PANELS
    body = join(
        paragraph(
            "The share of the labelled positives found among the rows with the highest scores, all folds together."
        ),
        element("div", *panels[:_MOST_PANELS], class_="lifts"),
        paragraph(f"{more} more tasks are not drawn.", class_="muted") if more > 0 else None,
    )
    return Section("lift", "Lift curves", body)


def _opponents(board: Board, entry: int) -> Section | None:
    rows = []
    for pair in board.pairs:
        if entry not in {pair.a, pair.b}:
            continue
        turned = pair.b == entry
        wins, losses = (pair.losses, pair.wins) if turned else (pair.wins, pair.losses)
        other = board.evidence.entries[pair.a if turned else pair.b]
        difference = -pair.difference if turned else pair.difference
        rows.append(
            (entry_link(other, _UP), f"{wins} : {losses}", figures.change(difference), figures.chance(pair.p_holm), tested_by(pair))
        )  # fmt: skip
    if not rows:
        return None
    head = ("Against", "Tasks won : lost", "Difference of AUL_PU", "p-value (Holm)", "Test")
    body = element(
        "details",
        element("summary", figures.counted(len(rows), "opponent")),
        table(head, rows, "Opponents", (1, 2, 3)),
    )
    return Section("opponents", "Against the others", body)


def _environments(runs: Sequence[Run]) -> Section:
    counts = Counter(
        canonical({"environment": run.record.environment, "origins": run.record.origins}) for run in runs
    )
    shown = [
        join(element("h3", figures.counted(count, "run")), listing(_text(json.loads(text))))
        for text, count in islice(counts.most_common(), _MOST_ENVIRONMENTS)
    ]
    more = len(counts) - len(shown)
    body = join(shown, paragraph(f"{more} more.", class_="muted") if more > 0 else None)
    return Section("environment", "Environment", body)


def _runs_section(board: Board, runs: Sequence[Run]) -> Section:
    rows = [
        (
            element("code", run.key[:12], title=run.key),
            board.evidence.tasks[run.task].label,
            _split(run),
            run.record.status.value if run.ok else f"{run.record.status.value}: {run.record.reason}",
            figure_text("aul_pu", run.record.metrics.get("aul_pu")),
            figure_text("fit_seconds", run.fit_seconds),
            figure_text("predict_seconds", run.predict_seconds),
            _memory(run.record.peak_memory_bytes),
            _chosen(run),
            _verdict(board, run),
        )
        for run in runs[:_MOST_RUNS]
    ]
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
    more = len(runs) - len(rows)
    body = join(
        element("details", element("summary", figures.counted(len(rows), "run")), table(head, rows, "Runs", (4, 5, 6, 7))),
        paragraph(f"{figures.count(more)} more are in runs.csv.", class_="muted") if more > 0 else None,
        paragraph("All runs: ", element("a", "runs.csv", href="../runs.csv"), ", ", element("a", "runs.parquet", href="../runs.parquet"), "."),
    )  # fmt: skip
    return Section("runs", "Runs", body)


def _verdict(board: Board, run: Run) -> Child:
    found = board.verifications.get(run.key)
    if found is None or found.agrees:
        return verdict(board, run) or figures.NOTHING
    told = "; ".join(f"{one.what} {one.recorded} became {one.found}" for one in found.differences)
    return element("span", f"✗ differs: {told[:400]}", class_="alarm")


def _memory(size: int | None) -> str:
    return figures.NOTHING if size is None else f"{size / 2**30:.2f} GiB"


def _chosen(run: Run) -> str:
    text = ", ".join(f"{name} {figures.setting(value)}" for name, value in run.record.chosen.items())
    return text if len(text) <= _LONGEST_CHOSEN else f"{text[: _LONGEST_CHOSEN - 1]}…"


def _text(content: object) -> str:
    text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= _LONGEST_LISTING else f"{text[:_LONGEST_LISTING]}\n…"


def dataset_page(board: Board, number: int) -> str:
    """Return the page of one data set: each of its tasks with its ranking, folds and lift curves."""
    dataset = board.evidence.datasets[number]
    shown: dict[str, Child] = {
        "Rows": figures.NOTHING if dataset.rows is None else figures.count(dataset.rows),
        "Features": figures.NOTHING if dataset.features is None else figures.count(dataset.features),
        "Fingerprint": element("code", dataset.hash[:16], title=dataset.hash)
        if dataset.hash
        else figures.NOTHING,
    }
    heading = join(
        paragraph("Data set", class_="kicker"),
        element("h1", dataset.label, *([" ", stand_in_tag()] if dataset.stand_in else [])),
        paragraph("These rows are synthetic and stand for data that is not public.", class_="subtitle")
        if dataset.stand_in
        else None,
        element("div", facts(shown), class_="figures"),
    )
    sections = [
        _dataset_task(board, i) for i, task in enumerate(board.evidence.tasks) if task.dataset == number
    ]
    return page(f"{dataset.shown}: pubench leaderboard", heading, sections)


def _dataset_task(board: Board, number: int) -> Section:
    task, ranked = board.evidence.tasks[number], board.tasks[number]
    by_entry: dict[int, list[Run]] = {}
    for run in sorted(board.evidence.runs_by_task[number], key=lambda run: run.unit):
        by_entry.setdefault(run.entry, []).append(run)
    order = np.lexsort((-np.nan_to_num(ranked.aul), np.nan_to_num(ranked.ranks, nan=np.inf)))
    entries = [(int(ranked.results.entries[i]), int(i)) for i in order]
    labels = {entry: board.evidence.entries[entry].label for entry, _ in entries}
    strips = [_strip(labels[entry], by_entry[entry], ranked, column) for entry, column in entries]
    body = join(
        _task_table(board, ranked, entries, by_entry),
        _ceilings(board, task.label),
        _lifts([(labels[entry], _placements(by_entry[entry])) for entry, _ in entries]),
        element("h3", "Every fold"),
        _points(strips),
    )
    return Section(f"task-{task.id}", task.label, body)


def _task_table(
    board: Board, ranked: RankedTask, entries: Sequence[tuple[int, int]], by_entry: dict[int, list[Run]]
) -> Markup:
    rows = [
        (
            _rank(ranked, column),
            entry_link(board.evidence.entries[entry], _UP),
            figure_text("aul_pu", _known(ranked.aul[column])),
            figure_text("auc", _known(ranked.auc[column])),
            _failures(by_entry[entry]),
        )
        for entry, column in entries
    ]
    return table(("Rank", "Method", "AUL_PU", "AUC", "Failed"), rows, "Ranking on this task", (0, 2, 3))


def _ceilings(board: Board, label: str) -> Markup | None:
    """Return what methods reach that are given every true label; None where none was run on the task."""
    found: dict[int, list[Run]] = {}
    for run in board.ceilings.runs:
        if run.ok and board.ceilings.tasks[run.task].label == label:
            found.setdefault(run.entry, []).append(run)
    told = []
    for entry, runs in found.items():
        aul = float(np.mean([run.record.metrics["aul_pu"] for run in runs]))
        told.append(f"{board.ceilings.entries[entry].label}, AUL_PU {figures.area(aul)}")
    if not told:
        return None
    return paragraph(f"Not ranked, as it is given every true label: {'; '.join(told)}.", class_="muted")


def _failures(runs: Sequence[Run]) -> str:
    counts = Counter(run.record.status.value for run in runs if not run.ok)
    told = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    return f"{told}, of {len(runs)}" if told else f"0 of {len(runs)}"


def _lifts(curves: Sequence[tuple[str, FloatVector]]) -> Markup | None:
    best = [(label, values) for label, values in curves if len(values)][:_MOST_CURVES]
    if not best:
        return None
    numbered = [(f"line series-{i}", label) for i, (label, _) in enumerate(best, start=1)]
    return join(
        element("h3", "Lift curves of the best"),
        legend(numbered),
        element(
            "figure",
            lift_panel(best, f"Lift curves of {', '.join(label for label, _ in best)}"),
            element(
                "figcaption",
                "Labelled positives found among the rows with the highest scores; ",
                AUL,
                " is the area.",
            ),
        ),
    )

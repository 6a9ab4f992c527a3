"""The board as files for others: data.json; standings, runs and pairs as CSV; runs as Parquet; the ranking as Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pubench.errors import DataError
from pubench.leaderboard.board import Board
from pubench.leaderboard.ranking import CONFIDENCE, RankedTask, Standing
from pubench.leaderboard.runs import Run
from pubench.leaderboard.task_results import known
from pubench.system.files import write_whole
from pubench.system.json_documents import DocumentSchema, write_json
from pubench.types import Json

DATA_VERSION = 1
#: File name -> description.
DOWNLOADS: Mapping[str, str] = {
    "data.json": "the whole board: contenders, tasks, ranks, pairs, tests",
    "standings.csv": "the ranking, one row per contender",
    "runs.csv": "all runs, one row each",
    "runs.parquet": "all runs, as Parquet",
    "pairs.csv": "paired comparisons of contenders",
}
#: Versions of NumPy and SciPy differ in the last digits; rounded, the same records give the same document.
_DIGITS = 8
#: Spreadsheets take text with one of these prefixes for a formula, and run it.
_FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r")
#: The lines of a document between which the table is written.
BEGIN, END = "<!-- ranking: begin -->", "<!-- ranking: end -->"
#: Characters with a meaning in Markdown, or in HTML within it.
_SPECIAL = "<>&|[]*`\\!#~"
_TABLE_HEAD = ("#", "method", "mean rank", "95% interval", "AUL_PU", "AUC", "failed", "tasks")


def write_data_files(board: Board, folder: Path) -> None:
    """Write all files of `DOWNLOADS` into an existing folder."""
    import pyarrow as pa  # noqa: PLC0415 - heavy imports happen when used
    import pyarrow.csv as pa_csv  # noqa: PLC0415
    import pyarrow.parquet as pa_parquet  # noqa: PLC0415

    document = to_document(board)
    write_json(folder / "data.json", document)
    runs = pa.Table.from_pylist([_run_row(board, run) for run in board.ranked.runs], schema=_runs_schema())
    pa_parquet.write_table(runs, folder / "runs.parquet", compression="zstd")
    rows = {
        "runs.csv": runs.to_pylist(),
        "standings.csv": [_standing_row(board, standing) for standing in board.standings],
        "pairs.csv": [_pair_row(board, pair) for pair in document["pairs"]],
    }
    for name, table in rows.items():
        plain = [{key: _without_formula(value) for key, value in row.items()} for row in table]
        pa_csv.write_csv(pa.Table.from_pylist(plain or [{"nothing": None}]), folder / name)


def _without_formula(value: Json) -> Json:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_PREFIXES) else value


def data_schema() -> dict[str, Any]:
    """Return the JSON Schema of data.json."""
    return DocumentSchema("pubench.leaderboard", "data.schema.json", "data file of the board").document()


def to_document(board: Board) -> dict[str, Any]:
    """Return the board as the JSON object that data.schema.json describes; numbers have 8 significant digits."""
    ranked = board.ranked
    document = {
        "schema": DATA_VERSION,
        "kind": "pubench-leaderboard",
        "made_with": f"pubench {version('pubench')}",
        "confidence": CONFIDENCE,
        "entries": [
            {"id": entry.id, "label": entry.label, "method": entry.method, "tuned": entry.tuned}
            | {"configuration": entry.configuration, "tuning": entry.tuning}
            for entry in ranked.entries
        ],
        "datasets": [asdict(dataset) for dataset in ranked.datasets],
        "standings": [_standing(board, standing) for standing in board.standings],
        "tasks": [
            {
                "id": task.id,
                "dataset": ranked.datasets[task.dataset].id,
                "theta_o": task.theta_o,
                "rows": task.rows,
                "label": task.label,
                "splits": len(ranked_task.results.units),
                "results": list(_results(board, ranked_task)),
            }
            for task, ranked_task in zip(ranked.tasks, board.tasks, strict=True)
        ],
        "pairs": [
            {**asdict(pair), "a": ranked.entries[pair.a].id, "b": ranked.entries[pair.b].id}
            for pair in board.pairs
        ],
        "tests": _tests(board),
        "regrets": [
            {**asdict(regret), "task": ranked.tasks[regret.task].id, "lost": regret.lost}
            for regret in board.regrets
        ],
    }
    return {name: _rounded(value) for name, value in document.items()}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, Mapping):
        return {name: _rounded(inner) for name, inner in value.items()}
    return [_rounded(inner) for inner in value] if isinstance(value, list | tuple) else value


def _standing(board: Board, standing: Standing) -> dict[str, Json]:
    agreeing, differing = verified_counts(board, board.ranked.runs_by_entry[standing.entry])
    return {
        **asdict(standing),
        "entry": board.ranked.entries[standing.entry].id,
        "verified_runs": agreeing,
        "mismatched_runs": differing,
    }


def verified_counts(board: Board, runs: Iterable[Run]) -> tuple[int, int]:
    """Return the number of runs whose verification agrees, and of those whose verification differs."""
    agrees = [board.verifications[run.key].agrees for run in runs if run.key in board.verifications]
    return sum(agrees), len(agrees) - sum(agrees)


def _results(board: Board, task: RankedTask) -> Iterable[dict[str, Json]]:
    failed = task.results.failed.sum(axis=1) / task.results.tried.sum(axis=1)
    columns = (task.results.entries, task.ranks, task.aul, task.auc, failed)
    for entry, rank, aul, auc, share in zip(*(column.tolist() for column in columns), strict=True):
        yield {
            "entry": board.ranked.entries[entry].id,
            "rank": known(rank),
            "aul_pu": known(aul),
            "auc": known(auc),
            "failures": share,
        }


def _tests(board: Board) -> dict[str, Json] | None:
    tests = board.tests
    if tests is None:
        return None
    entries, datasets = board.ranked.entries, board.ranked.datasets
    return {
        "entries": [entries[i].id for i in tests.entries],
        "mean_ranks": tests.mean_ranks.tolist(),
        "datasets": [datasets[i].id for i in tests.datasets],
        "left_out_entries": [entries[i].id for i in tests.left_out_entries],
        "left_out_datasets": [datasets[i].id for i in tests.left_out_datasets],
        "friedman_statistic": tests.statistic,
        "friedman_p_value": tests.p_value,
        "critical_difference": tests.critical_difference,
        "groups": [list(group) for group in tests.groups],
    }


def _runs_schema() -> Any:
    import pyarrow as pa  # noqa: PLC0415

    texts = ("key", "contender", "label", "method", "dataset", "data_hash", "status", "reason", "verified")
    numbers = ("theta_o", "aul_pu", "aul_pu_stderr", "auc", "fit_seconds", "predict_seconds")
    whole = ("rows", "seed", "fold", "folds", "peak_memory_bytes")
    kinds = {
        **dict.fromkeys(texts, pa.string()),
        **dict.fromkeys(numbers, pa.float64()),
        **dict.fromkeys(whole, pa.int64()),
        **dict.fromkeys(("tuned", "stand_in"), pa.bool_()),
    }
    return pa.schema([(name, kinds[name]) for name in _RUN_COLUMNS])


_RUN_COLUMNS = (
    "key", "contender", "label", "method", "tuned", "dataset", "stand_in", "data_hash", "theta_o", "rows", "seed",
    "fold", "folds", "status", "reason", "aul_pu", "aul_pu_stderr", "auc", "fit_seconds", "predict_seconds",
    "peak_memory_bytes", "verified",
)  # fmt: skip


def _run_row(board: Board, run: Run) -> dict[str, Json]:
    record, task = run.record, board.ranked.tasks[run.task]
    entry, dataset = board.ranked.entries[run.entry], board.ranked.datasets[task.dataset]
    return {
        "key": run.key,
        "contender": entry.id,
        "label": entry.label,
        "method": entry.method,
        "tuned": entry.tuned,
        "dataset": dataset.shown,
        "stand_in": dataset.stand_in,
        "data_hash": dataset.hash,
        "theta_o": task.theta_o,
        "rows": task.rows,
        **run.unit._asdict(),
        "status": record.status.value,
        "reason": record.reason,
        **{name: record.metrics.get(name) for name in ("aul_pu", "aul_pu_stderr", "auc")},
        "fit_seconds": run.fit_seconds,
        "predict_seconds": run.predict_seconds,
        "peak_memory_bytes": record.peak_memory_bytes,
        "verified": verification_text(board, run),
    }


def verification_text(board: Board, run: Run) -> str:
    """Return "agrees" or "differs" for a verified run, else ""."""
    verification = board.verifications.get(run.key)
    return "" if verification is None else "agrees" if verification.agrees else "differs"


def _standing_row(board: Board, standing: Standing) -> dict[str, Json]:
    row = _standing(board, standing)
    return {"contender": row.pop("entry"), "label": board.ranked.entries[standing.entry].label, **row}


def _pair_row(board: Board, pair: Mapping[str, Json]) -> dict[str, Json]:
    labels = {entry.id: entry.label for entry in board.ranked.entries}
    return {**pair, "a_label": labels[str(pair["a"])], "b_label": labels[str(pair["b"])]}


def to_markdown(board: Board | None) -> str:
    """Return the ranking as a table; None is a board without records."""
    if board is None:
        return "There are no records yet.\n"
    lines = [_table_row(_TABLE_HEAD), _table_row(["--:", ":--", *["--:"] * (len(_TABLE_HEAD) - 2)])]
    lines += [
        _table_row(_table_cells(board, position, standing))
        for position, standing in enumerate(board.standings, start=1)
    ]
    stand_ins = [dataset.label for dataset in board.ranked.datasets if dataset.stand_in]
    note = (
        f"\nSynthetic stand-ins among the data sets: {', '.join(map(_escaped, stand_ins))}.\n"
        if stand_ins
        else ""
    )
    return "\n".join(lines) + "\n" + note


def _table_cells(board: Board, position: int, standing: Standing) -> list[str]:
    return [
        str(position),
        _escaped(board.ranked.entries[standing.entry].label),
        "" if standing.rank is None else f"{standing.rank:.2f}{'†' if standing.imputed else ''}",
        "" if standing.low is None else f"{standing.low:.2f} to {standing.high:.2f}",
        "" if standing.aul_pu is None else f"{standing.aul_pu:.4f}",
        "" if standing.auc is None else f"{standing.auc:.4f}",
        f"{standing.failures:.0%}",
        str(standing.tasks),
    ]


def _table_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Return a text in which special characters of Markdown and HTML are escaped."""
    return "".join(f"&#{ord(character)};" if character in _SPECIAL else character for character in text)


def insert_table(path: Path, table: str) -> bool:
    """Write the table between the lines `BEGIN` and `END` of a document; return whether that changed it.

    Raises:
        DataError: the document has no such lines, or cannot be read or written.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read.") from error
    start, end = text.find(BEGIN), text.find(END)
    if start < 0 or end < start:
        raise DataError(f"{path} has no lines '{BEGIN}' and '{END}' to write the table between.")
    new = f"{text[: start + len(BEGIN)]}\n{table}{text[end:]}"
    if new == text:
        return False
    with write_whole(path) as temporary:
        temporary.write_text(new, encoding="utf-8")
    return True

"""The board as files for other programs: data.json, runs and standings and pairs as CSV, runs as Parquet."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from pubench.json_files import write_json
from pubench.leaderboard.board import Board
from pubench.leaderboard.evidence import Run
from pubench.leaderboard.ranking import CONFIDENCE, RankedTask, Standing
from pubench.schemas import packaged_schema
from pubench.types import Json

DATA_VERSION = 1
#: file -> what is in it.
DOWNLOADS: Mapping[str, str] = {
    "data.json": "the board: contenders, tasks, ranks, pairs, tests",
    "standings.csv": "the ranking, a row per contender",
    "runs.csv": "every run, a row each",
    "runs.parquet": "every run, as Parquet",
    "pairs.csv": "who beats whom",
}
#: The same records give the same document with any version of the libraries below: these differ in the last digits.
_DIGITS = 8
#: Spreadsheets run what starts with one of these.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_data_files(board: Board, folder: Path) -> None:
    """Write all files of `DOWNLOADS` into a folder that is there."""
    import pyarrow as pa  # noqa: PLC0415 - heavy imports happen when used
    import pyarrow.csv as pa_csv  # noqa: PLC0415
    import pyarrow.parquet as pa_parquet  # noqa: PLC0415

    write_json(folder / "data.json", to_document(board))
    runs = pa.Table.from_pylist([_run_row(board, run) for run in board.evidence.runs], schema=_runs_schema())
    pa_parquet.write_table(runs, folder / "runs.parquet", compression="zstd")
    rows = {
        "runs.csv": runs.to_pylist(),
        "standings.csv": [_standing_row(board, one) for one in board.standings],
        "pairs.csv": [_pair_row(board, pair) for pair in to_document(board)["pairs"]],
    }
    for name, table in rows.items():
        plain = [{key: _harmless(value) for key, value in row.items()} for row in table]
        pa_csv.write_csv(pa.Table.from_pylist(plain or [{"nothing": None}]), folder / name)


def _harmless(value: Json) -> Json:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def data_schema() -> dict[str, Any]:
    """Return the JSON Schema of data.json."""
    return packaged_schema("pubench.leaderboard", "data.schema.json")


def to_document(board: Board) -> dict[str, Any]:
    """Return the board as the JSON object that `data.schema.json` describes, of numbers with `_DIGITS` digits."""
    evidence = board.evidence
    document = {
        "schema": DATA_VERSION,
        "kind": "pubench-leaderboard",
        "made_with": f"pubench {version('pubench')}",
        "confidence": CONFIDENCE,
        "entries": [
            {"id": one.id, "label": one.label, "method": one.method, "tuned": one.tuned}
            | {"configuration": one.configuration, "tuning": one.tuning}
            for one in evidence.entries
        ],
        "datasets": [asdict(one) for one in evidence.datasets],
        "standings": [_named(board, one) for one in board.standings],
        "tasks": [
            {
                "id": task.id,
                "dataset": evidence.datasets[task.dataset].id,
                "theta_o": task.theta_o,
                "rows": task.rows,
                "label": task.label,
                "splits": len(ranked.results.units),
                "results": list(_results(board, ranked)),
            }
            for task, ranked in zip(evidence.tasks, board.tasks, strict=True)
        ],
        "pairs": [
            {**asdict(pair), "a": evidence.entries[pair.a].id, "b": evidence.entries[pair.b].id}
            for pair in board.pairs
        ],
        "tests": _tests(board),
        "regrets": [
            {**asdict(one), "task": evidence.tasks[one.task].id, "lost": one.lost} for one in board.regrets
        ],
    }
    return {name: _rounded(value) for name, value in document.items()}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, Mapping):
        return {name: _rounded(inner) for name, inner in value.items()}
    return [_rounded(inner) for inner in value] if isinstance(value, list | tuple) else value


def _named(board: Board, standing: Standing) -> dict[str, Json]:
    verified = verified_counts(board, board.evidence.runs_by_entry[standing.entry])
    return {
        **asdict(standing),
        "entry": board.evidence.entries[standing.entry].id,
        "verified_runs": verified[0],
        "mismatched_runs": verified[1],
    }


def verified_counts(board: Board, runs: Iterable[Run]) -> tuple[int, int]:
    """Return of how many runs the same was found again, and of how many something else."""
    found = [board.verifications[run.key].agrees for run in runs if run.key in board.verifications]
    return sum(found), len(found) - sum(found)


def _results(board: Board, ranked: RankedTask) -> Iterable[dict[str, Json]]:
    failed = ranked.results.failed.sum(axis=1) / ranked.results.tried.sum(axis=1)
    columns = (ranked.results.entries, ranked.ranks, ranked.aul, ranked.auc, failed)
    for entry, rank, aul, auc, share in zip(*(column.tolist() for column in columns), strict=True):
        yield {
            "entry": board.evidence.entries[entry].id,
            "rank": _known(rank),
            "aul_pu": _known(aul),
            "auc": _known(auc),
            "failures": share,
        }


def _tests(board: Board) -> dict[str, Json] | None:
    tests = board.tests
    if tests is None:
        return None
    entries, datasets = board.evidence.entries, board.evidence.datasets
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


def _known(value: float) -> float | None:
    return value if np.isfinite(value) else None


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
    record, task = run.record, board.evidence.tasks[run.task]
    entry, dataset = board.evidence.entries[run.entry], board.evidence.datasets[task.dataset]
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
        "verified": verdict(board, run),
    }


def verdict(board: Board, run: Run) -> str:
    """Return what came of running it again: "agrees", "differs", or "" where nobody did."""
    found = board.verifications.get(run.key)
    return "" if found is None else "agrees" if found.agrees else "differs"


def _standing_row(board: Board, standing: Standing) -> dict[str, Json]:
    named = _named(board, standing)
    return {"contender": named.pop("entry"), "label": board.evidence.entries[standing.entry].label, **named}


def _pair_row(board: Board, pair: Mapping[str, Json]) -> dict[str, Json]:
    labels = {entry.id: entry.label for entry in board.evidence.entries}
    return {**pair, "a_label": labels[str(pair["a"])], "b_label": labels[str(pair["b"])]}

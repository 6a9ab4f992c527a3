"""What the terminal and `--json` say of whom to call: hidden positives, the call table, and where to stop."""

from dataclasses import asdict
from typing import Any

from rich.table import Table

from pubench.cli.render.terminal import console, table
from pubench.decision.call_list import CallRow, CallTable
from pubench.decision.hidden_positives import HiddenPositives
from pubench.decision.profit import ProfitCurve
from pubench.decision.recall import Range
from pubench.html import numbers
from pubench.tuning.result import TuneResult
from pubench.types import Json


def print_calls(result: TuneResult) -> None:
    """Print what the best unlabeled rows hold, and where to stop calling."""
    out, calls = console(), result.call_table
    out.print(
        f"Whom to call: what the best of {calls.n_unlabeled:,} unlabeled rows hold, with {calls.confidence:.0%} ranges, by "
        f"{numbers.counted(calls.n_labelled, 'labelled row')} of the holdout"
    )
    out.print(_table(calls))
    out.print(f"Hidden positives: {calls.hidden.in_words}")
    for note in calls.notes:
        out.print(note, style="yellow")
    if result.stop_sentence:
        out.print(result.stop_sentence)
    out.print()


def _table(calls: CallTable) -> Table:
    needs_prior = not isinstance(calls.hidden, HiddenPositives)
    prior_free = ("best rows", "lift", "of all hidden positives")
    shown = table(*prior_free, *(() if needs_prior else ("positives", "precision")))
    for row in calls.rows:
        shown.add_row(*_row(row))
    return shown


def _row(row: CallRow) -> list[str]:
    cells = [
        f"{row.rows:,} ({numbers.percent(row.share)})",
        _ranged(row.lift, numbers.decimal),
        _ranged(row.found, numbers.percent),
    ]
    if row.positives is not None and row.precision is not None:
        cells += [
            _ranged(row.positives, numbers.whole),
            _ranged(row.precision, numbers.percent),
        ]
    return cells


def _ranged(value: Range, form: numbers.Form) -> str:
    return f"{form(value.estimate)} ({numbers.between(value.low, value.high, form)})"


def calls_json(result: TuneResult) -> dict[str, Json]:
    """Return the same as JSON; a range has `estimate`, `low` and `high`, and is null where it needs a prior."""
    calls, profit = result.call_table, result.profit
    return {
        "hidden_positives": asdict(calls.hidden),
        "whom_to_call": {
            "unlabeled": calls.n_unlabeled,
            "labelled": calls.n_labelled,
            "confidence": calls.confidence,
            "rows": [_row_json(row) for row in calls.rows],
            "notes": list(calls.notes),
        },
        "profit": None if profit is None else _profit_json(profit),
    }


def _row_json(row: CallRow) -> dict[str, Json]:
    return {
        "rows": row.rows,
        "share": row.share,
        "found": _range_json(row.found),
        "lift": _range_json(row.lift),
        "positives": _range_json(row.positives),
        "precision": _range_json(row.precision),
    }


def _range_json(value: Range | None) -> dict[str, Any] | None:
    return None if value is None else value._asdict()


def _profit_json(profit: ProfitCurve) -> dict[str, Json]:
    return {
        "gain": profit.gain,
        "cost": profit.cost,
        "best": profit.best,
        "profit": _range_json(profit.best_profit),
        "first": profit.first,
        "last": profit.last,
    }

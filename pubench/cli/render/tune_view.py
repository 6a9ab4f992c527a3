"""What `tune` prints at the end, and its JSON: the leaderboard, and whom to call."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table

from pubench.cli.render.terminal import bold, console, facts, table
from pubench.cli.render.tune_progress import shown_value
from pubench.decision.call_list import CallRow, CallTable
from pubench.decision.hidden_positives import HiddenPositives
from pubench.decision.profit import ProfitCurve
from pubench.decision.recall import Range
from pubench.html import numbers
from pubench.metrics.intervals import AULInterval
from pubench.tuning.ensemble_selection import Gain
from pubench.tuning.result import TuneResult
from pubench.tuning.standings import LeaderboardRow, Role
from pubench.types import Json, Status


def print_result(result: TuneResult) -> None:
    """Print the conclusion, the leaderboard, what the model is, and the files of the run."""
    out = console()
    out.print(bold(f"{result.dataset}: {result.conclusion.finding}"))
    if result.conclusion.advice:
        out.print(result.conclusion.advice)
    out.print()
    out.print(_leaderboard(result.standings))
    for standing in result.standings:
        if reason := standing.entrant.reason:
            out.print(f"{_contender(standing)}: {standing.entrant.status}. {reason}", style="dim")
    out.print()
    print_calls(result)
    out.print(result.choice.sentence)
    if result.choice.is_blend:
        out.print(_parts(result))
    inner = f"It had {result.choice.value:.4f} in the search, which is optimistic, as it was chosen by this figure."
    out.print(inner, style="dim")
    out.print(result.shipped_sentence)
    where = facts()
    where.add_row("predict", f"pubench predict {result.out} FILE --out scores.parquet")
    where.add_row("call", f"pubench predict {result.out} FILE --unlabeled-only --top 1000 --out calls.csv")
    where.add_row("report", f"{result.out / 'report.html'}")
    where.add_row("setting", f"{result.out / 'best.toml'}, for pubench fit --config")
    where.add_row("tables", f"leaderboard.csv, holdout.csv, trials.csv in {result.out}")
    where.add_row("study", f"optuna-dashboard {result.out / 'work' / 'journal.log'}")
    out.print(where)


def _leaderboard(standings: Sequence[LeaderboardRow]) -> Table:
    """Return the leaderboard of the run: a row for each contender that has scores."""
    shown = table("rank", "contender", "AUL_PU", "95% interval", "model minus this", "p")
    for standing in standings:
        if standing.interval is not None:
            shown.add_row(
                *_leaderboard_row(standing, standing.interval), style="bold" if standing.is_model else ""
            )
    return shown


def _leaderboard_row(standing: LeaderboardRow, interval: AULInterval) -> list[str]:
    comparison = standing.comparison
    first = ["" if standing.rank is None else str(standing.rank), _contender(standing)]
    values = [f"{interval.estimate:.4f}", f"{interval.low:.4f} - {interval.high:.4f}"]
    if comparison is None:
        return [*first, *values, "the model", ""]
    difference = f"{comparison.difference:+.4f} [{comparison.low:+.4f}, {comparison.high:+.4f}]"
    p_value = "" if standing.p_value is None else numbers.p_value(standing.p_value)
    return [*first, *values, difference, p_value]


def _contender(standing: LeaderboardRow) -> str:
    return f"{standing.entrant.role}: {standing.short_label}"


def _parts(result: TuneResult) -> Table:
    """Return the parts of a blend."""
    shown = table("weight", "trial", "AUL_PU in the search", "setting")
    trials = {trial.number: trial for trial in result.trials}
    for number, weight in result.weights.items():
        trial = trials[number]
        shown.add_row(str(weight), str(number), shown_value(trial), str(trial.configuration))
    return shown


def result_json(result: TuneResult) -> dict[str, Json]:
    """Return the result as a JSON object."""
    return {
        "dataset": result.dataset,
        "out": str(result.out),
        "models": {
            name: {
                "setting": contender.configuration.to_json(),
                "seconds": contender.seconds,
                **_interval(contender.interval),
            }
            for name, contender in result.holdout.contenders.items()
        },
        "comparisons": {
            standing.entrant.role.value: {
                "difference": c.difference,
                "low": c.low,
                "high": c.high,
                "p_value": standing.p_value,
            }
            for standing in result.standings
            if standing.entrant.role is Role.DEFAULT and (c := standing.comparison) is not None
        },
        "leaderboard": [standing.to_row() | {"is_model": standing.is_model} for standing in result.standings],
        "verdict": result.conclusion.sentence,
        "conclusion": {**vars(result.conclusion), "outcome": result.conclusion.outcome.value},
        **calls_json(result),
        "best_trial": result.best.number,
        "inner_aul_pu": result.choice.value,
        "default": {"kept": result.is_default},
        "blend": {
            "taken": result.choice.is_blend,
            "why": result.choice.sentence,
            "weights": {str(number): weight for number, weight in result.weights.items()},
            **_gain(result.choice.gain),
        },
        "refit": {
            "done": result.is_refitted,
            "rows": result.shipped.data.X.n_rows,
            "seconds": result.shipped.seconds,
            "scoring_seconds_per_million_rows": result.shipped.scoring_seconds,
        },
        "trials": len(result.trials),
        "stopped_early": sum(trial.stopped_early for trial in result.trials),
        "failed": sum(trial.status is not Status.OK for trial in result.trials),
        "timeline": dict(result.timeline),
        "notices": list(result.notices),
    }


def _gain(gain: Gain | None) -> dict[str, Json]:
    return {
        "held_out_difference": None if gain is None else gain.difference,
        "stderr": None if gain is None else gain.stderr,
    }


def _interval(interval: AULInterval) -> dict[str, Json]:
    return {
        "aul_pu": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "n_labelled": interval.n_labelled,
    }


def print_calls(result: TuneResult) -> None:
    """Print what the best unlabeled rows hold, and where to stop calling."""
    out, calls = console(), result.call_table
    out.print(
        f"Whom to call: what the best of {calls.n_unlabeled:,} unlabeled rows hold, with {calls.confidence:.0%} ranges, by "
        f"{numbers.counted(calls.n_labelled, 'labelled row')} of the holdout"
    )
    out.print(_call_table(calls))
    out.print(f"Hidden positives: {calls.hidden.in_words}")
    for note in calls.notes:
        out.print(note, style="yellow")
    if result.stop_sentence:
        out.print(result.stop_sentence)
    out.print()


def _call_table(calls: CallTable) -> Table:
    needs_prior = not isinstance(calls.hidden, HiddenPositives)
    prior_free = ("best rows", "lift", "of all hidden positives")
    shown = table(*prior_free, *(() if needs_prior else ("positives", "precision")))
    for row in calls.rows:
        shown.add_row(*_call_row(row))
    return shown


def _call_row(row: CallRow) -> list[str]:
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
            "rows": [_call_row_json(row) for row in calls.rows],
            "notes": list(calls.notes),
        },
        "profit": None if profit is None else _profit_json(profit),
    }


def _call_row_json(row: CallRow) -> dict[str, Json]:
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

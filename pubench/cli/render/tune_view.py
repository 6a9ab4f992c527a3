"""What `tune` prints at the end, and its JSON."""

from collections.abc import Sequence

from rich.table import Table

from pubench.cli.render.call_view import calls_json, print_calls
from pubench.cli.render.terminal import bold, console, facts, table
from pubench.cli.render.tune_progress import shown_value
from pubench.html import numbers
from pubench.metrics.intervals import AULInterval
from pubench.tuning.ensemble_selection import Gain
from pubench.tuning.result import TuneResult
from pubench.tuning.standings import LeaderboardRow
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
            name: {"difference": c.difference, "low": c.low, "high": c.high, "p_value": c.p_value}
            for name, c in result.holdout.comparisons.items()
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

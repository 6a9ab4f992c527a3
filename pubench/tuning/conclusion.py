"""The conclusion of a run, in plain words: what the model is, whether it is better, how sure that is, and what to do if not.

It is made of the leaderboard alone, so the terminal and the report can't say different things. "Better" and "worse" are said
where the corrected p-value is at most 5%; of everything else it is said that it can't be told.

How many labels would settle a difference: its standard error falls with the root of their number, so n rows that give the
standard error e let a difference d be found in four of five runs at about n ((z + 0.84) e / d)^2 rows; z is the normal
quantile of the level that the correction for k comparisons leaves, 5% / k.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, log10

from scipy.special import ndtri

from pubench.html import numbers
from pubench.tuning.standings import LeaderboardRow, Role

#: Differences with a corrected p-value above this are not called differences.
MAX_P_VALUE = 0.05
#: The probability of finding a difference that is there, with the number of labels that is named.
_POWER = 0.8
#: A number of labels that is larger than this multiple of those at hand is no advice.
_MOST_LABELS = 100
#: The roles of contenders that the model has to beat.
_BASELINES = (Role.DEFAULT, Role.BASELINE)


class Outcome(StrEnum):
    """How the model compares with the best baseline."""

    BETTER = "better"
    WORSE = "worse"
    UNDECIDED = "undecided"
    SAME = "same"
    ALONE = "alone"


@dataclass(frozen=True)
class Conclusion:
    """What a run ends with.

    Attributes:
        outcome: how the model compares with the best baseline.
        model: what the model is, as the subject of a sentence.
        finding: one sentence, whether it is better than the best baseline and how sure that is.
        advice: what to do next, one or two sentences; may be empty.
        labels: about how many labelled rows in all would settle the difference; None where it is settled or no number would.
    """

    outcome: Outcome
    model: str
    finding: str
    advice: str = ""
    labels: int | None = None

    @property
    def sentence(self) -> str:
        """All of it, on one line."""
        return f"{self.finding} {self.advice}".rstrip()


def conclude(standings: Sequence[LeaderboardRow], n_labelled: int, n_all: int) -> Conclusion:
    """Return the conclusion of a leaderboard.

    Args:
        standings: the rows of the leaderboard, the model among them.
        n_labelled: number of labelled rows of the holdout.
        n_all: number of all labelled rows; the holdout has a fixed share of them.
    """
    model = next(row for row in standings if row.is_model)
    what = _what(model)
    rivals = [row for row in standings if row.rank is not None and row.entrant.role in _BASELINES]
    others = [row for row in rivals if not row.is_model]
    if not others:
        finding = f"{_capital(what)} has been compared with no other method, so nothing is known about what tuning adds."
        return Conclusion(Outcome.ALONE, what, finding, _more_time(standings))
    best = max(others, key=lambda row: 0.0 if row.interval is None else row.interval.estimate)
    rival = f"the best of {numbers.counted(len(others), 'other method')}, {_name(best)}"
    if len(others) == 1:
        rival = f"the only other method, {_name(best)}"
    comparison, p_value = best.comparison, best.p_value
    if comparison is None or p_value is None or comparison.difference == comparison.stderr == 0:
        return Conclusion(
            Outcome.SAME, what, f"{_capital(what)} ranks the rows as {rival}.", _more_time(standings)
        )
    evidence = (
        f"on {numbers.counted(n_labelled, 'labelled row')} that it never saw, p = {numbers.p_value(p_value)}"
    )
    difference = numbers.difference(abs(comparison.difference)).removeprefix("+")
    if p_value <= MAX_P_VALUE:
        is_better = comparison.difference > 0
        least = min(abs(comparison.low), abs(comparison.high))
        finding = (
            f"{_capital(what)} ranks positives {'better' if is_better else 'worse'} than {rival}, beyond reasonable doubt: "
            f"by {difference} AUL_PU, of which {least:.4f} are certain at 95% ({evidence})."
        )
        advice = "" if is_better else f"Use {_name(best)} instead: pubench fit trains it."
        return Conclusion(Outcome.BETTER if is_better else Outcome.WORSE, what, finding, advice)
    ahead = "ahead" if comparison.difference >= 0 else "behind"
    finding = (
        f"{_capital(what)} cannot be told apart from {rival}: it is {ahead} by {difference} AUL_PU, which may be "
        f"chance ({evidence})."
    )
    tested = sum(row.p_value is not None for row in standings)
    labels = _labels_needed(comparison.difference, comparison.stderr, tested, n_all)
    return Conclusion(Outcome.UNDECIDED, what, finding, _advice(labels, n_all), labels)


def _what(model: LeaderboardRow) -> str:
    value = "" if model.interval is None else f" (AUL_PU {numbers.area(model.interval.estimate)})"
    count = len(model.entrant.configuration.singles)
    names = {Role.BLEND: f"a blend of {count} trials", Role.DEFAULT: "the default configuration"}
    return f"the model{value}, {names.get(model.entrant.role, f'{_name(model)} as tuned')},"


def _name(row: LeaderboardRow) -> str:
    return f"{row.entrant.method} (the default)" if row.entrant.role is Role.DEFAULT else row.entrant.method


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _labels_needed(difference: float, stderr: float, tested: int, n_all: int) -> int | None:
    """Return the number of labelled rows in all, holdout included, with two significant digits."""
    if difference == 0:
        return None
    reach = float(-ndtri(MAX_P_VALUE / max(1, tested) / 2) + ndtri(_POWER))
    times = max(1.0, (reach * stderr / abs(difference)) ** 2)
    if times > _MOST_LABELS:
        return None
    needed = times * n_all
    digits = 10 ** max(0, int(log10(needed)) - 1)
    return int(ceil(needed / digits) * digits)


def _advice(labels: int | None, n_all: int) -> str:
    if labels is None:
        return "No realistic number of labels would tell them apart: take the simpler one, or search longer (--timeout)."
    return (
        f"About {numbers.count(labels)} labelled rows in all, instead of {numbers.count(n_all)}, would settle a difference of "
        "this size; a longer --timeout may find a better model."
    )


def _more_time(standings: Sequence[LeaderboardRow]) -> str:
    had_no_time = any(row.entrant.role in _BASELINES and row.interval is None for row in standings)
    return "A longer --timeout gives the other methods time." if had_no_time else ""

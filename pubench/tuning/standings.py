"""The leaderboard of a run: every contender on the holdout, beside the model that the run leaves.

    entrants (default, blend or tuned, baselines, oracle) -> ranked by AUL_PU, each compared with the model -> leaderboard.csv

The model is represented by its twin, which did not see the holdout. A difference is the model's AUL_PU minus that of the row:
above 0 the model is better. The p-values are corrected for their number by Holm's procedure. The oracle, which knew all
labels, shows what can be reached; it has no rank and no p-value, since nobody asks whether the model is better than it.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import numpy as np

from pubench.configuration.configuration import Configuration
from pubench.metrics.comparison import AULComparison, compare_aul, holm
from pubench.metrics.intervals import AULInterval, aul_pu_interval
from pubench.types import BoolVector, FloatVector, Json, Status

#: The columns of leaderboard.csv.
COLUMNS = (
    "rank",
    "role",
    "method",
    "label",
    "aul_pu",
    "low",
    "high",
    "difference",
    "diff_low",
    "diff_high",
    "p_value",
    "seconds",
    "status",
    "reason",
)
#: What is said of a contender that is an ensemble and was cut short.
FEWER_MEMBERS = "It has fewer members than it asks for: the time was over."
#: What is said of a contender that was left out because a person stopped the run.
STOPPED = "The run was stopped before its turn."


class Role(StrEnum):
    """What a contender stands for."""

    DEFAULT = "default"
    TUNED = "tuned"
    BLEND = "blend"
    BASELINE = "baseline"
    ORACLE = "oracle"


@dataclass(frozen=True, eq=False)
class Entrant:
    """A contender that was trained on the rows of the search, or the reason why it was not.

    Attributes:
        role: what it stands for.
        configuration: as it was asked for.
        scores: of the rows of the holdout; None unless its status is OK.
        seconds: time that training took.
        status: how training ended.
        reason: why it failed, or what a reader should know of it; may be empty.
        chosen: what fitting decided.
    """

    role: Role
    configuration: Configuration
    scores: FloatVector | None = None
    seconds: float | None = None
    status: Status = Status.OK
    reason: str = ""
    chosen: Mapping[str, Json] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """The name of its method."""
        return self.configuration.method.name


@dataclass(frozen=True, eq=False)
class LeaderboardRow:
    """A row of the leaderboard.

    Attributes:
        entrant: the contender.
        is_model: it is the model's twin.
        rank: 1 for the highest AUL_PU, equal ones share a rank; None for the oracle and where there are no scores.
        interval: of its AUL_PU; None where there are no scores.
        comparison: of the model with this contender; None for the model, and where there are no scores.
        p_value: of the comparison, corrected by Holm's procedure; None for the oracle, too.
    """

    entrant: Entrant
    is_model: bool
    rank: int | None = None
    interval: AULInterval | None = None
    comparison: AULComparison | None = None
    p_value: float | None = None

    @property
    def label(self) -> str:
        """The names of its plugins."""
        return str(self.entrant.configuration)

    @property
    def short_label(self) -> str:
        """The names of its plugins; of a blend the number of its parts."""
        count = len(self.entrant.configuration.singles)
        return self.label if count == 1 else f"{count} trials"

    def to_row(self) -> dict[str, Json]:
        """Return the row by the names in `COLUMNS`; None where there is no value."""
        interval, comparison, entrant = self.interval, self.comparison, self.entrant
        return {
            "rank": self.rank,
            "role": entrant.role.value,
            "method": entrant.method,
            "label": self.label,
            "aul_pu": None if interval is None else interval.estimate,
            "low": None if interval is None else interval.low,
            "high": None if interval is None else interval.high,
            "difference": None if comparison is None else comparison.difference,
            "diff_low": None if comparison is None else comparison.low,
            "diff_high": None if comparison is None else comparison.high,
            "p_value": self.p_value,
            "seconds": entrant.seconds,
            "status": entrant.status.value,
            "reason": entrant.reason,
        }


def rank_entrants(model: Entrant, others: Sequence[Entrant], s: BoolVector) -> tuple[LeaderboardRow, ...]:
    """Return the rows of the leaderboard: by rank, the oracle among them by its AUL_PU, then those without scores.

    Args:
        model: the model's twin.
        others: all that it is compared with.
        s: which rows of the holdout are labelled.
    """
    standings = [_compared(model, entrant, s) for entrant in (model, *others)]
    tested = [row for row in standings if row.comparison is not None and row.entrant.role is not Role.ORACLE]
    p_values = holm(np.array([row.comparison.p_value for row in tested if row.comparison is not None]))
    p_value = dict(zip(map(id, tested), p_values.tolist(), strict=True))
    values = [row.interval.estimate for row in standings if _is_ranked(row) and row.interval is not None]
    ranked = [
        LeaderboardRow(
            row.entrant,
            row.is_model,
            1 + sum(value > row.interval.estimate for value in values)
            if _is_ranked(row) and row.interval is not None
            else None,
            row.interval,
            row.comparison,
            p_value.get(id(row)),
        )
        for row in standings
    ]
    return tuple(sorted(ranked, key=_order))


def _compared(model: Entrant, entrant: Entrant, s: BoolVector) -> LeaderboardRow:
    is_model = entrant is model
    if entrant.scores is None or model.scores is None:
        return LeaderboardRow(entrant, is_model)
    interval = aul_pu_interval(s, entrant.scores)
    comparison = None if is_model else compare_aul(s, model.scores, entrant.scores)
    return LeaderboardRow(entrant, is_model, interval=interval, comparison=comparison)


def _is_ranked(row: LeaderboardRow) -> bool:
    return row.interval is not None and row.entrant.role is not Role.ORACLE


def _order(row: LeaderboardRow) -> tuple[bool, float, bool, int]:
    value = 0.0 if row.interval is None else row.interval.estimate
    return row.interval is None, -value, not row.is_model, list(Role).index(row.entrant.role)


def write_leaderboard(path: Path, standings: Sequence[LeaderboardRow]) -> None:
    """Write the leaderboard as CSV with the columns `COLUMNS`; a value that does not exist is an empty cell."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for standing in standings:
            writer.writerow([_cell(standing.to_row()[name]) for name in COLUMNS])


def _cell(value: Json) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)

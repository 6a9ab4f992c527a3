"""The result of a run: its trials, the choice among them, the final models on the holdout, and what a notebook shows of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pubench.crossfit.folds import InnerFold
from pubench.data.new_rows import encode_as
from pubench.data.table_file import frame_table
from pubench.decision.call_list import CallTable, call_list
from pubench.decision.hidden_positives import NEEDS_A_PRIOR, Hidden, HiddenPositives
from pubench.decision.profit import ProfitCurve, profit_over_depth
from pubench.html.markup import Markup, element, join
from pubench.html.numbers import NO_VALUE, area, area_interval, difference, p_value, seconds
from pubench.html.parts import bullets, table
from pubench.model.training_rows import OwnRows, honest_scores
from pubench.system.machine import cores
from pubench.tuning.conclusion import Conclusion, conclude
from pubench.tuning.final_models import DEFAULT, TUNED, Contender, HoldoutResult, ShippedModel
from pubench.tuning.model_choice import ModelChoice
from pubench.tuning.run_folder import RunFolder
from pubench.tuning.standings import COLUMNS, Entrant, LeaderboardRow, rank_entrants
from pubench.tuning.trial import Trial
from pubench.tuning.whom_to_call import CallRequest, n_unlabeled
from pubench.types import PUData, Resources, Split

if TYPE_CHECKING:
    import pandas as pd

_NOTEBOOK_HEAD = ("rank", "role", "model", "AUL_PU", "95% interval", "the model minus this", "p")


@dataclass(frozen=True, eq=False)
class TuneResult:
    """A finished run.

    Attributes:
        out: the run's folder.
        data: all rows, and which are labelled.
        split: the rows of the search (`train`) and the holdout (`test`).
        folds: of the rows of the search.
        trials: all trials that ended, by number.
        best: the best single trial.
        choice: the trials that the tuned model is made of.
        holdout: the final models on the holdout; `tuned` is the twin of the model that is shipped.
        shipped: the model that the run leaves.
        model: its twin, on the leaderboard.
        others: all that it is compared with there.
        timeline: phase -> seconds since the start at which it ended.
        dataset: the name of the data set; empty for rows without a name.
        space: the key of the search space.
        notices: sentences about the data and the search that the person should know.
        calls: what the person asks about the call list.
        hidden: number of positives among the unlabeled ones of all rows, or why it is withheld.
    """

    out: Path
    data: PUData
    split: Split
    folds: tuple[InnerFold, ...]
    trials: tuple[Trial, ...]
    best: Trial
    choice: ModelChoice
    holdout: HoldoutResult
    shipped: ShippedModel
    model: Entrant
    others: tuple[Entrant, ...]
    timeline: Mapping[str, float]
    dataset: str = ""
    space: str = ""
    notices: tuple[str, ...] = ()
    calls: CallRequest = field(default_factory=CallRequest)
    hidden: Hidden = NEEDS_A_PRIOR

    def leaderboard(self) -> "pd.DataFrame":
        """Return the leaderboard of the run, a row per contender, with the columns of `leaderboard.csv`.

        `difference` is that of the model minus this row, with its 95% interval and a p-value corrected for the number of rows.
        """
        import pandas as pd  # noqa: PLC0415 - heavy imports happen when used

        return pd.DataFrame([row.to_row() for row in self.standings], columns=list(COLUMNS))

    def predict(self, frame: "pd.DataFrame") -> "pd.Series[float]":
        """Return a score per row, higher for likelier positives, by the model that the run leaves; the index is kept.

        Rows that it was trained on get scores by models that were not. Columns are found by name, others are ignored, and
        unknown categories count as missing.

        Raises:
            DataError: a column that the model was trained on is missing, or has values that do not fit.
        """
        import pandas as pd  # noqa: PLC0415 - heavy imports happen when used

        shipped, features = self.shipped, self.data.X.features
        columns = frame_table(frame, "frame").read([feature.name for feature in features])
        own = (
            None
            if shipped.own_scores is None
            else OwnRows.of(shipped.data.X, shipped.own_scores, shipped.data.s)
        )
        X, _ = encode_as(columns, features)
        found = honest_scores(shipped.fitted, own, X, Resources(n_threads=cores()))
        return pd.Series(found.scores.values, index=frame.index, name="score")

    def report(self) -> Path:
        """Return the page about the run, which a browser opens without a network."""
        return RunFolder(self.out).report

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return result_html(self)

    @property
    def tuned(self) -> Contender:
        """The tuned model."""
        return self.holdout.contenders[TUNED]

    @cached_property
    def standings(self) -> tuple[LeaderboardRow, ...]:
        """The leaderboard of the run."""
        return rank_entrants(self.model, self.others, self.data.s[self.split.test])

    @cached_property
    def conclusion(self) -> Conclusion:
        """Whether the model is better than what else there is, in plain words."""
        return conclude(self.standings, self.holdout.n_labelled, self.data.n_labelled)

    @cached_property
    def call_table(self) -> CallTable:
        """What the best of all unlabeled rows of the run hold, as the twin ranks the holdout."""
        return call_list(
            self.data.s[self.split.test],
            self.tuned.scores,
            n_unlabeled(self.data),
            hidden=self.hidden,
            depths=self.calls.depths,
        )

    @cached_property
    def profit(self) -> ProfitCurve | None:
        """The profit of calling the best of all unlabeled rows; None without gain and cost, or a number of hidden positives."""
        calls = self.calls
        if calls.gain is None or calls.cost is None or not isinstance(self.hidden, HiddenPositives):
            return None
        return profit_over_depth(
            self.data.s[self.split.test],
            self.tuned.scores,
            n_unlabeled(self.data),
            self.hidden,
            gain=calls.gain,
            cost=calls.cost,
        )

    @property
    def stop_sentence(self) -> str:
        """Where to stop calling, or why that cannot be told; empty without gain and cost."""
        if self.calls.gain is None:
            return ""
        if self.profit is None:
            return "Where to stop calling rests on the number of hidden positives, which needs a prior."
        return self.profit.sentence

    @property
    def weights(self) -> Mapping[int, int]:
        """The trials that the tuned model consists of, by number, and their weights."""
        return self.choice.weights

    @property
    def is_default(self) -> bool:
        """Whether the tuned model is the default configuration."""
        return self.tuned is self.holdout.contenders.get(DEFAULT)

    @property
    def shipped_sentence(self) -> str:
        """Which rows the model that is shipped was trained on, whose figures stand beside it, and what scoring costs."""
        cost = f"It scores a million rows in about {seconds(self.shipped.scoring_seconds)}."
        if not self.is_refitted:
            rows = f"{self.shipped.data.X.n_rows:,} rows of the search alone"
            return f"The model was trained on {rows}; the figures are its own. {cost}"
        rows, n_trained = f"all {self.data.X.n_rows:,} rows", self.shipped.data.X.n_rows
        if n_trained < self.data.X.n_rows:
            rows = f"{n_trained:,} rows, all labelled ones among them, for which there was time (--timeout)"
        return (
            f"The model in the run's folder was trained on {rows}, the holdout included; the figures are those of its twin, "
            f"which did not see the holdout. {cost}"
        )

    @property
    def is_refitted(self) -> bool:
        """Whether the model that is shipped was trained on all rows, the holdout included."""
        return self.shipped.fitted is not self.tuned.fitted


def result_html(result: "TuneResult") -> Markup:
    """Return the conclusion, the leaderboard and the notices, as HTML that needs no style sheet."""
    return join(
        element("p", element("strong", f"{result.dataset}: "), result.conclusion.sentence),
        table(
            _NOTEBOOK_HEAD,
            _notebook_rows(result),
            "The leaderboard of the run",
            number_columns=(0, 3, 4, 5, 6),
        ),
        element("p", result.choice.sentence),
        element("p", result.shipped_sentence),
        bullets(result.notices),
        element("p", "Report: ", element("code", str(result.report()))),
    )


def _notebook_rows(result: "TuneResult") -> list[tuple[str, ...]]:
    return [
        (
            NO_VALUE if row.rank is None else str(row.rank),
            row.entrant.role.value,
            row.short_label,
            NO_VALUE if row.interval is None else area(row.interval.estimate),
            NO_VALUE if row.interval is None else area_interval(row.interval.low, row.interval.high),
            NO_VALUE if row.comparison is None else difference(row.comparison.difference),
            NO_VALUE if row.p_value is None else p_value(row.p_value),
        )
        for row in result.standings
    ]

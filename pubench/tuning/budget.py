"""The time budget of a run: how the seconds of `--timeout` are divided, and what is cut when they run short.

    started                                                                                       started + seconds
    | trials 0, 1 | other trials                   | baselines | default, twin | refit on all rows | oracle | report |
                  |<- each at most a share of it ->|<-  10 % ->|<- reserve, 20 to 30 percent     ->|  2 %   |  3 %   |
                                              search ends                                       deadline

Too little time gives fewer trials, then fewer parts of a blend, then final models with fewer members, but never fewer than their
drafts have, which the search judged; it is never an error once a trial succeeded. Baselines leave what they do not need to the final models, and get what these leave; each runs in a
process that is ended when its time is up.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pubench.crossfit.folds import InnerFold
from pubench.tuning.model_costs import relating_seconds
from pubench.tuning.trial import Trial
from pubench.workers.limits import Deadline, Limits

#: Share of the time for judging baselines, and for training the oracle where truth is known.
BASELINES_SHARE = 0.1
ORACLE_SHARE = 0.02
#: Of several baselines that wait, one may take this share of their time, or this multiple of what its trials took; without
#: a time limit it may take as long as all that went before, and these seconds in any case.
_BASELINE_SHARE = 0.5
_PER_ESTIMATE = 3
#: A baseline gets these seconds even if others wait: the first one starts the process.
_START_SECONDS = 5.0
_MIN_BASELINE_SECONDS = 60.0
#: Share of the time for saving the model and writing the report.
_REPORT_SHARE = 0.03
#: Share of the remaining search time that one trial may take; of a short one the larger share, up to these seconds.
_TRIAL_SHARE = 0.1
_SHORT_TRIAL_SHARE = 0.25
_SHORT_TRIAL_SECONDS = 30.0
_LEAST_TRIAL_SECONDS = 5.0
#: A configuration in full takes about this many times as long as its draft; the parts of a blend share that.
_FULL_PER_DRAFT = 10
#: Number of parts that a blend has about, and how much longer a part in full takes than its draft.
_N_PARTS = 4
PART_PER_DRAFT = 1.25
#: Share of the time that is reserved for the final models: at least, because parts of a blend may take longer than the first
#: trials, and at most; if they need more, their ensembles have fewer members. In a short run the reserve is these seconds, as far
#: as the greatest share allows: a blend needs its time, and what a search finds late adds little to it.
_MIN_RESERVE_SHARE = 0.2
_MAX_RESERVE_SHARE = 0.3
_SHORT_RESERVE_SECONDS = 30.0
#: How often what a similarity computes once on all rows is computed after the search: for the twin, the shipped model, and
#: the scores of its training rows.
_N_RELATIONS = 3
#: A run may end this much later rather than train on fewer rows: seconds, or a share of the time where that is more.
_LATE_SECONDS = 5.0
_LATE_SHARE = 0.02
#: Share of the remaining time that scoring the holdout gets.
_SCORING_SHARE = 0.1
#: Share of the remaining time that the default model may take, and of the rest that the twin may take; the model that is
#: shipped gets what is left.
DEFAULT_SHARE = 0.2
TWIN_SHARE = 0.4


@dataclass(frozen=True)
class TimeBudget:
    """The time of a run; all moments are on the clock of `time.monotonic`.

    Attributes:
        seconds: for everything; None: no limit.
        started: when the run began.
        baselines, oracle: the shares of the time that are reserved for these.
    """

    seconds: float | None = None
    started: float = field(default_factory=time.monotonic)
    baselines: float = 0.0
    oracle: float = 0.0

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self.started

    @property
    def deadline(self) -> float:
        """When all models must be trained and judged, so that the oracle, saving and the report can begin."""
        return self.oracle_deadline - self._seconds_of(self.oracle)

    @property
    def oracle_deadline(self) -> float:
        """When the oracle must be trained, so that saving and the report can begin."""
        return float("inf") if self.seconds is None else self.started + (1 - _REPORT_SHARE) * self.seconds

    @property
    def baselines_deadline(self) -> float:
        """When baselines that begin now must end, so that the final models have the time that is theirs."""
        if self.seconds is None:
            return float("inf")
        return min(time.monotonic() + self._seconds_of(self.baselines), self.deadline)

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - time.monotonic()

    @property
    def left_in_need(self) -> float:
        """Seconds that final models may take before rows are left out: a run may end a little late."""
        return self.left + max(_LATE_SECONDS, self._seconds_of(_LATE_SHARE))

    def _seconds_of(self, share: float) -> float:
        return 0.0 if self.seconds is None else share * self.seconds

    @property
    def first_deadline(self) -> float:
        """When the first trials must end, so that there is time for a final model whatever they find out."""
        return self.deadline - self._seconds_of(_MAX_RESERVE_SHARE + self.baselines)

    def search_deadline(self, trials: Sequence[Trial], folds: Sequence[InnerFold], n_rows: int) -> float:
        """Return when the search must end, so that there is time for the final models.

        Args:
            trials: of the search so far, by number; the first two tell how much time the final models need.
            folds: on which trials are judged.
            n_rows: number of rows that the final models are trained on.
        """
        return self.deadline - self._reserve(trials, folds, n_rows) - self._seconds_of(self.baselines)

    def _reserve(self, trials: Sequence[Trial], folds: Sequence[InnerFold], n_rows: int) -> float:
        """Return the seconds that the final models need, as estimated from the slower one of the first two trials.

        The default is trained in full, a blend on the rows of the search and on all rows, and its parts are cross-fitted.
        """
        if self.seconds is None or not trials:
            return 0.0
        slow = max(trial.last_fold for trial in trials[:2])
        on_all = folds[0].seconds_for(n_rows, slow) * (_FULL_PER_DRAFT + 2 * _N_PARTS * PART_PER_DRAFT)
        needed = _N_RELATIONS * relating_seconds(trials) + on_all + _N_PARTS * len(folds) * slow
        most = _MAX_RESERVE_SHARE * self.seconds
        least = max(_MIN_RESERVE_SHARE * self.seconds, min(most, _SHORT_RESERVE_SECONDS))
        return float(np.clip(needed, least, most))

    def affordable(self, seconds: Sequence[float]) -> list[int]:
        """Return the positions of the parts of a blend that there is time for: the first, and each other that still fits.

        Args:
            seconds: that each part costs, the most important one first.
        """
        left = (self.left - self._seconds_of(self.baselines)) * (1 - DEFAULT_SHARE)
        kept: list[int] = []
        for position, cost in enumerate(seconds):
            if cost <= left or not kept:
                kept.append(position)
                left -= cost
        return kept

    def baseline_seconds(self, until: float, needs: float, *, is_last: bool) -> float:
        """Return the time limit of a baseline that begins now.

        Args:
            until: when all baselines must end.
            needs: the seconds that it takes about.
            is_last: no other one waits.
        """
        if self.seconds is None:
            return max(_MIN_BASELINE_SECONDS, self.elapsed)
        left = max(0.0, until - time.monotonic())
        wanted = max(_BASELINE_SHARE * left, _PER_ESTIMATE * needs, _START_SECONDS)
        return left if is_last else min(left, wanted)

    def trial_seconds(self, search_deadline: float) -> float:
        """Return the time limit of one trial, so that no single trial uses up the search."""
        left = search_deadline - time.monotonic()
        if left == float("inf"):
            return left
        return max(
            _LEAST_TRIAL_SECONDS, _TRIAL_SHARE * left, min(_SHORT_TRIAL_SECONDS, _SHORT_TRIAL_SHARE * left)
        )

    def model_deadline(self, share: float = 1.0, *, needs: float = 0.0, later: float = 0.0) -> float:
        """Return when a final model that is trained next must end; an ensemble that is not done has fewer members.

        Args:
            share: of the time that is left; other models need the rest.
            needs: seconds that it gets in any case, be there time or not: what its draft takes. With fewer members than its
                draft it would not be the model that the search judged.
            later: seconds that work takes which comes afterwards and cannot be cut.
        """
        now = time.monotonic()
        remaining = (self.left - later) * (1 - _SCORING_SHARE)
        return now + max(needs, remaining * share)


def full_seconds(trials: Sequence[Trial], folds: Sequence[InnerFold], n_rows: int) -> float | None:
    """Return about how long a method takes in full on `n_rows` rows, judging by its trials; None without any.

    Methods whose ensembles stop when their time is over need no more than their draft.
    """
    known = [_fold_seconds(trial, folds) for trial in trials if trial.seconds]
    if not known:
        return None
    method = trials[0].configuration.method
    is_whole = "members" in method.params or method.draft() == method
    return folds[0].seconds_for(n_rows, float(np.median(known))) * (1 if is_whole else _FULL_PER_DRAFT)


def _fold_seconds(trial: Trial, folds: Sequence[InnerFold]) -> float:
    """Return the seconds of one fold; of a trial that saw none, what it took without an end."""
    return trial.last_fold or trial.seconds / len(folds)


@dataclass(frozen=True)
class SearchBudget:
    """When a search ends, and what each of its trials may use.

    Attributes:
        trials: number of trials, those of earlier runs included; None: as many as the deadline allows.
        deadline: when the search is stopped.
        limits: of a trial.
    """

    trials: int | None = None
    deadline: Deadline = field(default_factory=Deadline)
    limits: Limits = field(default_factory=Limits)

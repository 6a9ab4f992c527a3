"""The contenders beside the model: every method at its defaults and at the best that the search found for it.

They are trained one after another in a process that is ended when the time is over, so that a method which cannot be cut
short takes no more than its share. The cheapest come first, judging by their trials. One that would need more time than is
left is not begun; what has had no time is tried again when the final models have left some.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from pubench.api.method import Method
from pubench.api.plugin import Kind
from pubench.configuration.configuration import Configuration
from pubench.crossfit.folds import InnerFold
from pubench.errors import ParameterError
from pubench.html import numbers
from pubench.tuning.budget import TimeBudget, full_seconds
from pubench.tuning.space import SearchSpace
from pubench.tuning.standings import FEWER_MEMBERS, STOPPED, Entrant, Role
from pubench.tuning.trial import Trial, TuneCallbacks
from pubench.tuning.trial_worker import TrialWorker
from pubench.types import PUData, Status
from pubench.workers.limits import Deadline, Limits
from pubench.workers.watch import JobFailedError
from pubench.workers.worker import StoppedError

if TYPE_CHECKING:
    from pubench.api.registry import Registry

#: The methods that the paper compares with.
PAPER = ("elkan", "liu", "bagging", "nnpu", "pu-auc")
#: With less time than this nothing is begun.
_LEAST_SECONDS = 1.0


def baseline_methods(asked: Sequence[str], registry: "Registry") -> tuple[str, ...]:
    """Return the names of the methods to compare with.

    Args:
        asked: `all` that a search tries by default, those of the `paper`, `none`, or names.
        registry: where methods are found.

    Raises:
        ParameterError: a method needs all true labels, or `none` is not alone.
        UnknownPluginError: there is no such method.
    """
    if "none" in asked:
        if len(asked) > 1:
            raise ParameterError("--baselines none cannot be combined with other baselines.")
        return ()
    groups = {"all": _searched(registry), "paper": PAPER}
    names = [name for one in asked for name in groups.get(one, (one,))]
    for name in names:
        if _needs_truth(registry, name):
            raise ParameterError(
                f"'{name}' needs every true label, so it is no baseline; where these are known it is trained anyway."
            )
    return tuple(dict.fromkeys(names))


def _searched(registry: "Registry") -> tuple[str, ...]:
    names = registry.names(Kind.METHOD)
    return tuple(
        name
        for name in names
        if registry.find(name, Kind.METHOD).plugin.searched and not _needs_truth(registry, name)
    )


def _needs_truth(registry: "Registry", name: str) -> bool:
    plugin = registry.find(name, Kind.METHOD).plugin
    return issubclass(plugin, Method) and plugin.wants_all_labels


def requested_baselines(
    methods: Sequence[str],
    space: SearchSpace,
    trials: Sequence[Trial],
    final_models: tuple[Configuration, Configuration | None],
    data: PUData,
) -> list[Entrant]:
    """Return the contenders that are to be trained, without those of a configuration that is trained anyway.

    Args:
        methods: names, see `baseline_methods`.
        space: of the search; it says which similarity and which learner are the default.
        trials: of the search.
        final_models: the tuned configuration and the default one, which are trained anyway; None for the default if there
            was no time for it in the search, so that it is one of the contenders.
        data: all rows; defaults are derived from their number.
    """
    default = space.configuration(space.default())
    found = [default, *(one for one in final_models if one is not None)]
    entrants: list[Entrant] = []
    for name in methods:
        baseline = space.baseline(name).suited_to(data)
        if baseline not in found:
            entrants.append(Entrant(Role.BASELINE, baseline))
            found.append(baseline)
        best = _best_of(name, trials)
        if best is not None and best not in found:
            entrants.append(Entrant(Role.TUNED, best))
            found.append(best)
    # The default comes after those of unknown cost: it had its chance in the search.
    return [*entrants, Entrant(Role.DEFAULT, default)] if methods and None in final_models else entrants


def _best_of(method: str, trials: Sequence[Trial]) -> Configuration | None:
    own = [trial for trial in trials if trial.is_complete and trial.configuration.method.name == method]
    best = min(own, key=lambda trial: (-(trial.value or 0.0), trial.number), default=None)
    return None if best is None else best.configuration


@dataclass(frozen=True)
class BaselineContext:
    """What baselines are trained with.

    Attributes:
        worker: trains in the folder of the search, which has the features of the holdout.
        budget: the time of the run.
        n_threads: for training.
        memory_bytes: memory limit of the worker.
        deadline: its `stop` ends the search, and baselines that have not begun; its `until` does not matter.
        callbacks: progress.
    """

    worker: TrialWorker
    budget: TimeBudget
    n_threads: int
    memory_bytes: float = float("inf")
    deadline: Deadline = field(default_factory=Deadline)
    callbacks: TuneCallbacks = field(default_factory=TuneCallbacks)


class Baselines:
    """Contenders that are trained as far as there is time.

    Args:
        requested: see `requested_baselines`.
        context: what they are trained with.
        trials: of the search; they tell how long methods take.
        folds: on which trials were judged.
        n_rows: number of rows that the contenders are trained on.
    """

    def __init__(
        self,
        requested: Sequence[Entrant],
        context: BaselineContext,
        trials: Sequence[Trial],
        folds: Sequence[InnerFold],
        n_rows: int,
    ) -> None:
        self._context = context
        self._judged: dict[int, Entrant] = {}
        estimates = [_estimate(entrant, trials, folds, n_rows) for entrant in requested]
        order = sorted(
            range(len(requested)), key=lambda i: (requested[i].role is Role.TUNED, estimates[i], i)
        )
        self._requested = [requested[i] for i in order]
        #: Seconds that each takes, judging by its trials; 0 where that is unknown.
        self._estimates = [estimates[i] if estimates[i] < float("inf") else 0.0 for i in order]
        #: Seconds without which each is not begun: one that was ended needs more than it had.
        self._needs = list(self._estimates)

    def train(self, until: float) -> None:
        """Train those that had no time so far and can have it now; may be called again."""
        waiting = [number for number in range(len(self._requested)) if self._had_no_time(number)]
        try:
            for position, number in enumerate(waiting):
                if self._context.deadline.has_passed:
                    self._judged[number] = self._failed(number, Status.TIMEOUT, STOPPED)
                    continue
                is_last = position == len(waiting) - 1
                limit = self._context.budget.baseline_seconds(until, self._estimates[number], is_last=is_last)
                self._context.callbacks.phase(
                    f"baselines: {self._requested[number].configuration}", position / len(waiting)
                )
                self._judged[number] = self._train(number, limit, position / len(waiting))
        finally:
            self._context.worker.stop()

    @property
    def entrants(self) -> tuple[Entrant, ...]:
        """All contenders with their scores, or with the reason why there are none."""
        return tuple(self._judged.get(i, entrant) for i, entrant in enumerate(self._requested))

    def _had_no_time(self, number: int) -> bool:
        judged = self._judged.get(number)
        return judged is None or judged.status is Status.TIMEOUT

    def _train(self, number: int, limit: float, start: float) -> Entrant:
        entrant, context = self._requested[number], self._context
        needs = self._needs[number]
        if limit <= needs and number in self._judged:
            return self._judged[number]
        if limit <= max(needs, _LEAST_SECONDS):
            left = f"there were {numbers.seconds(limit)} for it; raise --timeout."
            reason = (
                f"It would take about {numbers.seconds(needs)}, and {left}"
                if needs > limit
                else f"There was no time: {left}"
            )
            return self._failed(number, Status.TIMEOUT, reason)
        name = f"baselines: {entrant.configuration}"
        progress = partial(context.callbacks.phase, name)
        try:
            trained = context.worker.train(
                entrant.configuration,
                context.n_threads,
                Limits(limit, context.memory_bytes),
                Deadline(stop=context.deadline.stop),
                lambda share: progress(start + share / len(self._requested)),
            )
        except StoppedError:
            return self._failed(number, Status.TIMEOUT, STOPPED)
        except JobFailedError as error:
            if error.status is Status.TIMEOUT:
                self._needs[number] = 2 * limit
                reason = f"It did not end within {numbers.seconds(limit)}; raise --timeout."
                return self._failed(number, Status.TIMEOUT, reason)
            return self._failed(number, error.status, str(error))
        is_cut = trained.is_late and entrant.configuration.as_trained(trained.chosen) != entrant.configuration
        return replace(
            entrant,
            scores=trained.scores,
            seconds=trained.seconds,
            chosen=trained.chosen,
            reason=FEWER_MEMBERS if is_cut else "",
        )

    def _failed(self, number: int, status: Status, reason: str) -> Entrant:
        return replace(self._requested[number], status=status, reason=reason)


def _estimate(entrant: Entrant, trials: Sequence[Trial], folds: Sequence[InnerFold], n_rows: int) -> float:
    """Return about how long a contender takes; infinity for a method that the search did not try."""
    of_method = [trial for trial in trials if trial.configuration.method.name == entrant.method]
    alike = [trial for trial in of_method if str(trial.configuration) == str(entrant.configuration)]
    seconds = full_seconds(alike or of_method, folds, n_rows)
    return float("inf") if seconds is None else seconds

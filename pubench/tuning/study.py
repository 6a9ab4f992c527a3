"""The study: asks for configurations, has them judged, tells what came out; can be killed at any moment and go on later."""

import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pubench.saving.configuration import Configuration
from pubench.seeds import Seed
from pubench.tuning.inner import InnerFold
from pubench.tuning.judging import aul_of
from pubench.tuning.racing import Race
from pubench.tuning.search_space import SearchSpace
from pubench.tuning.storage import RESULT, at_work, give_up_stale, queue_again
from pubench.tuning.workers import Limits, StoppedError, TrialFailedError, Worker
from pubench.types import FloatVector, Status

if TYPE_CHECKING:
    import optuna
    from optuna.trial import FrozenTrial

#: The first trials are drawn at random, for the sampler to learn from.
_START_UP = 10
_INTERRUPTED: Mapping[str, Any] = {
    "status": Status.FAILED.value,
    "reason": "It was interrupted; its configuration was tried again.",
    "value": None,
    "seconds": 0.0,
    "last_fold": 0.0,
    "stopped_early": False,
    "placements": (),
}


@dataclass(frozen=True, eq=False)
class Trial:
    """A trial that has ended.

    Attributes:
        number: from 0, which is the default configuration.
        configuration: what was tried.
        params: what Optuna chose.
        status: how it ended.
        reason: why it is not OK; empty if it is.
        value: AUL_PU over all folds, estimated from those it saw if it was stopped early; None if it failed.
        placements: of the labelled rows, fold by fold.
        seconds: it took.
        last_fold: seconds of the last fold it saw, in which nothing was computed for the first time.
        stopped_early: it lost the race.
    """

    number: int
    configuration: Configuration
    params: Mapping[str, Any]
    status: Status
    reason: str = ""
    value: float | None = None
    placements: tuple[FloatVector, ...] = ()
    seconds: float = 0.0
    last_fold: float = 0.0
    stopped_early: bool = False

    @property
    def stderr(self) -> float:
        """The standard error of `value`, from the placements of the labelled rows."""
        placed = np.concatenate([*self.placements, np.empty(0)])
        return float(placed.std(ddof=1) / np.sqrt(len(placed))) if len(placed) > 1 else 0.0

    @property
    def is_complete(self) -> bool:
        """Whether all folds were seen."""
        return self.status is Status.OK and not self.stopped_early


@dataclass(frozen=True)
class Observer:
    """Whom a study tells what happens; each may be called from any of its threads, one at a time."""

    started: Callable[[int, Configuration], None] = lambda number, configuration: None  # noqa: ARG005
    progress: Callable[[int, float], None] = lambda number, share: None  # noqa: ARG005
    ended: Callable[[Trial], None] = lambda trial: None  # noqa: ARG005


@dataclass(frozen=True)
class Budget:
    """When a search ends: after so many trials, those of earlier runs included, or at a time of `time.monotonic`."""

    trials: int | None = None
    until: float = float("inf")
    limits: Limits = field(default_factory=Limits)


class Study:
    """Trials in one storage, over one space and one set of folds.

    Args:
        study: Optuna's, which maximises.
        space: of the configurations.
        folds: on which they are compared.
        seed: of the study.
        drawer: the name of this process where others work on the same study; each draws for itself, or those that
            ask at the same moment would draw the same.
    """

    def __init__(
        self,
        study: "optuna.Study",
        space: SearchSpace,
        folds: tuple[InnerFold, ...],
        seed: Seed,
        drawer: str = "",
    ) -> None:
        self._study = study
        self._space = space
        self._folds = folds
        self._seed = seed.child("drawer", drawer) if drawer else seed
        self._lock = threading.Lock()
        if not self._study.get_trials(deepcopy=False):
            self._study.enqueue_trial(space.default(), skip_if_exists=True)

    def run(self, workers: Sequence[Worker], budget: Budget, race: Race, observer: Observer) -> None:
        """Search until the budget ends; an exception in a thread ends all and is raised here."""
        failures: list[BaseException] = []

        def work(worker: Worker) -> None:
            try:
                while not failures and self._one(worker, budget, race, observer):
                    pass
            except BaseException as error:  # noqa: BLE001 - raised again below, in the caller's thread
                failures.append(error)
            finally:
                worker.close()

        threads = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    def trials(self) -> list[Trial]:
        """Return the trials that have ended, by number."""
        return [
            self._ended(trial)
            for trial in self._study.get_trials(deepcopy=False)
            if trial.state.is_finished()
        ]

    def best(self) -> Trial | None:
        """Return the best trial that saw all folds; of equally good ones the first."""
        complete = [trial for trial in self.trials() if trial.is_complete]
        return max(complete, key=lambda trial: (trial.value or 0.0, -trial.number), default=None)

    def retry_interrupted(self) -> int:
        """Give up trials that nobody works on any more, queue their configurations again, and return how many they were.

        Only the process that owns the storage may call it.
        """
        from optuna.trial import TrialState  # noqa: PLC0415 - heavy imports happen when used

        running = self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
        lost = [trial for trial in running if RESULT not in trial.user_attrs]
        for trial in running:
            if trial in lost:
                self._study.tell(trial.number, state=TrialState.FAIL)
                queue_again(self._study, trial)
            else:  # judged, and killed just before it was told
                self._finish(trial.number, trial.user_attrs[RESULT])
        return len(lost)

    def _one(self, worker: Worker, budget: Budget, race: Race, observer: Observer) -> bool:
        """Run one trial, and return whether there may be more."""
        with self._lock:
            give_up_stale(self._study)
            if self._is_over(budget):
                return False
            asked = self._ask()
        with at_work(self._study, asked):
            with self._lock:
                configuration = self._space.suggest(asked)
                best = self.best()
                observer.started(asked.number, configuration)
            run = _Run(self._folds, race, () if best is None else best.placements)
            started = time.monotonic()
            try:
                run.complete = worker.judge(
                    configuration,
                    asked.number,
                    run.add,
                    budget.limits,
                    lambda share: observer.progress(asked.number, share),
                )
                status, reason = Status.OK, ""
            except TrialFailedError as error:
                status, reason = error.status, str(error)
            except StoppedError:
                with self._lock:
                    self._give_back(asked)
                return False
            with self._lock:
                self._tell(asked, run, status, reason, time.monotonic() - started)
        with self._lock:
            observer.ended(self._ended(self._study.get_trials(deepcopy=False)[asked.number]))
        return True

    def _is_over(self, budget: Budget) -> bool:
        stopped = budget.limits.stop is not None and budget.limits.stop.is_set()
        begun = [trial for trial in self._study.get_trials(deepcopy=False) if not _was_given_back(trial)]
        waiting = sum(trial.state.name == "WAITING" for trial in begun)
        enough = budget.trials is not None and len(begun) - waiting >= budget.trials
        return stopped or enough or time.monotonic() >= budget.until

    def _ask(self) -> "optuna.Trial":
        from optuna.exceptions import ExperimentalWarning  # noqa: PLC0415
        from optuna.samplers import TPESampler  # noqa: PLC0415

        # Anew for each trial: after a resume the start-up draws must not be repeated.
        number = len(self._study.get_trials(deepcopy=False))
        seed = self._seed.child("sampler", number).integer()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)  # `group`, which conditional spaces need
            warnings.filterwarnings("ignore", "Heartbeat of storage", UserWarning)  # `at_work` sees to it
            self._study.sampler = TPESampler(
                seed=seed, n_startup_trials=_START_UP, group=True, multivariate=True, constant_liar=True
            )
            return self._study.ask()

    def _give_back(self, asked: "optuna.Trial") -> None:
        from optuna.trial import TrialState  # noqa: PLC0415

        self._study.tell(asked, state=TrialState.FAIL)
        self._study.enqueue_trial(dict(asked.params) or self._space.default())

    def _tell(self, asked: "optuna.Trial", run: "_Run", status: Status, reason: str, seconds: float) -> None:
        from optuna.exceptions import UpdateFinishedTrialError  # noqa: PLC0415

        result = {
            "status": status.value,
            "reason": reason,
            "value": run.value if status is Status.OK else None,
            "seconds": round(seconds, 3),
            "last_fold": round(run.last_fold, 3),
            "stopped_early": status is Status.OK and not run.complete,
            "placements": [[round(float(placed), 7) for placed in fold] for fold in run.placements],
        }
        with suppress(UpdateFinishedTrialError):  # given up by others, who heard nothing for long
            # One write that holds everything, and only then the end of the trial: a kill in between loses nothing.
            asked.set_user_attr(RESULT, result)
            self._finish(asked.number, result)

    def _finish(self, number: int, result: Mapping[str, Any]) -> None:
        from optuna.trial import TrialState  # noqa: PLC0415

        if result["value"] is None:
            self._study.tell(number, state=TrialState.FAIL)
        else:
            self._study.tell(number, result["value"])

    def _ended(self, trial: "FrozenTrial") -> Trial:
        result = trial.user_attrs.get(RESULT, _INTERRUPTED)
        return Trial(
            number=trial.number,
            configuration=self._space.configuration(trial.params),
            params=dict(trial.params),
            status=Status(result["status"]),
            reason=result["reason"],
            value=result["value"],
            placements=tuple(np.array(fold) for fold in result["placements"]),
            seconds=float(result["seconds"]),
            last_fold=float(result["last_fold"]),
            stopped_early=bool(result["stopped_early"]),
        )


def _was_given_back(trial: "FrozenTrial") -> bool:
    """Whether a trial ended without being judged: it is queued again, and does not count."""
    return trial.state.name == "FAIL" and RESULT not in trial.user_attrs


class _Run:
    """A trial while it is judged."""

    def __init__(self, folds: tuple[InnerFold, ...], race: Race, best: tuple[FloatVector, ...]) -> None:
        self._folds, self._race, self._best = folds, race, best
        self.placements: list[FloatVector] = []
        self.complete = False
        self.last_fold = 0.0
        self._since = time.monotonic()

    def add(self, fold: int, placements: FloatVector) -> bool:  # noqa: ARG002 - folds come in order
        """Take a fold's placements, and return whether to go on."""
        self.placements.append(placements)
        self.last_fold, self._since = time.monotonic() - self._since, time.monotonic()
        is_last = len(self.placements) == len(self._folds)
        return is_last or not self._race.is_lost(self.placements, self._best)

    @property
    def value(self) -> float:
        """Mean AUL_PU over folds; those not seen are taken from the best trial, less what this one is behind it."""
        own = [aul_of(p, fold) for p, fold in zip(self.placements, self._folds, strict=False)]
        if len(own) == len(self._folds) or not self._best:
            return float(np.mean(own))
        best = [aul_of(p, fold) for p, fold in zip(self._best, self._folds, strict=False)]
        return float(np.mean(best) + np.mean(own) - np.mean(best[: len(own)]))

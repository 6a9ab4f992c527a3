"""The study: suggests configurations, has workers judge them, and records the results.

It can be killed at any moment and continue later: a result is stored in one write before its trial ends, and trials that
were interrupted are queued again.
"""

import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from pubench.configuration.configuration import KINDS
from pubench.crossfit.cross_fit import mean_aul
from pubench.crossfit.folds import InnerFold
from pubench.seeds import Seed
from pubench.tuning.budget import SearchBudget
from pubench.tuning.portfolio import first_trials
from pubench.tuning.pruning import PlacementPruner
from pubench.tuning.space import SearchSpace
from pubench.tuning.study_storage import RESULT, earlier_trials, fail_stale_trials, heartbeat, queue_again
from pubench.tuning.trial import Trial, TuneCallbacks
from pubench.tuning.trial_worker import TrialWorker
from pubench.types import FloatVector, Status
from pubench.workers.watch import JobFailedError
from pubench.workers.worker import StoppedError

if TYPE_CHECKING:
    import optuna
    from optuna.trial import FrozenTrial

#: The first trials are drawn at random, for the sampler to learn from.
_N_STARTUP_TRIALS = 10
#: A suggestion that is known is drawn again, at random, this number of times in all.
_MAX_DRAWS = 10
#: The attribute of a trial that repeats an earlier one; it is not judged.
_REPEATED = "repeated"
_NO_PRUNER = PlacementPruner(p_threshold=0.0)
#: Seconds until it is seen again whether the trials of other machines have ended.
_WAIT_SECONDS = 1.0
_INTERRUPTED: Mapping[str, Any] = {
    "status": Status.FAILED.value,
    "reason": "It was interrupted; its configuration was tried again.",
    "value": None,
    "seconds": 0.0,
    "last_fold": 0.0,
    "stopped_early": False,
    "placements": (),
}


class Study:
    """Trials in one storage, over one search space and one set of folds.

    Args:
        study: Optuna's, which maximises.
        space: of the configurations.
        folds: on which configurations are compared.
        seed: of the study.
        pruner: stops bad trials early.
        process: the name of this process if several work on the same study; each samples with a seed of its own, or
            those that sample at the same moment would draw the same configuration.
    """

    def __init__(
        self,
        study: "optuna.Study",
        space: SearchSpace,
        folds: tuple[InnerFold, ...],
        seed: Seed,
        pruner: PlacementPruner,
        process: str = "",
    ) -> None:
        self._study = study
        self._space = space
        self._folds = folds
        self._pruner = pruner
        self._seed = seed.child("drawer", process) if process else seed
        self._lock = threading.Lock()
        self._running: set[int] = set()
        self.n_earlier = self.n_taken_over = 0
        if not self._study.get_trials(deepcopy=False):
            earlier = earlier_trials(self._study)
            self.n_earlier, self.n_taken_over = len(earlier), self._take_over(earlier)
            for params in first_trials(space):
                self._study.enqueue_trial(params, skip_if_exists=True)

    def _take_over(self, earlier: "Sequence[FrozenTrial]") -> int:
        """Add the trials of an earlier space that fit this one, so that no configuration is judged twice; return their number."""
        from optuna.trial import create_trial  # noqa: PLC0415 - heavy imports happen when used

        added = 0
        for trial in earlier:
            result = trial.user_attrs[RESULT]
            is_whole = len(result["placements"]) == len(self._folds) and not result["stopped_early"]
            distributions = self._space.distributions(trial.params)
            if not is_whole or distributions is None:
                continue
            self._study.add_trial(
                create_trial(
                    value=trial.value,
                    params=trial.params,
                    distributions=distributions,
                    user_attrs={RESULT: result},
                )
            )
            added += 1
        return added

    def run(
        self,
        workers: Sequence[TrialWorker],
        budget: SearchBudget,
        callbacks: TuneCallbacks,
        *,
        keep_workers: bool = False,
    ) -> None:
        """Run trials until the budget is used up, with a thread per worker; raise the first exception of a thread.

        Workers are stopped, unless another run follows: what they have computed once is lost with them.
        """
        failures: list[BaseException] = []

        def work(worker: TrialWorker) -> None:
            try:
                while not failures and self._run_trial(worker, budget, callbacks):
                    pass
            except BaseException as error:  # noqa: BLE001 - raised again below, in the caller's thread
                failures.append(error)
            finally:
                if failures or not keep_workers:
                    worker.stop()

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
            if trial.state.is_finished() and _REPEATED not in trial.user_attrs
        ]

    def best(self) -> Trial | None:
        """Return the best trial that saw all folds; among equally good ones the first."""
        complete = [trial for trial in self.trials() if trial.is_complete]
        return max(complete, key=lambda trial: (trial.value or 0.0, -trial.number), default=None)

    def retry_interrupted(self) -> int:
        """Fail the trials that no process works on, queue their configurations again, and return their number.

        Only the process that has locked the storage may call it.
        """
        from optuna.trial import TrialState  # noqa: PLC0415 - heavy imports happen when used

        running = self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
        lost = [trial for trial in running if RESULT not in trial.user_attrs]
        for trial in running:
            if trial in lost:
                self._study.tell(trial.number, state=TrialState.FAIL)
                queue_again(self._study, trial)
            else:  # its result was stored, and the process was killed before the trial ended
                self._end(trial.number, trial.user_attrs[RESULT])
        return len(lost)

    def _run_trial(self, worker: TrialWorker, budget: SearchBudget, callbacks: TuneCallbacks) -> bool:
        """Run one trial, and return whether the search continues."""
        with self._lock:
            fail_stale_trials(self._study)
            begun = self._begun_trials()
            if self._is_over(begun, budget):
                return False
            is_full = budget.trials is not None and len(begun) >= budget.trials
            suggested = None if is_full else self._suggest_new()
            if suggested is not None:
                self._running.add(suggested.number)
        if suggested is None:
            if is_full:  # by trials of other machines, which may be gone
                time.sleep(_WAIT_SECONDS)
            return is_full
        try:
            with heartbeat(self._study, suggested):
                is_judged = self._judge(suggested, worker, budget, callbacks)
        finally:
            self._running.discard(suggested.number)
        if is_judged:
            with self._lock:
                callbacks.trial_ended(self._ended(self._study.get_trials(deepcopy=False)[suggested.number]))
        return is_judged

    def _judge(
        self,
        suggested: "optuna.Trial",
        worker: TrialWorker,
        budget: SearchBudget,
        callbacks: TuneCallbacks,
    ) -> bool:
        """Have a trial judged and record its result; return False if the search was stopped meanwhile."""
        number = suggested.number
        with self._lock:
            configuration = self._space.suggest(suggested)
            best = self.best()
            callbacks.trial_started(number, configuration)
        pruner = _NO_PRUNER if suggested.params == self._space.default() else self._pruner
        running = RunningTrial(self._folds, pruner, () if best is None else best.placements)
        started, complete, status, reason = time.monotonic(), False, Status.OK, ""
        try:
            complete = worker.judge(
                configuration,
                number,
                running.add,
                budget.limits,
                budget.deadline,
                lambda share: callbacks.trial_progress(number, share),
            )
        except JobFailedError as error:
            status, reason = error.status, str(error)
        except StoppedError:
            with self._lock:
                self._give_back(suggested)
            return False
        seconds = time.monotonic() - started
        with self._lock:
            self._record(suggested, running.result(status, reason, seconds, complete=complete))
        return True

    def _begun_trials(self) -> "list[FrozenTrial]":
        """Return the trials that count: those that run or have ended, and were not given back."""
        return [
            trial
            for trial in self._study.get_trials(deepcopy=False)
            if trial.state.name != "WAITING" and not _was_given_back(trial)
        ]

    def _is_over(self, begun: "Sequence[FrozenTrial]", budget: SearchBudget) -> bool:
        """Whether no trial is to begin any more: a trial that another machine began only counts when it has ended."""
        sure = sum(trial.state.is_finished() or trial.number in self._running for trial in begun)
        return budget.deadline.has_passed or (budget.trials is not None and sure >= budget.trials)

    def _suggest_new(self) -> "optuna.Trial | None":
        """Return a trial whose configuration no other trial has; None if ten suggestions in a row were known.

        The sampler comes back to what it likes, and methods without parameters are soon exhausted: a configuration that is
        judged again gives the same scores. Plugins of which no trial was in time are not tried again, either: a similarity
        of a million rows would use up the search.
        """
        from optuna.trial import TrialState  # noqa: PLC0415 - heavy imports happen when used

        begun = self._begun_trials()
        known, slow = [trial.params for trial in begun], _slow_plugins(begun)
        for draw in range(_MAX_DRAWS):
            suggested = self._suggest(at_random=draw > 0)
            self._space.suggest(suggested)
            if suggested.params not in known and slow.isdisjoint(_plugins_of(suggested.params)):
                return suggested
            suggested.set_user_attr(_REPEATED, value=True)
            self._study.tell(suggested, state=TrialState.FAIL)
        return None

    def _suggest(self, *, at_random: bool) -> "optuna.Trial":
        from optuna.exceptions import ExperimentalWarning  # noqa: PLC0415
        from optuna.samplers import RandomSampler, TPESampler  # noqa: PLC0415

        # A new sampler for each trial: after a resume the draws of the first trials must not be repeated.
        number = len(self._study.get_trials(deepcopy=False))
        seed = self._seed.child("sampler", number).integer()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)  # `group`, which conditional spaces need
            warnings.filterwarnings("ignore", "Heartbeat of storage", UserWarning)  # see `storage.heartbeat`
            tpe = TPESampler(
                seed=seed,
                n_startup_trials=_N_STARTUP_TRIALS,
                group=True,
                multivariate=True,
                constant_liar=True,
            )
            self._study.sampler = RandomSampler(seed) if at_random else tpe
            return self._study.ask()

    def _give_back(self, suggested: "optuna.Trial") -> None:
        """Fail a trial that was not judged, and queue its configuration again."""
        from optuna.trial import TrialState  # noqa: PLC0415

        self._study.tell(suggested, state=TrialState.FAIL)
        self._study.enqueue_trial(dict(suggested.params) or self._space.default())

    def _record(self, suggested: "optuna.Trial", result: Mapping[str, Any]) -> None:
        from optuna.exceptions import UpdateFinishedTrialError  # noqa: PLC0415

        with suppress(UpdateFinishedTrialError):  # another process failed it, since it got no heartbeat
            # One write stores everything, and the trial ends only then: a kill in between loses nothing.
            suggested.set_user_attr(RESULT, result)
            self._end(suggested.number, result)

    def _end(self, number: int, result: Mapping[str, Any]) -> None:
        from optuna.trial import TrialState  # noqa: PLC0415

        if result["value"] is None:
            # Optuna's sampler forgets trials that failed, and would suggest the like again; pruned ones it keeps away from.
            self._study.tell(number, state=TrialState.PRUNED)
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


class RunningTrial:
    """A trial while it is judged: collects the placements fold by fold and asks the pruner after each.

    Args:
        folds: on which it is judged.
        pruner: may stop it.
        best: placements of the best trial so far, fold by fold; empty without one.
    """

    def __init__(
        self, folds: tuple[InnerFold, ...], pruner: PlacementPruner, best: tuple[FloatVector, ...]
    ) -> None:
        self._folds, self._pruner, self._best = folds, pruner, best
        self.placements: list[FloatVector] = []
        self.last_fold = 0.0
        self._fold_started = time.monotonic()

    def add(self, fold: int, placements: FloatVector) -> bool:  # noqa: ARG002 - folds come in order
        """Record the placements on the next fold; return whether the trial continues."""
        self.placements.append(placements)
        now = time.monotonic()
        self.last_fold, self._fold_started = now - self._fold_started, now
        is_last = len(self.placements) == len(self._folds)
        return is_last or not self._pruner.should_prune(self.placements, self._best)

    @property
    def value(self) -> float:
        """Mean AUL_PU over all folds.

        Folds that were not seen get the value of the best trial, minus the difference on the folds that were seen.
        """
        count, own = len(self.placements), mean_aul(self.placements, self._folds)
        if count == len(self._folds) or not self._best:
            return own
        return mean_aul(self._best, self._folds) + own - mean_aul(self._best[:count], self._folds)

    def result(self, status: Status, reason: str, seconds: float, *, complete: bool) -> dict[str, Any]:
        """Return all that is stored of the trial after it ended; plain JSON."""
        is_ok = status is Status.OK
        return {
            "status": status.value,
            "reason": reason,
            "value": self.value if is_ok else None,
            "seconds": round(seconds, 3),
            "last_fold": round(self.last_fold, 3),
            "stopped_early": is_ok and not complete,
            "placements": [[round(float(placed), 7) for placed in fold] for fold in self.placements],
        }


def _plugins_of(params: Mapping[str, Any]) -> set[tuple[str, Any]]:
    """Return the kinds and names of the plugins of a trial, as far as the search chose them."""
    return {(kind, params[kind]) for kind in KINDS if kind in params}


def _slow_plugins(trials: "Sequence[FrozenTrial]") -> set[tuple[str, Any]]:
    """Return the plugins of trials that were too slow, without those that were in time in another trial."""
    ended = [(trial.user_attrs[RESULT]["status"], trial) for trial in trials if RESULT in trial.user_attrs]
    in_time = [_plugins_of(trial.params) for status, trial in ended if status != Status.TIMEOUT]
    slow = [_plugins_of(trial.params) for status, trial in ended if status == Status.TIMEOUT]
    return set().union(*slow) - set().union(*in_time)


def _was_given_back(trial: "FrozenTrial") -> bool:
    """Whether a trial ended without being judged: its configuration is queued again, and it does not count."""
    return trial.state.name == "FAIL" and RESULT not in trial.user_attrs

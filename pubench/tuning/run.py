"""A tuning run over rows in memory; everything it learns from is PU labels.

    all rows -> holdout | rows of the search -> folds -> search -> choice: a blend of trials, or one
             -> baselines, final models -> judged on the holdout -> the chosen model again, on all rows: it is shipped

`TuningRun.tune` goes through these steps in order; `pubench.tuning.budget` divides the time among them.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from pubench.api.plugin import DataSize
from pubench.configuration.configuration import Blend, Configuration
from pubench.crossfit.fold_cache import FoldCache
from pubench.crossfit.folds import InnerFold, inner_folds
from pubench.data.splits import holdout
from pubench.ensemble.blend import HeldOut
from pubench.seeds import Seed
from pubench.tuning.baselines import BaselineContext, Baselines, requested_baselines
from pubench.tuning.budget import PART_PER_DRAFT, SearchBudget, TimeBudget
from pubench.tuning.final_models import (
    DEFAULT,
    TUNED,
    Contender,
    FinalModels,
    HoldoutResult,
    ShippedModel,
    ship,
)
from pubench.tuning.model_choice import ModelChoice, OutOfFoldScores, choose_model
from pubench.tuning.model_costs import CostEstimate, ModelCosts
from pubench.tuning.pruning import PlacementPruner
from pubench.tuning.request import SearchRequest
from pubench.tuning.result import TuneResult
from pubench.tuning.run_folder import RunFolder
from pubench.tuning.space import SearchSpace
from pubench.tuning.standings import FEWER_MEMBERS, Entrant, Role
from pubench.tuning.study import Study
from pubench.tuning.study_storage import open_study, this_process
from pubench.tuning.trial import Trial, TuneCallbacks
from pubench.tuning.trial_worker import TrialContext, TrialWorker, WorkerTarget
from pubench.types import IndexVector, PUData, Resources, Split, Status
from pubench.workers.limits import Deadline, Limits
from pubench.workers.watch import JobFailedError


@dataclass(frozen=True)
class TuneContext:
    """What a run works with.

    Attributes:
        folder: of the run; its folder `work` is created if there is none.
        worker: what runs in the processes that judge trials; it finds the plugins there.
        resources: for the final models; workers share its threads.
        budget: the time.
        plugin_files: single-file plugins that workers load.
        callbacks: progress.
        stop: a person sets it to end the search and continue with its trials so far.
    """

    folder: RunFolder
    worker: WorkerTarget
    resources: Resources
    budget: TimeBudget = field(default_factory=TimeBudget)
    plugin_files: tuple[str, ...] = ()
    callbacks: TuneCallbacks = field(default_factory=TuneCallbacks)
    stop: threading.Event | None = None


@dataclass(frozen=True, eq=False)
class SearchData:
    """The rows of the search.

    Attributes:
        data: the rows, without the holdout.
        folds: of these rows.
    """

    data: PUData
    folds: tuple[InnerFold, ...]


class TuningRun:
    """A run in a folder; the same request in the same folder continues where it was.

    Args:
        data: all rows, and which are labelled.
        space: the configurations to search.
        request: how to search.
        context: what to work with.
    """

    def __init__(
        self, data: PUData, space: SearchSpace, request: SearchRequest, context: TuneContext
    ) -> None:
        self._data, self._space, self._request = data, space.suited_to(DataSize.of(data)), request
        self._context, self._budget, self._callbacks = context, context.budget, context.callbacks
        self._pruner = PlacementPruner() if request.racing else PlacementPruner(p_threshold=0.0)
        self._work = context.folder.work
        self._workers = [
            TrialWorker(context.worker, self._work, context.plugin_files, number)
            for number in range(request.workers)
        ]
        self._seed = Seed(request.seed).child("study")
        self._memory_bytes = request.memory_bytes or float("inf")
        self._timeline: dict[str, float] = {}
        self._notices: tuple[str, ...] = ()

    def tune(self) -> TuneResult:
        """Search, choose, train and judge.

        Raises:
            JobFailedError: no trial succeeded.
        """
        split = holdout(self._data.s, self._request.holdout, Seed(self._request.seed))
        inner = self._data.take(split.train)
        test = self._data.take(split.test)
        rows = SearchData(inner, inner_folds(inner.s, self._request.plan, self._seed))
        self._write_context(rows, test)
        self._done("data")

        trials = self._search(rows)
        self._done("search")

        best = _best(trials)
        scores = OutOfFoldScores(self._work, rows.folds, rows.data.s)
        shipped_rows = self._data if self._request.refit else rows.data
        estimate = CostEstimate(trials, rows.folds, rows.data, shipped_rows, self._request.refit)
        choice = self._choose(trials, scores, estimate)
        self._done("choice")

        tuned, default = self._tuned_configuration(choice, trials), self._default(trials)
        baselines = self._baselines(tuned, default, trials, rows)
        baselines.train(self._budget.baselines_deadline)
        self._done("baselines")

        costs = self._costs(choice, trials, estimate)
        share = costs.trainable_share(self._budget.left_in_need)
        costs = costs.on_share(share)
        trained_on = rows if share == 1 else SearchData(rows.data.take(self._reduced(rows.data, share)), ())
        twin = self._knowing(tuned, choice, trials, scores, trained_on.data.X.n_rows)
        judged = self._train_final_models(twin, default, trained_on, test, costs)
        self._done("final models")

        shipped = self._ship(judged.contenders[TUNED], tuned, split, share, costs)
        self._done("refit")

        if self._budget.seconds is not None:
            baselines.train(self._budget.deadline)
            self._done("more baselines")

        return TuneResult(
            out=self._context.folder.path,
            data=self._data,
            split=split,
            folds=rows.folds,
            trials=tuple(trials),
            best=best,
            choice=choice,
            holdout=judged,
            shipped=shipped,
            model=_model_entrant(judged, tuned, default),
            others=(*_default_entrant(judged, default), *baselines.entrants),
            timeline=self._timeline,
            space=self._space.key,
            notices=self._notices,
        )

    def _done(self, phase: str) -> None:
        self._timeline[phase] = self._budget.elapsed

    # Folds: workers get the rows and make the same folds.

    def _write_context(self, rows: SearchData, test: PUData) -> None:
        self._work.mkdir(parents=True, exist_ok=True)
        resources = self._context.resources
        n_threads = max(1, resources.n_threads // self._request.workers)
        context = TrialContext(rows.data, self._request.plan, self._request.seed, n_threads, resources.device)
        context.write(self._work, test.X if self._request.baselines else None)

    # Search: trials in a study of this process, or in one that machines share.

    def _search(self, rows: SearchData) -> list[Trial]:
        is_shared = self._request.storage is not None
        with open_study(self._request.storage, self._work, rows.data, self._space.key) as optuna_study:
            process = this_process() if is_shared else ""
            study = Study(optuna_study, self._space, rows.folds, self._seed, self._pruner, process)
            if not is_shared:
                study.retry_interrupted()
            if study.n_earlier:
                fate = "none of its trials fits any more, so the search begins anew"
                if study.n_taken_over:
                    fate = f"{study.n_taken_over:,} of its {study.n_earlier:,} trials still fit and were taken over"
                self._notices = (f"The search space has changed since this run began: {fate}.",)
            if found := study.trials():
                self._callbacks.resumed(found)
            return self._run_trials(study, rows)

    def _run_trials(self, study: Study, rows: SearchData) -> list[Trial]:
        """Run a cheap trial and the default by themselves, because they tell how much time final models need; then the others.

        The cheap one is judged to its end, however short the time is: a search never ends without an answer.
        """
        unlimited = Limits(memory_bytes=self._memory_bytes)
        deadlines = (float("inf"), self._budget.first_deadline)
        for number, until in enumerate(deadlines[: self._request.trials], 1):
            first = SearchBudget(number, Deadline(until, self._context.stop), unlimited)
            study.run(self._workers[:1], first, self._callbacks, keep_workers=True)
        self._timeline.setdefault("first trial", self._budget.elapsed)
        deadline = self._search_deadline(study.trials(), rows)
        self._callbacks.search_until(deadline.until)
        limits = Limits(
            seconds=self._budget.trial_seconds(deadline.until),
            memory_bytes=self._memory_bytes,
        )
        budget = SearchBudget(self._request.trials, deadline, limits)
        study.run(self._workers, budget, self._callbacks)
        return study.trials()

    def _search_deadline(self, trials: Sequence[Trial], rows: SearchData) -> Deadline:
        until = self._budget.search_deadline(trials, rows.folds, rows.data.X.n_rows)
        return Deadline(until, self._context.stop)

    # Choice: the out-of-fold scores of the trials weigh them; time decides how many of them a blend may have.

    def _choose(
        self, trials: Sequence[Trial], scores: OutOfFoldScores, estimate: CostEstimate
    ) -> ModelChoice:
        def afford(numbers: Sequence[int]) -> list[int]:
            by_number = {trial.number: trial for trial in trials}
            costs = [estimate.part(by_number[number], PART_PER_DRAFT) for number in numbers]
            return [numbers[position] for position in self._budget.affordable(costs)]

        progress = partial(self._callbacks.phase, "choice")
        progress(0.0)
        seed, blend = self._seed.child("choice"), self._request.ensemble
        return choose_model(trials, scores, seed, blend=blend, afford=afford, progress=progress)

    def _tuned_configuration(self, choice: ModelChoice, trials: Sequence[Trial]) -> Configuration:
        """Return the configuration of the tuned model, in full: that of a single trial, or a blend of several."""
        params = {trial.number: trial.params for trial in trials}
        weighted = [
            (weight, self._space.configuration(params[number])) for number, weight in choice.weights.items()
        ]
        return Blend.divided(weighted) if len(weighted) > 1 else weighted[0][1]

    def _knowing(
        self,
        tuned: Configuration,
        choice: ModelChoice,
        trials: Sequence[Trial],
        scores: OutOfFoldScores,
        n_rows: int,
    ) -> Configuration:
        """Return the configuration of the twin: the parts of a blend are known from the search, if it is not shipped."""
        if not isinstance(tuned, Blend) or not self._request.refit:
            return tuned
        drafts = scores.drafts([trial for trial in trials if trial.number in choice.weights])
        first = scores.folds[0]
        seconds = {trial.number: first.seconds_for(n_rows, trial.last_fold) for trial in trials}
        return tuned.knowing([HeldOut(drafts[number], seconds[number]) for number in choice.weights])

    # Baselines: every method at its defaults and at its best trial, on all rows of the search, in a worker.

    def _baselines(
        self, tuned: Configuration, default: Configuration | None, trials: Sequence[Trial], rows: SearchData
    ) -> Baselines:
        context = BaselineContext(
            self._workers[0],
            self._budget,
            self._context.resources.n_threads,
            self._memory_bytes,
            Deadline(stop=self._context.stop),
            self._callbacks,
        )
        requested = requested_baselines(
            self._request.baselines, self._space, trials, (tuned, default), self._data
        )
        return Baselines(requested, context, trials, rows.folds, rows.data.X.n_rows)

    # Final models: the tuned one and the default, on all rows of the search, or as many as there is time for.

    def _reduced(self, data: PUData, share: float) -> IndexVector:
        """Return the positions of all labelled rows and of this share of the unlabeled ones, ascending."""
        others = np.flatnonzero(~data.s)
        kept = round(share * len(others))
        if kept == len(others):
            return np.arange(data.X.n_rows)
        generator = Seed(self._request.seed).child("trained on").generator()
        drawn = generator.choice(others, max(1, kept), replace=False, shuffle=False)
        return np.sort(np.concatenate([np.flatnonzero(data.s), drawn]))

    def _costs(self, choice: ModelChoice, trials: Sequence[Trial], estimate: CostEstimate) -> ModelCosts:
        parts = [trial for trial in trials if trial.number in choice.weights]
        default = [trial for trial in trials if self._is_default(trial)]
        return estimate.costs(parts, default[:1])

    def _train_final_models(
        self,
        tuned: Configuration,
        default: Configuration | None,
        rows: SearchData,
        test: PUData,
        costs: ModelCosts,
    ) -> HoldoutResult:
        finals = FinalModels(
            FoldCache(rows.data, rows.folds, self._seed, for_all=True),
            test,
            self._seed.child("final"),
            self._context.resources,
            self._budget,
            self._callbacks.phase,
            costs,
        )
        return finals.train(tuned, default)

    def _default(self, trials: Sequence[Trial]) -> Configuration | None:
        """Return the default configuration; None if its trial did not end well, such as for want of time."""
        was_judged = any(map(self._is_default, trials))
        return self._space.configuration(self._space.default()) if was_judged else None

    def _is_default(self, trial: Trial) -> bool:
        return trial.params == self._space.default() and trial.status is Status.OK

    def _ship(
        self, twin: Contender, tuned: Configuration, split: Split, share: float, costs: ModelCosts
    ) -> ShippedModel:
        """Train the tuned configuration on all rows, or this share of them; without a refit the twin is shipped."""
        progress = partial(self._callbacks.phase, "refit")
        progress(0.0)
        until = self._budget.model_deadline(needs=costs.shipped_needs, later=costs.after_shipped)
        resources = replace(self._context.resources, progress=progress, until=until)
        seed = Seed(self._request.seed)
        if self._request.refit:
            return ship(tuned, self._data, self._reduced(self._data, share), seed, resources)
        rows = split.train[self._reduced(self._data.take(split.train), share)]
        return ship(twin.configuration, self._data, rows, seed, resources, twin.fitted)


def _model_entrant(judged: HoldoutResult, tuned: Configuration, default: Configuration | None) -> Entrant:
    role = Role.DEFAULT if tuned == default else Role.BLEND if isinstance(tuned, Blend) else Role.TUNED
    return _entrant(role, judged.contenders[TUNED], tuned)


def _default_entrant(judged: HoldoutResult, default: Configuration | None) -> list[Entrant]:
    """Return the default as a contender, if its final model was trained and the model is another one."""
    contender = judged.contenders.get(DEFAULT)
    if contender is None or default is None or contender is judged.contenders[TUNED]:
        return []
    return [_entrant(Role.DEFAULT, contender, default)]


def _entrant(role: Role, contender: Contender, asked: Configuration) -> Entrant:
    reason = FEWER_MEMBERS if contender.is_cut else ""
    chosen = dict(contender.fitted.chosen)
    return Entrant(role, asked, contender.scores, contender.seconds, reason=reason, chosen=chosen)


def _best(trials: Sequence[Trial]) -> Trial:
    """Return the best trial that saw all folds.

    Raises:
        JobFailedError: there is none.
    """
    complete = [trial for trial in trials if trial.is_complete]
    if complete:
        return min(complete, key=lambda trial: (-(trial.value or 0.0), trial.number))
    judged = [trial for trial in trials if trial.seconds]
    reason = judged[0].reason if judged else "there was not enough time for one; raise --timeout."
    raise JobFailedError(judged[0].status if judged else Status.TIMEOUT, f"No trial succeeded: {reason}")

"""A whole tuning run: holdout, search, choice, final models; everything it learns from is PU labels.

all rows -> holdout | rows of the search -> folds -> study -> finalists -> best trial or default -> blend or not
         -> final models -> judged on the holdout
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from pubench.data.splits import holdout
from pubench.keeping import content_key
from pubench.saving.blend import Blend
from pubench.saving.configuration import Configuration
from pubench.seeds import Seed
from pubench.tuning.blends import Blending, find_blend
from pubench.tuning.caution import Caution, weigh
from pubench.tuning.finals import Finals
from pubench.tuning.inner import InnerFold, Plan, inner_folds
from pubench.tuning.judging import aul_of
from pubench.tuning.messages import Job, write_job
from pubench.tuning.out_of_fold import OutOfFold
from pubench.tuning.outcome import Outcome
from pubench.tuning.racing import Race
from pubench.tuning.search_space import SearchSpace
from pubench.tuning.sharing import Memory
from pubench.tuning.storage import own_study, shared_study, this_process
from pubench.tuning.study import Budget, Observer, Study, Trial
from pubench.tuning.workers import Limits, StoppedError, TrialFailedError, Worker
from pubench.types import FloatVector, PUData, Resources, Split, Status

#: So many of the best trials are judged again in full before one of them is chosen, and the default with them.
_FINALISTS = 3
#: A trial may take this share of the time that the search has, and at least so many seconds.
_TRIAL_SHARE = 0.1
_SHORTEST_TRIAL = 30.0
#: A configuration in full takes about so many times as long as its draft.
_DRAFTS = 10
#: Final models take so much of the time at most; a search that needs more must do with fewer trials.
_MOST_RESERVED = 0.45
#: Saving and the report have this share of the time.
_FOR_THE_REPORT = 0.03


@dataclass(frozen=True)
class Wishes:
    """What a person asks of a run.

    Attributes:
        trials: how many, those of earlier runs included; None: as many as the time allows.
        seconds: for everything, from `started`; None: no limit.
        started: on the clock of `time.monotonic`.
        plan: how configurations are compared.
        holdout: share of rows that the search never sees.
        race: when a trial is stopped early.
        workers: processes that judge trials side by side.
        memory_bytes: of each; None: no limit.
        seed: decides everything.
        storage: the address of a database that machines share; None: a journal in the run's folder.
        controls: what the tuned model is compared with, by name.
        ensemble: the final model may be a blend of trials; else it is the best one.
    """

    trials: int | None
    seconds: float | None
    started: float
    plan: Plan = field(default_factory=Plan)
    holdout: float = 0.25
    race: Race = field(default_factory=Race)
    workers: int = 1
    memory_bytes: int | None = None
    seed: int = 0
    storage: str | None = None
    controls: Mapping[str, Configuration] = field(default_factory=dict)
    ensemble: bool = False

    @property
    def until(self) -> float:
        """When all models must be done, and the report is begun."""
        return float("inf") if self.seconds is None else self.started + (1 - _FOR_THE_REPORT) * self.seconds


@dataclass(frozen=True, eq=False)
class Found:
    """What a run came to.

    Attributes:
        split: the rows of the search, and the holdout.
        folds: of the rows of the search.
        trials: all that ended.
        best: the one that was chosen, as a single trial; the default's where nothing is worth leaving it for.
        full: AUL_PU of the finalists when they were judged again in full, by trial number.
        outcome: the final models on the holdout.
        timeline: phase -> seconds since the start at which it ended.
        caution: whether the default was kept, and why.
        blending: whether the tuned model is a blend of trials instead, and why.
    """

    split: Split
    folds: tuple[InnerFold, ...]
    trials: tuple[Trial, ...]
    best: Trial
    full: Mapping[int, float]
    outcome: Outcome
    timeline: Mapping[str, float]
    caution: Caution = field(default_factory=Caution)
    blending: Blending = field(default_factory=Blending)

    @property
    def weights(self) -> Mapping[int, int]:
        """The trials that the tuned model is made of, by number, and their weights."""
        return self.blending.weights if self.blending.is_taken else {self.best.number: 1}

    @property
    def is_default(self) -> bool:
        """Whether the tuned model is the default one, because nothing is worth leaving it for."""
        return self.caution.keeps_default and not self.blending.is_taken

    @property
    def inner_value(self) -> float:
        """AUL_PU of what was chosen on the folds that chose it: optimistic, but for the default."""
        return self.blending.value if self.blending.is_taken else float(self.best.value or 0.0)


@dataclass(frozen=True)
class Watcher:
    """Whom a run tells what it does: the study's observer, and each phase by name with the share done."""

    observer: Observer = field(default_factory=Observer)
    phase: Callable[[str, float], None] = lambda name, share: None  # noqa: ARG005


@dataclass(frozen=True)
class Place:
    """Where a run works.

    Attributes:
        folder: for the job, the journal and what workers print; exists.
        command: starts a worker; the folder and the files are added to it.
        plugin_files: that it loads.
        limits: stop the search from outside.
    """

    folder: Path
    command: Sequence[str]
    limits: Limits = field(default_factory=Limits)
    plugin_files: tuple[str, ...] = ()


class Run:
    """A run in a folder; made again in the same folder with the same wishes, it goes on where it was.

    Args:
        data: all rows, and which are labelled.
        space: what to search.
        wishes: of the person.
        place: where.
        resources: for the final models.
        watcher: is told.
    """

    def __init__(
        self,
        data: PUData,
        space: SearchSpace,
        wishes: Wishes,
        place: Place,
        resources: Resources,
        watcher: Watcher,
    ) -> None:
        self._data, self._space, self._wishes, self._folder = data, space, wishes, place.folder
        self._resources, self._limits, self._watcher = resources, place.limits, watcher
        self._workers = [
            Worker(
                [*place.command, str(place.folder), *place.plugin_files],
                place.folder / f"worker-{number}.log",
            )
            for number in range(wishes.workers)
        ]
        self._seed = Seed(wishes.seed).child("study")
        self._timeline: dict[str, float] = {}

    def tune(self) -> Found:
        """Search, choose, train and judge."""
        split = holdout(self._data.s, self._wishes.holdout, Seed(self._wishes.seed))
        inner = self._data.take(split.train)
        folds = inner_folds(inner.s, self._wishes.plan, self._seed)
        threads = max(1, self._resources.n_threads // self._wishes.workers)
        write_job(
            Job(inner, self._wishes.plan, self._wishes.seed, threads, self._resources.device), self._folder
        )
        self._done("data")
        trials = self._search(folds, inner)
        self._done("search")
        best, full = self._choose(trials, folds, inner.X.n_rows)
        self._done("finalists")
        out_of_fold, default = OutOfFold(self._folder, folds, inner.s), self._default(trials)
        drafts = out_of_fold.drafts(trials)
        caution = weigh(drafts, default, out_of_fold)
        if caution.keeps_default and default is not None:
            best = default
        blending = self._blend(drafts, full, caution, best, out_of_fold)
        tuned = self._configuration(trials, blending, best)
        outcome = self._final(tuned, inner, folds, self._data.take(split.test))
        self._done("final models")
        return Found(split, folds, tuple(trials), best, full, outcome, self._timeline, caution, blending)

    def _done(self, phase: str) -> None:
        self._timeline[phase] = time.monotonic() - self._wishes.started

    def _search(self, folds: tuple[InnerFold, ...], inner: PUData) -> list[Trial]:
        url = self._wishes.storage
        if url is not None:
            with shared_study(url, study_name(inner)) as shared:
                return self._run(Study(shared, self._space, folds, self._seed, this_process()), folds, inner)
        with own_study(self._folder) as own:
            study = Study(own, self._space, folds, self._seed)
            study.retry_interrupted()
            return self._run(study, folds, inner)

    def _run(self, study: Study, folds: tuple[InnerFold, ...], inner: PUData) -> list[Trial]:
        """Run the first trial by itself, because it tells how much time final models need; then the others."""
        wishes = self._wishes
        first = Budget(trials=1, until=wishes.until, limits=replace(self._limits, until=wishes.until))
        study.run(self._workers[:1], first, wishes.race, self._watcher.observer)
        self._timeline.setdefault("first trial", time.monotonic() - wishes.started)
        until = wishes.until - self._reserve(study.trials(), folds, inner.X.n_rows)
        limits = replace(
            self._limits,
            until=until,
            # No single trial may eat the search up.
            trial_seconds=max(_SHORTEST_TRIAL, _TRIAL_SHARE * (until - time.monotonic())),
            memory_bytes=wishes.memory_bytes or float("inf"),
        )
        study.run(self._workers, Budget(wishes.trials, until, limits), wishes.race, self._watcher.observer)
        return study.trials()

    def _reserve(self, trials: Sequence[Trial], folds: tuple[InnerFold, ...], rows: int) -> float:
        """Return how many seconds the final models will need, as the first trial suggests.

        What it did once, relating and preparing the rows of its folds, is done once more for all rows; then come two
        models in full.
        """
        seconds = self._wishes.seconds
        if seconds is None or not trials:
            return 0.0
        first, larger = trials[0], rows / max(1, len(folds[0].sample))
        once = max(0.0, first.seconds - len(folds) * first.last_fold)
        needed = once * larger / len(folds) + 2 * _DRAFTS * larger * first.last_fold
        return min(needed, _MOST_RESERVED * seconds)

    def _choose(
        self, trials: Sequence[Trial], folds: tuple[InnerFold, ...], rows: int
    ) -> tuple[Trial, dict[int, float]]:
        """Judge the best few and the default again in full, as long as there is time, and return the best of them."""
        ranked = sorted((t for t in trials if t.is_complete), key=lambda t: (-(t.value or 0.0), t.number))
        if not ranked:
            judged = [trial for trial in trials if trial.seconds]
            reason = judged[0].reason if judged else "the time was too short for one; raise --timeout."
            raise TrialFailedError(
                judged[0].status if judged else Status.TIMEOUT, f"No trial succeeded: {reason}"
            )
        full: dict[int, float] = {}
        limits = replace(self._limits, until=self._wishes.until - self._reserve(trials, folds, rows))
        default = self._default(ranked[_FINALISTS:])
        for trial in [*ranked[:_FINALISTS], *([default] if default else [])]:
            placements: list[FloatVector] = []

            def note(fold: int, placed: FloatVector, seen: list[FloatVector] = placements) -> bool:  # noqa: ARG001
                seen.append(placed)
                return True

            try:
                self._workers[0].judge(
                    self._space.configuration(trial.params), -1 - trial.number, note, limits, self._finalist
                )
            except (StoppedError, TrialFailedError):
                break
            full[trial.number] = float(
                np.mean([aul_of(p, f) for p, f in zip(placements, folds, strict=True)])
            )
        self._workers[0].close()
        best = max(full, key=lambda number: full[number]) if full else ranked[0].number
        return next(trial for trial in ranked if trial.number == best), full

    def _finalist(self, share: float) -> None:
        self._watcher.phase("finalists", share)

    def _default(self, trials: Sequence[Trial]) -> Trial | None:
        """Return the trial of the default configuration, if it saw all folds."""
        default = self._space.default()
        return next((trial for trial in trials if trial.is_complete and trial.params == default), None)

    def _blend(
        self,
        drafts: Mapping[int, FloatVector],
        full: Mapping[int, float],
        caution: Caution,
        best: Trial,
        out_of_fold: OutOfFold,
    ) -> Blending:
        """Look for a blend of the trials, if one is wanted."""
        instead = "the default configuration" if caution.keeps_default else Blending.instead
        if not self._wishes.ensemble:
            return Blending(unasked="blending is switched off", instead=instead)

        def progress(share: float) -> None:
            self._watcher.phase("blend", share)

        progress(0.0)
        rivals = [best.number] if caution.keeps_default else sorted(full)
        blending = find_blend(drafts, rivals, out_of_fold, instead, progress)
        self._done("blend")
        return blending

    def _configuration(self, trials: Sequence[Trial], blending: Blending, best: Trial) -> Configuration:
        """Return what the tuned model is, in full: the best trial's configuration, or a blend of several."""
        if not blending.is_taken:
            return self._space.configuration(best.params)
        params = {trial.number: trial.params for trial in trials}
        return Blend.divided(
            [
                (weight, self._space.configuration(params[number]))
                for number, weight in blending.weights.items()
            ]
        )

    def _final(
        self, tuned: Configuration, inner: PUData, folds: tuple[InnerFold, ...], test: PUData
    ) -> Outcome:
        """Train the tuned model, the default one and the controls on all rows of the search, and judge them."""
        finals = Finals(
            Memory(inner, folds, self._seed, for_all=True),
            test,
            self._seed.child("final"),
            self._resources,
            self._wishes.until,
            self._watcher.phase,
        )
        default = self._space.configuration(self._space.default())
        return finals.train(tuned, default, self._wishes.controls)


def study_name(inner: PUData) -> str:
    """Return a name that machines with the same rows agree on."""
    return f"pubench-{content_key(inner.X.values, inner.s)[:16]}"

"""One job: from its spec to its record. Runs in the job's own process.

rows of the fold -> configuration, of a tuned job by a search -> training -> scores -> metrics -> record
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pubench.api.method import FittedMethod, Method
from pubench.api.plugin import Kind
from pubench.api.registry import Registry
from pubench.bench.job_data import HOLDOUT, JobData, open_job_data
from pubench.bench.plan import search_space_of
from pubench.configuration.configuration import Configuration, configure_tables
from pubench.ensemble.blend import BlendMethod
from pubench.errors import NotApplicableError, one_line
from pubench.metrics.supervised import auc, aul_pn_score
from pubench.record.draft import RecordDraft
from pubench.record.record import Record, RunSpec
from pubench.record.record_file import to_document
from pubench.seeds import Seed
from pubench.system.cache import ArrayCache
from pubench.truth import Truth
from pubench.types import Arrays, FloatVector, Json, PUData, Resources, Status
from pubench.workers.watch import JobFailedError

#: Share of the training fold on which a search compares its finalists; the best one is trained on the whole fold.
_SEARCH_HOLDOUT = 0.1


@dataclass(frozen=True)
class JobContext:
    """What a job works with.

    Attributes:
        registry: where plugins are found.
        plugin_files: single-file plugins, for processes that the job starts itself.
        cache: for arrays that are expensive to compute.
        n_threads: number of threads that may work at once.
        folder: for files of its own; exists, and is removed after the job.
        data: its rows, if they are open already.
    """

    registry: Registry
    plugin_files: tuple[str, ...]
    cache: ArrayCache
    n_threads: int
    folder: Path
    data: JobData | None = None


def job_result(spec: RunSpec, context: JobContext, folder: Path) -> str:
    """Run a job with a folder for its files, and return its record as JSON."""
    record = do_job(spec, replace(context, folder=folder))
    return json.dumps(to_document(record), allow_nan=False)


def do_job(spec: RunSpec, context: JobContext) -> Record:
    """Run a job and return its record; whatever a plugin raises becomes a status and a reason."""
    draft = RecordDraft.begin(context.n_threads)
    try:
        _run(spec, context, draft)
    except NotApplicableError as error:
        return draft.record(spec, Status.NOT_APPLICABLE, str(error))
    except JobFailedError as error:  # of the search
        return draft.record(spec, error.status, str(error))
    except MemoryError as error:
        details = one_line(str(error)) or "no details"
        return draft.record(spec, Status.OUT_OF_MEMORY, f"Memory ran out: {details}")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin may raise anything
        return draft.record(spec, Status.FAILED, f"{type(error).__name__}: {one_line(str(error))}")
    return draft.record(spec)


def _run(spec: RunSpec, context: JobContext, draft: RecordDraft) -> None:
    cache = _CountingCache(context.cache)
    resources = Resources(context.n_threads, keep=cache)
    with draft.timed("load"):
        opened = context.data or open_job_data(spec, context.registry)
    fold, draft.data = opened.fold, opened.facts
    train = _training_rows(spec, context.registry, fold.train, fold.train_truth)
    written = _configuration(spec, context, train, resources, draft)
    configuration = written.suited_to(train)
    draft.add_plugins(configuration)
    with draft.timed("fit"):
        fitted = configuration.method.fit(train, configuration.parts, _fit_seed(spec), resources)
    draft.environment["from_cache"] = cache.hits > 0
    draft.chosen |= _chosen(fitted, configuration, written)
    with draft.timed("predict"):
        scores = fitted.score(fold.test.X, resources).values
    draft.add_scores(fold.test.s, scores)
    if fold.test_truth is not None:  # opened after scoring, and nowhere before
        draft.metrics |= _supervised_metrics(fold.test_truth, scores)


def _chosen(fitted: FittedMethod, trained: Configuration, written: Configuration) -> dict[str, Json]:
    """Return what fitting decided; as "learner" also the defaults that were derived, which the spec does not state."""
    if trained == written or trained.parts.learner is None or written.parts.learner is None:
        return dict(fitted.chosen)
    stated, decided = written.parts.learner.stated, fitted.chosen.get("learner")
    derived = {name: value for name, value in trained.parts.learner.params.items() if name not in stated}
    return {**fitted.chosen, "learner": {**derived, **(decided if isinstance(decided, Mapping) else {})}}


def _fit_seed(spec: RunSpec) -> Seed:
    """Return the seed of training; on the holdout of a `pubench tune` that of its final models."""
    seed = Seed(spec.seed)
    return seed.child("study").child("final") if HOLDOUT in spec.view else seed.child("fit", spec.fold)


def _training_rows(spec: RunSpec, registry: Registry, train: PUData, truth: Truth | None) -> PUData:
    """Return what the method may see: PU data; a ceiling alone gets the label of every positive."""
    if spec.method == BlendMethod.name:
        return train
    method = registry.find(spec.method, Kind.METHOD).plugin
    if not (issubclass(method, Method) and method.wants_all_labels):
        return train
    if truth is None:
        raise NotApplicableError(
            f"'{spec.method}' needs every true label, and those of '{spec.dataset}' are not known."
        )
    return PUData(train.X, truth.y)


def _configuration(
    spec: RunSpec, context: JobContext, train: PUData, resources: Resources, draft: RecordDraft
) -> Configuration:
    if not spec.tuning:
        return configure_tables(spec.configuration, "a job", context.registry)
    with draft.timed("search"):
        configuration = _search(spec, context, train, resources)
    draft.chosen["configuration"] = configuration.to_json()
    return configuration


def _search(spec: RunSpec, context: JobContext, train: PUData, resources: Resources) -> Configuration:
    """Return the best configuration that the trials of the job find on the training rows, from PU labels alone."""
    from pubench.tuning.command import run_trial_worker  # noqa: PLC0415 - heavy imports happen when used
    from pubench.tuning.request import SearchRequest  # noqa: PLC0415
    from pubench.tuning.run import TuneContext, TuningRun  # noqa: PLC0415
    from pubench.tuning.run_folder import RunFolder  # noqa: PLC0415

    trials = spec.tuning["trials"]
    request = SearchRequest(
        trials=trials if isinstance(trials, int) else None,
        holdout=_SEARCH_HOLDOUT,
        seed=spec.seed,
        ensemble=False,
    )
    search_context = TuneContext(
        RunFolder(context.folder), run_trial_worker, resources, plugin_files=context.plugin_files
    )
    space = search_space_of(spec.configuration, context.registry)
    return TuningRun(train, space, request, search_context).tune().tuned.configuration


def _supervised_metrics(truth: Truth, scores: FloatVector) -> dict[str, float]:
    return {"auc": auc(truth.y, scores), "aul": aul_pn_score(truth.y, scores)}


@dataclass
class _CountingCache:
    """A cache that counts its hits: a job that found its neighbours in the cache has a fit time that is too short."""

    cache: ArrayCache
    hits: int = 0

    def __call__(self, key: str, make: Callable[[], Arrays], /) -> Arrays:
        """Return the arrays of this key."""
        is_hit = True

        def make_on_miss() -> Arrays:
            nonlocal is_hit
            is_hit = False
            return make()

        arrays = self.cache(key, make_on_miss)
        self.hits += is_hit
        return arrays

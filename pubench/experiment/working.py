"""One job, done: from a spec to what its record holds. Runs in the job's own process."""

from dataclasses import dataclass, field
from time import perf_counter

from pubench.errors import NotApplicableError, one_line
from pubench.experiment.means import Means, WatchedCache
from pubench.experiment.opening import open_job_data
from pubench.experiment.surroundings import hardware
from pubench.metrics.inference import aul_pu_interval
from pubench.metrics.ranks import share_below
from pubench.metrics.supervised import auc, aul_pn_score
from pubench.plugin_api import Kind
from pubench.records.record import DataFacts, Record, RunSpec
from pubench.registry import Registry
from pubench.saving.configuration import Configuration, configure, names_in
from pubench.saving.versions import versions_of
from pubench.seeds import Seed
from pubench.truth import Truth
from pubench.tuning.workers import TrialFailedError
from pubench.types import FloatVector, Json, PUData, Resources, Status

#: Records hold no more.
_MOST_PLACEMENTS = 100_000
_LONGEST_REASON = 1000


@dataclass
class Noted:
    """What is known of a job so far, for its record, however it ends."""

    data: DataFacts | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    chosen: dict[str, Json] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    environment: dict[str, Json] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    placements: tuple[float, ...] = ()


def do_job(spec: RunSpec, means: Means) -> Record:
    """Run a job and return its record; whatever a plugin raises becomes a status and a reason."""
    noted = Noted(environment={"hardware": hardware(), "threads": means.n_threads})
    try:
        _run(spec, means, noted)
    except NotApplicableError as error:
        return _record(spec, noted, Status.NOT_APPLICABLE, str(error))
    except TrialFailedError as error:
        return _record(spec, noted, error.status, str(error))
    except MemoryError as error:
        return _record(
            spec, noted, Status.OUT_OF_MEMORY, f"Memory ran out: {one_line(str(error)) or 'no details'}"
        )
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin may raise anything
        return _record(spec, noted, Status.FAILED, f"{type(error).__name__}: {one_line(str(error))}")
    return _record(spec, noted, Status.OK, "")


def _record(spec: RunSpec, noted: Noted, status: Status, reason: str) -> Record:
    done = status is Status.OK
    return Record(
        spec,
        status,
        reason[:_LONGEST_REASON],
        data=noted.data,
        metrics=noted.metrics if done else {},
        placements=noted.placements if done else (),
        seconds=noted.seconds,
        chosen=noted.chosen,
        origins=noted.origins,
        environment=noted.environment,
    )


def _run(spec: RunSpec, means: Means, noted: Noted) -> None:
    cache = WatchedCache(means.cache)
    resources = Resources(n_threads=means.n_threads, keep=cache)
    start = perf_counter()
    opened = means.data or open_job_data(spec, means.registry)
    fold, noted.data = opened.fold, opened.facts
    noted.seconds["load"] = perf_counter() - start
    train = _training_rows(spec, means.registry, fold.train, fold.train_truth)
    configuration = _configuration(spec, means, train, resources, noted)
    plugins = configuration.plugins.values()
    noted.origins = {kind.value: origin for kind, origin in configuration.origins.items()}
    noted.environment["versions"] = dict(versions_of(*plugins))
    start = perf_counter()
    seed = Seed(spec.seed).child("fit", spec.fold)
    fitted = configuration.method.fit(train, configuration.parts, seed, resources)
    noted.seconds["fit"] = perf_counter() - start
    noted.environment["from_cache"] = cache.served > 0
    noted.chosen |= fitted.chosen
    start = perf_counter()
    scores = fitted.score(fold.test.X, resources).values
    noted.seconds["predict"] = perf_counter() - start
    _judge(scores, fold.test, fold.test_truth, noted)


def _training_rows(spec: RunSpec, registry: Registry, train: PUData, truth: Truth | None) -> PUData:
    """Return what the method may see: PU data, and for the ceiling alone every positive."""
    method = registry.find(spec.method, Kind.METHOD).plugin
    if not getattr(method, "wants_all_labels", False):
        return train
    if truth is None:
        raise NotApplicableError(
            f"'{spec.method}' needs every true label, and those of '{spec.dataset}' are not known."
        )
    return PUData(train.X, truth.y)


def _configuration(
    spec: RunSpec, means: Means, train: PUData, resources: Resources, noted: Noted
) -> Configuration:
    if not spec.tuning:
        return configure(names_in(spec.configuration, "a job"), means.registry)
    from pubench.experiment.searching import search  # noqa: PLC0415 - heavy imports happen when used

    start = perf_counter()
    found = search(spec, means, train, resources)
    noted.seconds["search"] = perf_counter() - start
    noted.chosen["configuration"] = found.to_json()
    return found


def _judge(scores: FloatVector, test: PUData, truth: Truth | None, noted: Noted) -> None:
    """Note the metrics; truth is opened here, after scoring, and nowhere before."""
    interval = aul_pu_interval(test.s, scores)
    noted.metrics = {"aul_pu": interval.estimate, "aul_pu_stderr": interval.stderr}
    if truth is not None:
        noted.metrics |= {"auc": auc(truth.y, scores), "aul": aul_pn_score(truth.y, scores)}
    if test.n_labelled <= _MOST_PLACEMENTS:
        noted.placements = tuple(share_below(scores, scores[test.s]).tolist())

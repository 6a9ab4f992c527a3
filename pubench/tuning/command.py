"""A whole `pubench tune`: request -> data set -> search space -> run folder -> run -> model -> oracle -> files.

Only this module, `oracle` and `run_files` know the data set and its truth; the run gets the rows and which of them are
labelled. The oracle is trained when the model has been written.
"""

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pubench.api.devices import resolve_device
from pubench.api.method import Method
from pubench.api.plugin import Kind, Learner
from pubench.api.registry import Registry, load_registry
from pubench.configuration.configuration import KINDS
from pubench.data.labelling import pu_data
from pubench.data.sources import DatasetResult, open_dataset
from pubench.errors import DataError
from pubench.seeds import Seed
from pubench.system.machine import cores
from pubench.tuning.baselines import baseline_methods
from pubench.tuning.budget import BASELINES_SHARE, ORACLE_SHARE, TimeBudget
from pubench.tuning.request import SearchRequest, TuneRequest
from pubench.tuning.result import TuneResult
from pubench.tuning.run import TuneContext, TuningRun
from pubench.tuning.run_folder import open_run_folder
from pubench.tuning.space import SearchSpace, narrowed, read_space
from pubench.tuning.trial import TuneCallbacks
from pubench.tuning.trial_worker import serve
from pubench.tuning.whom_to_call import hidden_positives
from pubench.types import Device, PUData, Resources
from pubench.workers.channel import Channel

#: Rows of each kind that a search needs: one for the holdout, one for each of two folds.
_MIN_ROWS = 3


def tune(
    request: TuneRequest,
    registry: Registry,
    resources: Resources,
    callbacks: TuneCallbacks,
    stop: threading.Event,
) -> TuneResult:
    """Tune as requested and write the results into the run's folder; a wrong request raises before the search begins.

    Args:
        request: what to do.
        registry: where plugins are found.
        resources: the cache; threads and device come from the request.
        callbacks: progress.
        stop: a person sets it to end the search and continue with its trials so far.
    """
    started = time.monotonic()
    dataset = open_dataset(replace(request.dataset, seed=request.search.seed), registry)
    return tune_dataset(request, dataset, registry, resources, callbacks, stop, started)


def tune_dataset(
    request: TuneRequest,
    dataset: DatasetResult,
    registry: Registry,
    resources: Resources,
    callbacks: TuneCallbacks,
    stop: threading.Event,
    started: float | None = None,
) -> TuneResult:
    """Tune a data set that is open already; see `tune`. `started` is when the time began, on the clock of `time.monotonic`."""
    from pubench.tuning.oracle import judge_oracle  # noqa: PLC0415
    from pubench.tuning.run_files import write_choice, write_output  # noqa: PLC0415 - load SciPy, which workers do without

    request = replace(
        request, search=replace(request.search, baselines=baseline_methods(request.baselines, registry))
    )
    began = time.monotonic() if started is None else started
    budget = _budget(request.search, began, truth_is_known=dataset.dataset.truth is not None)
    seed = Seed(request.search.seed)
    data, labelling = pu_data(dataset.dataset, request.theta_o, seed)
    _check_counts(data)
    request.calls.check(data)
    space = choose_space(request, registry)
    device, device_notice = choose_device(request, space)
    context = TuneContext(
        folder=open_run_folder(request, dataset.name, data),
        worker=run_trial_worker,
        resources=replace(resources, device=device, n_threads=request.n_threads or cores()),
        budget=budget,
        plugin_files=tuple(map(str, request.plugin_files)),
        callbacks=callbacks,
        stop=stop,
    )
    notices = (*dataset.notices, *labelling, *([device_notice] if device_notice else []))
    result = TuningRun(data, space, request.search, context).tune()
    result = replace(
        result,
        dataset=dataset.name,
        notices=(*notices, *result.notices),
        calls=request.calls,
        hidden=hidden_positives(request.calls.prior, data, result.shipped, seed),
    )
    write_choice(result, request, dataset, resources)
    if dataset.dataset.truth is not None and request.search.baselines:
        oracle = judge_oracle(result, dataset.dataset.truth, space, request.search, context)
        result = replace(result, others=(*result.others, *oracle))
    write_output(result, request, dataset, space)
    return result


def _check_counts(data: PUData) -> None:
    """Raise `DataError` where there are too few rows of a kind for a holdout and two folds."""
    counts = {"labelled positives": data.n_labelled, "unlabeled rows": data.X.n_rows - data.n_labelled}
    for name, count in counts.items():
        if count < _MIN_ROWS:
            raise DataError(
                f"A search needs at least {_MIN_ROWS} {name}, one of them for the holdout; there are {count}."
            )


def _budget(search: SearchRequest, started: float, *, truth_is_known: bool) -> TimeBudget:
    if not search.baselines:
        return TimeBudget(search.seconds, started)
    return TimeBudget(search.seconds, started, BASELINES_SHARE, ORACLE_SHARE if truth_is_known else 0.0)


def run_trial_worker(channel: Channel, folder: str, *plugin_files: str) -> None:
    """Judge trials in this process; what a `TrialWorker` starts."""
    serve(channel, Path(folder), load_registry([Path(file) for file in plugin_files]))


def choose_space(request: TuneRequest, registry: Registry) -> SearchSpace:
    """Return the search space: the plugins requested, otherwise all that are searched by default."""
    names = {kind: _candidates(request, kind, registry) for kind in KINDS}
    if request.names.get(Kind.SIMILARITY) and not request.names.get(Kind.METHOD):
        # A person who requests a similarity wants to see its effect.
        names[Kind.METHOD] = [name for name in names[Kind.METHOD] if Kind.SIMILARITY in _uses(registry, name)]
    if request.names.get(Kind.LEARNER) and not request.names.get(Kind.METHOD):
        # The same for a learner.
        names[Kind.METHOD] = [name for name in names[Kind.METHOD] if Kind.LEARNER in _uses(registry, name)]
    space = SearchSpace(registry, names)
    return space if request.space is None else narrowed(space, read_space(request.space))


def _candidates(request: TuneRequest, kind: Kind, registry: Registry) -> Sequence[str]:
    """Return the requested plugins of a kind, or else those that are searched by default."""
    requested = request.names.get(kind) or ()
    for name in requested:
        registry.find(name, kind)
    return requested or _searched_by_default(registry, kind)


def _searched_by_default(registry: Registry, kind: Kind) -> list[str]:
    """Return the plugins of a kind that are searched unless others are named."""
    return [name for name in registry.names(kind) if registry.find(name, kind).plugin.searched]


def _uses(registry: Registry, method: str) -> frozenset[Kind]:
    plugin = registry.find(method, Kind.METHOD).plugin
    return plugin.uses if issubclass(plugin, Method) else frozenset()


def choose_device(request: TuneRequest, space: SearchSpace) -> tuple[Device, str]:
    """Return where to train, and a notice or nothing; several learners train on the CPU, unless CUDA is requested."""
    learners = [space.registry.find(name, Kind.LEARNER).plugin for name in space.names[Kind.LEARNER]]
    if request.device == "auto" and len(learners) > 1:
        return "cpu", ""
    first = learners[0]
    return resolve_device(request.device, first() if issubclass(first, Learner) else None)

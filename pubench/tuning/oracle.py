"""The oracle: a learner that is given every true label, judged when the choice has been written down.

Only `pubench.tuning.command` may import this: nothing that searches, selects or blends can reach true labels.
"""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from pubench.api.method import Method
from pubench.api.plugin import Kind
from pubench.configuration.configuration import Configuration
from pubench.html import numbers
from pubench.truth import Truth
from pubench.tuning.request import SearchRequest
from pubench.tuning.result import TuneResult
from pubench.tuning.run import TuneContext
from pubench.tuning.space import SearchSpace
from pubench.tuning.standings import FEWER_MEMBERS, STOPPED, Entrant, Role
from pubench.tuning.trial_worker import TrialContext, TrialWorker
from pubench.types import PUData, Status
from pubench.workers.limits import Deadline, Limits
from pubench.workers.watch import JobFailedError
from pubench.workers.worker import StoppedError


def judge_oracle(
    result: TuneResult, truth: Truth, space: SearchSpace, request: SearchRequest, context: TuneContext
) -> list[Entrant]:
    """Return the methods that need every true label, trained on the rows of the search with them; within the time.

    They are judged on the holdout by the same PU labels as all others.
    """
    registry = space.registry
    plugins = [registry.find(name, Kind.METHOD).plugin for name in registry.names(Kind.METHOD)]
    names = [plugin.name for plugin in plugins if issubclass(plugin, Method) and plugin.wants_all_labels]
    rows, holdout = result.split.train, result.split.test
    data = PUData(result.data.X.take(rows), truth.y[rows])
    with TemporaryDirectory(prefix="pubench-oracle-") as folder:
        trial = TrialContext(
            data, request.plan, request.seed, context.resources.n_threads, context.resources.device
        )
        trial.write(Path(folder), result.data.X.take(holdout))
        worker = TrialWorker(context.worker, Path(folder), context.plugin_files)
        try:
            return [
                _judge(space.baseline(name).suited_to(result.data), worker, request, context)
                for name in names
            ]
        finally:
            worker.stop()


def _judge(
    configuration: Configuration, worker: TrialWorker, request: SearchRequest, context: TuneContext
) -> Entrant:
    limit = max(0.0, context.budget.oracle_deadline - time.monotonic())
    limits = Limits(limit, request.memory_bytes or float("inf"))
    context.callbacks.phase("oracle", 0.0)
    try:
        trained = worker.train(
            configuration,
            context.resources.n_threads,
            limits,
            Deadline(stop=context.stop),
            lambda share: context.callbacks.phase("oracle", share),
        )
    except StoppedError:
        return Entrant(Role.ORACLE, configuration, status=Status.TIMEOUT, reason=STOPPED)
    except JobFailedError as error:
        is_late = error.status is Status.TIMEOUT
        reason = f"There were {numbers.seconds(limit)} for it; raise --timeout." if is_late else str(error)
        return Entrant(Role.ORACLE, configuration, status=error.status, reason=reason)
    is_cut = trained.is_late and configuration.as_trained(trained.chosen) != configuration
    return Entrant(
        Role.ORACLE,
        configuration,
        trained.scores,
        trained.seconds,
        reason=FEWER_MEMBERS if is_cut else "",
        chosen=trained.chosen,
    )

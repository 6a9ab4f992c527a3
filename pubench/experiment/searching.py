"""A tuned job: the search runs inside the training fold, on PU labels alone, with the tuner's own means."""

import sys
import time

from pubench.experiment.means import Means
from pubench.experiment.planning import space_of
from pubench.records.record import RunSpec
from pubench.saving.configuration import Configuration
from pubench.tuning.outcome import TUNED
from pubench.tuning.run import Place, Run, Watcher, Wishes
from pubench.types import PUData, Resources

_WORKER = "pubench.cli.tuning_worker"
#: Of the training fold, to compare finalists on; the configuration that wins is trained on all of the fold.
_HOLDOUT = 0.1


def search(spec: RunSpec, means: Means, train: PUData, resources: Resources) -> Configuration:
    """Return the best configuration that the job's budget finds on the training rows."""
    trials = spec.tuning["trials"]
    wishes = Wishes(
        trials=trials if isinstance(trials, int) else None,
        seconds=None,
        started=time.monotonic(),
        holdout=_HOLDOUT,
        seed=spec.seed,
    )
    place = Place(means.folder, [sys.executable, "-m", _WORKER], plugin_files=means.plugin_files)
    space = space_of(spec.configuration, means.registry)
    found = Run(train, space, wishes, place, resources, Watcher()).tune()
    return found.outcome.contenders[TUNED].configuration

"""The process that jobs of `pubench bench` are forked from; started by it, not by people.

python -m pubench.cli.benchmark_job --threads N --cpus 0,1 [PLUGIN_FILE ...]
"""

import faulthandler
import os
import sys
from pathlib import Path

from pubench.experiment.limits import pin_to
from pubench.experiment.means import Means
from pubench.experiment.preparing import Preparation
from pubench.experiment.serving import serve
from pubench.experiment.surroundings import hardware
from pubench.keeping import machine_cache
from pubench.registry import load_registry


def main(arguments: list[str]) -> None:
    """Serve a runner until it closes the pipe."""
    # Libraries print to where they please; the pipe to the runner is for messages alone.
    faulthandler.enable()  # a crash inside a library leaves its traces in the log
    outgoing = os.dup(1)
    os.dup2(2, 1)
    _, threads, _, cpus, *files = arguments
    hardware()  # before this process keeps to some of the cores
    pin_to(tuple(int(cpu) for cpu in cpus.split(",") if cpu))
    registry = load_registry([Path(file) for file in files])
    means = Means(registry, tuple(files), machine_cache(), int(threads), Path())
    serve(means, Preparation(registry).prepare, 0, outgoing)
    # Nothing is left to do, and taking down all libraries takes a second that the runner would wait.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])

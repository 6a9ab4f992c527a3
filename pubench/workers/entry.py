"""The process of a worker; started by `pubench.workers.worker`, not by people.

python -m pubench.workers.entry MODULE:FUNCTION [ARGUMENT ...]
"""

import faulthandler
import importlib
import os
import sys
from collections.abc import Callable, Sequence

from pubench.workers.channel import Channel


def main(arguments: Sequence[str]) -> None:
    """Call the function with a channel to the host and the arguments; end with it."""
    faulthandler.enable()  # a crash inside a library prints its stack to the log
    # Libraries print to stdout as they please: from now on that is the log, and only the channel writes to the host.
    outgoing = os.dup(1)
    os.dup2(2, 1)
    module, _, function = arguments[0].partition(":")
    # The host has imported the module to name it, so that the import check sees it.
    target: Callable[..., None] = getattr(importlib.import_module(module), function)  # noqa: TID251
    target(Channel(0, outgoing), *arguments[1:])
    # Nothing is left to do; unloading all libraries would take a second, for which the host would wait.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])

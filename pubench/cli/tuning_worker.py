"""The process in which trials of `pubench tune` run; started by it, not by people.

python -m pubench.cli.tuning_worker FOLDER [PLUGIN_FILE ...]
"""

import faulthandler
import os
import sys
from pathlib import Path

from pubench.keeping import machine_cache
from pubench.registry import load_registry
from pubench.tuning.serving import serve


def main(arguments: list[str]) -> None:
    """Serve a study until it closes the pipe."""
    # Libraries print to where they please; the pipe to the study is for messages alone.
    faulthandler.enable()  # a crash inside a library leaves its traces in the log
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    folder, *files = (Path(argument) for argument in arguments)
    serve(folder, load_registry(files), machine_cache(_say), sys.stdin.buffer, outgoing)


def _say(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main(sys.argv[1:])

"""What lies around a plugin and must stay as it was: random state of the whole process, environment, folder."""

import os
import random  # noqa: TID251 - its state is looked at, nothing is drawn
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from pubench.testing.promises import expect


@contextmanager
def expect_untouched() -> Iterator[None]:
    """Raise `PluginError` if what runs inside changes what other code relies on.

    Run the same once before: a library's first import may well set its own variables.
    """
    before = _look()
    yield
    for name, state in _look().items():
        expect(
            state == before[name], f"{name} stays as it was; draw from `seed.generator()` alone, and tidy up."
        )


def _look() -> dict[str, object]:
    numpy_state = np.random.get_state(legacy=False)["state"]  # noqa: NPY002, TID251 - looked at, nothing is drawn
    return {
        "NumPy's global random state": (numpy_state["key"].tobytes(), numpy_state["pos"]),
        "The global state of `random`": random.getstate(),
        "The environment": dict(os.environ),
        "The working folder": Path.cwd(),
        "NumPy's treatment of errors": np.geterr(),
    }

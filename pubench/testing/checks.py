"""The parts of checks: expectations, which raise `PluginError` with the promise that is broken, and remarks."""

import json
import os
import random  # noqa: TID251 - its state is compared, nothing is drawn
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np

from pubench.errors import NotApplicableError, PluginError
from pubench.metrics.aul import aul_pu_score
from pubench.metrics.prior_corrected import auc_from_aul
from pubench.neighbors.k_choice import KChoice
from pubench.types import BoolVector, FloatVector, Json, Resources

#: Sums in float32 are rounded by their order, and with them threads and blocks of rows.
_ROUNDING = 1e-4
#: AUC to be reached where positives lie two and a half standard deviations apart in two features.
_BETTER_THAN_CHANCE = 0.75
_TWO = Resources(n_threads=2)


@dataclass(frozen=True)
class Remark:
    """The remark of a check when no promise is broken.

    Attributes:
        text: one sentence.
        declined: the plugin declined the task.
    """

    text: str
    declined: bool = False


Subject = TypeVar("Subject")
#: Raises `PluginError` with the promise that is broken, and lets through whatever the plugin itself raises.
Check: TypeAlias = Callable[[Subject], Remark | None]


def expect(kept: bool, promise: str) -> None:
    """Raise `PluginError` unless the promise is kept."""
    if not kept:
        raise PluginError(promise)


def expect_equal(a: FloatVector, b: FloatVector, promise: str) -> None:
    """Raise `PluginError` unless two vectors are equal, up to the rounding of sums in float32."""
    scale = float(np.abs(a).max(initial=0.0))
    expect(a.shape == b.shape and bool(np.allclose(a, b, rtol=_ROUNDING, atol=_ROUNDING * scale)), promise)


def expect_json(content: Mapping[str, Json], promise: str) -> None:
    """Raise `PluginError` unless `content` holds plain JSON values alone."""
    try:
        json.dumps(dict(content), allow_nan=False)
    except (TypeError, ValueError):
        expect(kept=False, promise=promise)


def expect_k_choice(choice: object) -> None:
    """Raise `PluginError` unless `choice` is what `k_choice` may be."""
    expect(choice is None or isinstance(choice, KChoice), "`k_choice` is None or a `KChoice`.")


def area(positive: BoolVector, scores: FloatVector) -> float:
    """Return the AUC: the chance that a positive row scores above another one, ties counted one half."""
    return float(auc_from_aul(aul_pu_score(positive, scores), positive.mean()))


def expect_better_than_chance(positive: BoolVector, scores: FloatVector, where: str) -> None:
    """Raise `PluginError` unless positive rows score clearly above the others; `where` says on which rows."""
    found = area(positive, scores)
    expect(found > _BETTER_THAN_CHANCE, f"{where} the AUC is above {_BETTER_THAN_CHANCE}; it is {found:.3f}.")


def declined(error: NotApplicableError) -> Remark:
    """Return the remark on a plugin that declines a task; raises `PluginError` unless it gives a reason."""
    text = str(error)
    expect(
        len(text.split()) > 2 and text.endswith("."),
        f"A plugin that declines a task says why in a sentence; got {text!r}.",
    )
    return Remark(text, declined=True)


class CancelledError(Exception):
    """Raised to end the work."""


def expect_progress(work: Callable[[Resources], object], what: str) -> Remark | None:
    """Raise `PluginError` unless the progress of `work` rises within [0, 1] and does not catch what it raises.

    Args:
        work: does the work; called twice.
        what: the name of the work in messages.

    Returns:
        A remark if no progress is reported.
    """
    shares: list[float] = []
    work(replace(_TWO, progress=shares.append))
    expect(all(0 <= share <= 1 for share in shares), f"Progress of {what} lies in [0, 1].")
    expect(shares == sorted(shares), f"Progress of {what} never goes back.")
    if not shares:
        return Remark(f"It reports no progress of {what}, so it cannot be cancelled.")
    try:
        work(replace(_TWO, progress=_stop))
    except CancelledError:
        return None
    expect(kept=False, promise=f"What `progress` raises ends {what} and goes through.")
    return None


def _stop(share: float) -> None:
    raise CancelledError(f"at {share}")


@contextmanager
def expect_untouched() -> Iterator[None]:
    """Raise `PluginError` if the code inside changes random state, environment, folder or error handling of the process.

    Run the same code once before: a library may set its own variables when it is first imported.
    """
    before = _process_state()
    yield
    for name, state in _process_state().items():
        expect(
            state == before[name],
            f"{name} stays as it was; draw from `seed.generator()` alone, and clean up.",
        )


def _process_state() -> dict[str, object]:
    numpy_state = np.random.get_state(legacy=False)["state"]  # noqa: NPY002, TID251 - compared, nothing is drawn
    return {
        "NumPy's global random state": (numpy_state["key"].tobytes(), numpy_state["pos"]),
        "The global state of `random`": random.getstate(),
        "The environment": dict(os.environ),
        "The working folder": Path.cwd(),
        "NumPy's treatment of errors": np.geterr(),
    }

"""A trial that has ended, the file of its scores, and callbacks on the progress of a run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pubench.configuration.configuration import Configuration
from pubench.types import FloatVector, Status


@dataclass(frozen=True, eq=False)
class Trial:
    """A trial that has ended.

    Attributes:
        number: from 0.
        configuration: the configuration that was judged, in full; the search judged its draft.
        params: the values that Optuna chose.
        status: how the trial ended.
        reason: why the status is not OK; empty if it is.
        value: AUL_PU over all folds; of a trial that was stopped early an estimate from the folds it saw; None if it
            failed.
        placements: of the labelled rows, fold by fold.
        seconds: time that the trial took.
        last_fold: seconds of the last fold that it saw, in which nothing was computed for the first time.
        stopped_early: the pruner stopped it.
    """

    number: int
    configuration: Configuration
    params: Mapping[str, Any]
    status: Status
    reason: str = ""
    value: float | None = None
    placements: tuple[FloatVector, ...] = ()
    seconds: float = 0.0
    last_fold: float = 0.0
    stopped_early: bool = False

    @property
    def stderr(self) -> float:
        """The standard error of `value`, from the placements of the labelled rows."""
        placed = np.concatenate([*self.placements, np.empty(0)])
        return float(placed.std(ddof=1) / np.sqrt(len(placed))) if len(placed) > 1 else 0.0

    @property
    def is_complete(self) -> bool:
        """Whether the trial saw all folds."""
        return self.status is Status.OK and not self.stopped_early


def scores_file(folder: Path, number: int) -> Path:
    """Return the file that a worker writes the out-of-fold scores of a complete trial into."""
    return folder / f"scores-{number}.npy"


@dataclass(frozen=True)
class TuneCallbacks:
    """Progress of a run; called from any of its threads, but starts and ends of trials one call at a time.

    Attributes:
        trial_started: with the number and the configuration.
        trial_progress: with the number and the share of the trial that is done.
        trial_ended: with the trial.
        phase: after the search, with the name of the phase and the share of it that is done.
        resumed: with the trials that an earlier run of the same request has left, if there are any.
        search_until: with the moment at which the search ends, on the clock of `time.monotonic`.
    """

    trial_started: Callable[[int, Configuration], None] = lambda number, configuration: None  # noqa: ARG005
    trial_progress: Callable[[int, float], None] = lambda number, share: None  # noqa: ARG005
    trial_ended: Callable[[Trial], None] = lambda trial: None  # noqa: ARG005
    phase: Callable[[str, float], None] = lambda name, share: None  # noqa: ARG005
    resumed: Callable[[Sequence[Trial]], None] = lambda trials: None  # noqa: ARG005
    search_until: Callable[[float], None] = lambda until: None  # noqa: ARG005

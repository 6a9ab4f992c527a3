"""The pruner: stops a trial that is clearly worse than the best one so far, which saves its remaining folds.

Both trials were judged on the same labelled rows of the same folds. The differences of their placements are thousands of
paired observations, whereas there are only a few folds; so one fold is often enough.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pubench.metrics.comparison import paired_mean
from pubench.types import FloatVector

#: Fewer labelled rows than this decide nothing: there a trial costs little, and a blend misses one that was stopped by chance.
_MIN_LABELLED = 50


@dataclass(frozen=True)
class PlacementPruner:
    """Student's t test of the paired differences of placements, one-sided, after each fold.

    Attributes:
        p_threshold: a trial is stopped when its p-value is below; a trial as good as the best one is stopped after a
            fold with at most this probability. 0: no trial is stopped.
    """

    p_threshold: float = 0.02

    def should_prune(self, trial: Sequence[FloatVector], best: Sequence[FloatVector]) -> bool:
        """Whether the trial's placements on its folds so far are below those of the best trial on the same folds."""
        from scipy.special import stdtr  # noqa: PLC0415 - heavy imports happen when used

        pairs = [(a, b) for a, b in zip(trial, best, strict=False) if len(a) == len(b)]
        differences = np.concatenate([a - b for a, b in pairs]) if pairs else np.empty(0)
        if len(differences) < _MIN_LABELLED or self.p_threshold == 0:
            return False
        paired = paired_mean(differences)
        if paired.mean >= 0:
            return False
        return bool(stdtr(paired.count - 1, paired.mean / paired.stderr) < self.p_threshold)

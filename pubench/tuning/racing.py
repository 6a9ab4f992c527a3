"""Whether a trial is behind the best one so far beyond reasonable doubt, so that its other folds can be spared.

Both were judged on the same labelled rows of the same folds. The differences of their placements are thousands of paired
observations where the folds themselves are a handful, so one fold often suffices.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pubench.types import FloatVector

#: With fewer labelled rows behind it, a difference is left open.
_FEWEST = 10


@dataclass(frozen=True)
class Race:
    """A rule for stopping early.

    Attributes:
        doubt: a trial that is as good as the best one is stopped at each look with at most this chance; 0: never.
    """

    doubt: float = 0.02

    def is_lost(self, trial: Sequence[FloatVector], best: Sequence[FloatVector]) -> bool:
        """Whether the trial's placements on its folds so far are below those of the best one on the same folds."""
        from scipy.special import stdtr  # noqa: PLC0415 - heavy imports happen when used

        pairs = [(a, b) for a, b in zip(trial, best, strict=False) if len(a) == len(b)]
        differences = np.concatenate([a - b for a, b in pairs]) if pairs else np.empty(0)
        if len(differences) < _FEWEST or self.doubt == 0 or differences.mean() >= 0:
            return False
        # One difference of 0 more than there is, as in `pubench.metrics.inference`: rare failures go unseen.
        spread = float(np.append(differences, 0.0).std(ddof=1))
        statistic = float(differences.mean()) / (spread / np.sqrt(len(differences)))
        return bool(stdtr(len(differences) - 1, statistic) < self.doubt)

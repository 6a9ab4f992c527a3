"""Whether the best trial of a search is worth leaving the default for, from out-of-fold scores and PU labels alone.

The best of many trials looks better than the default on the rows that chose it, even if it is not. So it is asked what
choosing is worth on rows that did not choose: for each fold, the trial that is best on the others is compared with the
default. Where labelled rows are few, that is often a loss.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pubench.tuning.out_of_fold import OutOfFold
from pubench.tuning.selection import Gain, Strategy, best_single, held_out_gain
from pubench.tuning.study import Trial
from pubench.types import FloatVector


@dataclass(frozen=True)
class Caution:
    """What choosing the best trial is worth.

    Attributes:
        gain: over the default, on folds that did not choose; None where it is not known.
    """

    gain: Gain | None = None

    @property
    def keeps_default(self) -> bool:
        """Whether the default is kept: the gain is known, and not real."""
        return self.gain is not None and not self.gain.is_real

    @property
    def sentence(self) -> str:
        """What was decided, and why, in one plain sentence; nothing where nothing is known."""
        if self.gain is None:
            return ""
        told = (
            f"on {self.gain.evidence}, choosing the best trial instead changes AUL_PU by {self.gain.figures}"
        )
        if self.keeps_default:
            return f"The default is kept: {told}, which is not above one standard error."
        return f"The default is left: {told}, which is more than one standard error."


def weigh(drafts: Mapping[int, FloatVector], default: Trial | None, out_of_fold: OutOfFold) -> Caution:
    """Return what choosing among trials is worth.

    Args:
        drafts: the out-of-fold scores of all that may be chosen, by number, as they were judged.
        default: the trial of the default, one of them; None where it saw not all folds.
        out_of_fold: ranks them.
    """
    if default is None or default.number not in drafts or len(drafts) < 2:
        return Caution()
    chosen = Strategy(out_of_fold.ranked(list(drafts.values())), best_single)
    kept = Strategy(out_of_fold.ranked([drafts[default.number]]), best_single)
    return Caution(held_out_gain(chosen, kept))

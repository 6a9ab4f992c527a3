"""From the trials of a search to the blend that its final model may be, and a sentence on why it is one or not."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from pubench.tuning.out_of_fold import OutOfFold
from pubench.tuning.selection import Gain, Strategy, best_single, held_out_gain, mean_value, select
from pubench.types import FloatVector, tell_nobody

#: Only so many of the best trials are looked at.
_MOST_TRIALS = 15


@dataclass(frozen=True)
class Blending:
    """Whether a final model is a blend of trials.

    Attributes:
        weights: of the trials that greedy selection on all folds takes, by number; empty where nobody asked.
        value: AUL_PU of that blend on these folds, optimistic since they selected it.
        gain: over what it would replace, on folds that did not select; None where it is not known.
        unasked: why nobody asked, as a phrase; empty where somebody did.
        instead: what the model is otherwise.
    """

    weights: Mapping[int, int] = field(default_factory=dict)
    value: float = 0.0
    gain: Gain | None = None
    unasked: str = ""
    instead: str = "a single trial"

    @property
    def is_taken(self) -> bool:
        """Whether the final model is the blend: of at least two trials, and better on folds that did not select it."""
        return len(self.weights) > 1 and self.gain is not None and self.gain.is_real

    @property
    def sentence(self) -> str:
        """What was decided, and why, in one plain sentence."""
        if self.unasked or self.gain is None:
            return f"The model is {self.instead}: {self.unasked or 'there was nothing to blend'}."
        told = f"on {self.gain.evidence}, blending changes AUL_PU by {self.gain.figures}"
        if self.is_taken:
            return f"The model is a blend of {len(self.weights)} trials: {told}, which is more than one standard error."
        if len(self.weights) < 2:
            return f"The model is {self.instead}: no blend of trials is better, even where it is selected."
        return f"The model is {self.instead}: {told}, which is not above one standard error."


def find_blend(
    every: Mapping[int, FloatVector],
    rivals: Sequence[int],
    out_of_fold: OutOfFold,
    instead: str = Blending.instead,
    progress: Callable[[float], None] = tell_nobody,
) -> Blending:
    """Return the blend of a search's trials, and whether it is worth it.

    Trials were judged as drafts, with few members. Where rivals were judged in full, they are so compared: else a blend
    would be taken for having more members alone.

    Args:
        every: the out-of-fold scores of trials that saw all folds, the best first, by number.
        rivals: numbers of the trials one of which is taken otherwise.
        out_of_fold: ranks them, and has those that were judged in full.
        instead: what the model is if it is no blend.
        progress: is told the share of the work that is done.
    """
    drafts = dict(sorted(islice(every.items(), _MOST_TRIALS)))
    if len(drafts) < 2:
        return Blending(unasked="fewer than two trials saw all folds here", instead=instead)
    candidates = out_of_fold.ranked(list(drafts.values()))
    full = out_of_fold.in_full(rivals) or {number: every[number] for number in rivals if number in every}
    others = out_of_fold.ranked(list(full.values())) or candidates
    gain = held_out_gain(Strategy(candidates, select), Strategy(others, best_single), progress)
    if gain is None:
        return Blending(unasked="with one fold there is nothing to judge a blend on", instead=instead)
    weights = select(candidates)
    named = {number: weight for number, weight in zip(drafts, weights, strict=True) if weight}
    return Blending(named, mean_value(candidates, weights), gain, instead=instead)

"""From the trials of a search to the blend that its final model may be, and a sentence on why it is one or not."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pubench.tuning.inner import InnerFold
from pubench.tuning.selection import Gain, RankedFold, held_out_gain, mean_value, select
from pubench.tuning.study import Trial
from pubench.types import BoolVector, FloatVector, tell_nobody

#: Only so many of the best trials are looked at.
_MOST_TRIALS = 15
#: A file of scores belongs to a trial if it gives the trial's AUL_PU up to this.
_SAME_VALUE = 1e-3


@dataclass(frozen=True)
class Blending:
    """Whether a final model is a blend of trials.

    Attributes:
        weights: of the trials that greedy selection on all folds takes, by number; empty where nobody asked.
        value: AUL_PU of that blend on these folds, optimistic since they selected it.
        gain: over single trials, on folds that did not select; None where it is not known.
        unasked: why nobody asked, as a phrase; empty where somebody did.
    """

    weights: Mapping[int, int] = field(default_factory=dict)
    value: float = 0.0
    gain: Gain | None = None
    unasked: str = ""

    @property
    def is_taken(self) -> bool:
        """Whether the final model is the blend: of at least two trials, and better on folds that did not select it."""
        return len(self.weights) > 1 and self.gain is not None and self.gain.is_real

    @property
    def sentence(self) -> str:
        """What was decided, and why, in one plain sentence."""
        if self.unasked or self.gain is None:
            return f"The model is a single trial: {self.unasked or 'there was nothing to blend'}."
        told = f"{self.gain.difference:+.4f} (standard error {self.gain.stderr:.4f})"
        where = f"on {self.gain.n_labelled:,} labelled rows of folds that did not select it"
        if self.is_taken:
            return (
                f"The model is a blend of {len(self.weights)} trials: {where}, blending changes AUL_PU by {told}, "
                "which is more than one standard error."
            )
        if len(self.weights) < 2:
            return "The model is a single trial: no blend of it with others is better, even where it is selected."
        return (
            f"The model is a single trial: {where}, blending changes AUL_PU by {told}, which is not above one standard "
            "error."
        )


def find_blend(
    trials: Sequence[Trial],
    finalists: Mapping[int, float],
    folds: tuple[InnerFold, ...],
    s: BoolVector,
    folder: Path,
    progress: Callable[[float], None] = tell_nobody,
) -> Blending:
    """Return the blend of a search's trials, and whether it is worth it.

    Trials were judged as drafts, with few members. Where finalists were judged in full, these are the single trials that
    a blend must beat: else it would be taken for having more members alone.

    Args:
        trials: all that ended.
        finalists: numbers of those that were judged in full.
        folds: on which trials were judged.
        s: which rows of the search are labelled.
        folder: where workers left out-of-fold scores; trials of other machines have left none here.
        progress: is told the share of the work that is done.
    """
    drafts = _drafts(trials, folds, s, folder)
    if len(drafts) < 2:
        return Blending(unasked="fewer than two trials saw all folds here")
    full = [_read(folder / f"scores-{-1 - number}.npy", folds) for number in sorted(finalists)]
    candidates = _ranked(list(drafts.values()), folds, s)
    rivals = _ranked([scores for scores in full if scores is not None], folds, s) or candidates
    gain = held_out_gain(candidates, rivals, progress)
    if gain is None:
        return Blending(unasked="with one fold there is nothing to judge a blend on")
    weights = select(candidates)
    named = {number: weight for number, weight in zip(drafts, weights, strict=True) if weight}
    return Blending(named, mean_value(candidates, weights), gain)


def _drafts(
    trials: Sequence[Trial], folds: tuple[InnerFold, ...], s: BoolVector, folder: Path
) -> dict[int, FloatVector]:
    """Return the out-of-fold scores of the best trials that saw all folds, by number."""
    complete = [trial for trial in trials if trial.is_complete]
    found: dict[int, FloatVector] = {}
    for trial in sorted(complete, key=lambda trial: (-(trial.value or 0.0), trial.number)):
        scores = _read(folder / f"scores-{trial.number}.npy", folds)
        if scores is not None and _is_of(scores, trial, folds, s):
            found[trial.number] = scores
        if len(found) == _MOST_TRIALS:
            break
    return dict(sorted(found.items()))


def _is_of(scores: FloatVector, trial: Trial, folds: tuple[InnerFold, ...], s: BoolVector) -> bool:
    """Whether scores are those of a trial: the file of an earlier study may have stayed behind."""
    return abs(mean_value(_ranked([scores], folds, s), (1,)) - (trial.value or 0.0)) < _SAME_VALUE


def _read(path: Path, folds: tuple[InnerFold, ...]) -> FloatVector | None:
    """Return the scores in a file, one per test row of the folds; None where there are none."""
    try:
        scores = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    whole = scores.shape == (sum(len(fold.test) for fold in folds),) and scores.dtype == np.float32
    return scores if whole and np.isfinite(scores).all() else None


def _ranked(scores: Sequence[FloatVector], folds: tuple[InnerFold, ...], s: BoolVector) -> list[RankedFold]:
    """Return what candidates make of each fold; nothing without candidates."""
    if not scores:
        return []
    ends = np.cumsum([len(fold.test) for fold in folds])[:-1]
    pieces = [np.split(one, ends) for one in scores]
    return [
        RankedFold.of(fold, s[fold.test], [piece[number] for piece in pieces])
        for number, fold in enumerate(folds)
    ]

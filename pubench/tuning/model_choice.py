"""Which model a search ends with: a blend of its trials, or one of them; from PU labels alone.

    out-of-fold scores of trials -> candidates -> weights (`pubench.tuning.ensemble_selection`) -> ModelChoice

The best of many trials looks better than the others on the rows that chose it, even if it is not; where labelled rows are
few, choosing one is often a loss, and averages of several hardly are. The default configuration is a trial like any other.
The scores are those that trials gave to rows that they were not trained on; the workers wrote them into files.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from pubench.crossfit.cross_fit import fold_aul
from pubench.crossfit.folds import InnerFold
from pubench.metrics.ranks import share_below
from pubench.seeds import Seed
from pubench.tuning.ensemble_selection import (
    Gain,
    RankedFold,
    Strategy,
    held_out_gain,
    in_lowest_terms,
    mean_value,
    select_blend,
    select_single,
)
from pubench.tuning.trial import Trial, scores_file
from pubench.types import BoolVector, FloatVector, ignore_progress

#: At most this number of trials may be blended, and of each combination of plugins this number in any case.
_MAX_BLENDED = 20
_OF_EACH_TITLE = 2
#: A file of scores belongs to a trial if it gives the trial's AUL_PU up to this difference.
_VALUE_TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class OutOfFoldScores:
    """The out-of-fold scores of the trials of a search; those of trials on other machines are missing.

    Attributes:
        folder: of the files.
        folds: on which trials were judged.
        s: which rows of the search are labelled.
    """

    folder: Path
    folds: tuple[InnerFold, ...]
    s: BoolVector

    def drafts(self, trials: Sequence[Trial]) -> dict[int, FloatVector]:
        """Return the scores of trials that saw all folds, by number, the best trial first."""
        complete = [trial for trial in trials if trial.is_complete]
        scores_of: dict[int, FloatVector] = {}
        for trial in sorted(complete, key=lambda trial: (-(trial.value or 0.0), trial.number)):
            scores = self._read(trial.number)
            if scores is not None and self._belong_to(scores, trial):
                scores_of[trial.number] = scores
        return scores_of

    def ranked(self, candidates: Sequence[FloatVector]) -> list[RankedFold]:
        """Return the ranks that candidates give the rows of each fold; empty without candidates."""
        if not candidates:
            return []
        ends = np.cumsum([len(fold.test) for fold in self.folds])[:-1]
        by_fold = zip(*(np.split(scores, ends) for scores in candidates), strict=True)
        return [
            RankedFold.of(fold, self.s[fold.test], scores)
            for fold, scores in zip(self.folds, by_fold, strict=True)
        ]

    def _belong_to(self, scores: FloatVector, trial: Trial) -> bool:
        """Whether scores are those of a trial; the file may be left over from an earlier study."""
        ends = np.cumsum([len(fold.test) for fold in self.folds])[:-1]
        # On all rows: where a fold has very many, ranks are taken on a sample of them.
        values = [
            fold_aul(share_below(own[~self.s[fold.test]], own[self.s[fold.test]]), fold)
            for fold, own in zip(self.folds, np.split(scores, ends), strict=True)
        ]
        return abs(float(np.mean(values)) - (trial.value or 0.0)) < _VALUE_TOLERANCE

    def _read(self, number: int) -> FloatVector | None:
        """Return the scores in a file, one per test row of the folds; None without a sound file."""
        try:
            scores = np.load(scores_file(self.folder, number), allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return None
        n_rows = sum(len(fold.test) for fold in self.folds)
        is_whole = scores.shape == (n_rows,) and scores.dtype == np.float32
        return scores if is_whole and np.isfinite(scores).all() else None


@dataclass(frozen=True)
class ModelChoice:
    """The trials that the tuned model is made of, and what blending them gains.

    Attributes:
        best: number of the best single trial.
        weights: of the chosen trials, by number; a single one has weight 1.
        value: AUL_PU of the choice on the folds that chose it; optimistic.
        gain: of the blend over the best single trial, on folds that chose for neither; None where it is not known.
        why_single: why the model is a single trial, as a phrase; empty for a blend.
    """

    best: int
    weights: Mapping[int, int]
    value: float
    gain: Gain | None = None
    why_single: str = ""

    @property
    def is_blend(self) -> bool:
        """Whether the model consists of several trials."""
        return len(self.weights) > 1

    @property
    def sentence(self) -> str:
        """What the model is, and what blending gains, in one sentence."""
        if not self.is_blend:
            return f"The model is a single trial, number {next(iter(self.weights))}: {self.why_single}."
        made = f"The model is a blend of {len(self.weights)} trials"
        if self.gain is None:
            return f"{made}."
        gain = self.gain
        return (
            f"{made}; on {gain.n_labelled:,} labelled rows of folds that did not choose, blending instead of taking the best "
            f"single trial changes AUL_PU by {gain.difference:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}]."
        )


def choose_model(
    trials: Sequence[Trial],
    scores: OutOfFoldScores,
    seed: Seed,
    *,
    blend: bool = True,
    afford: Callable[[Sequence[int]], Sequence[int]] = lambda numbers: numbers,
    progress: Callable[[float], None] = ignore_progress,
) -> ModelChoice:
    """Return the blend of a search's trials that their out-of-fold scores choose, or the best trial alone.

    Args:
        trials: all trials; at least one saw all folds.
        scores: of the trials.
        seed: of the choice.
        blend: whether a blend may be chosen.
        afford: the numbers of the trials of a blend, the heaviest first -> those that there is time to train.
        progress: is called with the share of the work that is done.
    """
    complete = [trial for trial in trials if trial.is_complete]
    best = min(complete, key=lambda trial: (-(trial.value or 0.0), trial.number))
    single = ModelChoice(best.number, {best.number: 1}, best.value or 0.0)
    if not blend:
        return replace(single, why_single="blending is switched off")
    drafts = _candidates(complete, scores.drafts(complete))
    if len(drafts) < 2:
        return replace(single, why_single="fewer than two trials saw all folds here")
    folds = scores.ranked(list(drafts.values()))
    choose = partial(select_blend, seed=seed)
    weights = choose(folds)
    heaviest = sorted((-weight, number) for number, weight in zip(drafts, weights, strict=True) if weight)
    kept = set(afford([number for _, number in heaviest]))
    is_cut = len(kept) < len(heaviest)
    weights = in_lowest_terms(
        tuple(weight * (number in kept) for number, weight in zip(drafts, weights, strict=True))
    )
    chosen = {number: weight for number, weight in zip(drafts, weights, strict=True) if weight}
    value = mean_value(folds, weights)
    if len(chosen) == 1:
        why = "there was no time to train more" if is_cut else "no blend of trials is better"
        return ModelChoice(best.number, chosen, value, why_single=why)
    # Known for the blend that was chosen, not for what is left of it.
    gain = (
        None if is_cut else held_out_gain(Strategy(folds, choose), Strategy(folds, select_single), progress)
    )
    return ModelChoice(best.number, dict(sorted(chosen.items())), value, gain)


def _candidates(complete: Sequence[Trial], drafts: Mapping[int, FloatVector]) -> dict[int, FloatVector]:
    """Return the trials that may be blended: the best few of each combination of plugins, then the best others.

    A search comes back to the combination that it likes best; a blend gains from those that err on different rows.
    """
    titles = {trial.number: str(trial.configuration) for trial in complete}
    seen: Counter[str] = Counter()
    leading: list[int] = []
    for number in drafts:  # the best first
        seen[titles[number]] += 1
        if seen[titles[number]] <= _OF_EACH_TITLE:
            leading.append(number)
    others = [number for number in drafts if number not in leading]
    return {number: drafts[number] for number in sorted([*leading, *others][:_MAX_BLENDED])}

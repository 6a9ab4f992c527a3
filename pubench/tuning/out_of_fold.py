"""The scores that trials gave rows they were not trained on, as workers left them in files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pubench.tuning.inner import InnerFold
from pubench.tuning.selection import RankedFold, mean_value
from pubench.tuning.study import Trial
from pubench.types import BoolVector, FloatVector

#: A file of scores belongs to a trial if it gives the trial's AUL_PU up to this.
_SAME_VALUE = 1e-3


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Where the scores are; trials of other machines have left none here.

    Attributes:
        folder: of the files.
        folds: on which trials were judged.
        s: which rows of the search are labelled.
    """

    folder: Path
    folds: tuple[InnerFold, ...]
    s: BoolVector

    def drafts(self, trials: Sequence[Trial]) -> dict[int, FloatVector]:
        """Return the scores of trials that saw all folds, the best trial first, by number."""
        complete = [trial for trial in trials if trial.is_complete]
        found: dict[int, FloatVector] = {}
        for trial in sorted(complete, key=lambda trial: (-(trial.value or 0.0), trial.number)):
            scores = self._read(trial.number)
            if scores is not None and self._is_of(scores, trial):
                found[trial.number] = scores
        return found

    def in_full(self, numbers: Sequence[int]) -> dict[int, FloatVector]:
        """Return the scores of finalists that were judged again in full, by the number of their trial."""
        read = {number: self._read(-1 - number) for number in numbers}
        return {number: scores for number, scores in read.items() if scores is not None}

    def ranked(self, scores: Sequence[FloatVector]) -> list[RankedFold]:
        """Return what candidates make of each fold; nothing without candidates."""
        if not scores:
            return []
        ends = np.cumsum([len(fold.test) for fold in self.folds])[:-1]
        pieces = [np.split(one, ends) for one in scores]
        return [
            RankedFold.of(fold, self.s[fold.test], [piece[number] for piece in pieces])
            for number, fold in enumerate(self.folds)
        ]

    def _is_of(self, scores: FloatVector, trial: Trial) -> bool:
        """Whether scores are those of a trial: the file of an earlier study may have stayed behind."""
        return abs(mean_value(self.ranked([scores]), (1,)) - (trial.value or 0.0)) < _SAME_VALUE

    def _read(self, number: int) -> FloatVector | None:
        """Return the scores in a file, one per test row of the folds; None where there are none."""
        try:
            scores = np.load(self.folder / f"scores-{number}.npy", allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return None
        whole = scores.shape == (sum(len(fold.test) for fold in self.folds),) and scores.dtype == np.float32
        return scores if whole and np.isfinite(scores).all() else None

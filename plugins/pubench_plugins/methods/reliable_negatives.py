"""Reliable negatives by spies: labelled rows are hidden among the unlabeled ones; what scores below them is negative."""

from dataclasses import dataclass
from math import ceil

import numpy as np
import numpy.typing as npt

from pubench import FloatVector, IndexVector, NotApplicableError, PUData, Resources, Seed, Tags, Trainer

#: The largest number of draws of spies, however few there are.
_MOST_DRAWS = 10


@dataclass(frozen=True)
class SpyDraws:
    """Parameters of the draws of spies.

    Attributes:
        share: of the labelled rows that are spies at a time; at least one is, and one is not.
        tolerance: the share of spies that may score at or below a reliable negative.
        folds: unlabeled rows and spies are scored by models that were trained without them.
    """

    share: float = 0.15
    tolerance: float = 0.05
    folds: int = 3

    def count(self, n_labelled: int) -> int:
        """Return the number of spies in a draw."""
        return min(max(1, round(self.share * n_labelled)), n_labelled - 1)

    def draws(self, n_labelled: int) -> int:
        """Return the number of draws: enough for 1/tolerance spies in all, at most ten.

        With fewer spies the lowest one alone would decide.
        """
        enough = ceil(1 / self.tolerance / self.count(n_labelled))
        return min(enough, _MOST_DRAWS)


def spies_below(spies: FloatVector, scores: FloatVector) -> npt.NDArray[np.int64]:
    """Return for each score the number of spies' scores that do not exceed it."""
    return np.asarray(np.searchsorted(np.sort(spies), scores, "right"), dtype=np.int64)


def are_reliable(below: npt.NDArray[np.int64], n_spies: int, tolerance: float) -> npt.NDArray[np.bool_]:
    """Return which rows are reliable negatives: at most the share `tolerance` of the spies does not exceed them.

    With one draw that is a threshold: the spies in ascending order, without the lowest `tolerance` of them, begin with
    it, and rows strictly below are reliable.
    """
    return np.asarray(below <= np.floor(tolerance * n_spies + 1e-9))


def reliable_negatives(
    trainer: Trainer, data: PUData, spy_draws: SpyDraws, seed: Seed, resources: Resources
) -> IndexVector:
    """Return the unlabeled rows that hardly any spy scores as low as, ascending.

    Each draw makes some labelled rows spies, trains the others against unlabeled rows and spies, fold by fold, and
    counts spies below each row; the counts of all draws add up.

    Raises:
        NotApplicableError: fewer than two labelled or unlabeled rows, or no row is reliable.
    """
    if data.n_labelled < 2 or data.X.n_rows - data.n_labelled < 2:
        raise NotApplicableError("Spies need two labelled and two unlabeled rows at least.")
    draws = spy_draws.draws(data.n_labelled)
    all_drawn = [_SpyDraw.of(data, spy_draws, seed.child("spies", number)) for number in range(draws)]

    def tags_of(job: int) -> Tags:
        draw, fold = divmod(job, spy_draws.folds)
        return all_drawn[draw].tags(data, fold)

    models = list(trainer.members(tags_of, draws * spy_draws.folds, seed, resources))
    below = np.zeros(data.X.n_rows, dtype=np.int64)
    for number, draw in enumerate(all_drawn):
        scores = np.empty(data.X.n_rows)
        for fold in range(spy_draws.folds):
            rows = np.flatnonzero(draw.fold == fold)
            model = models[number * spy_draws.folds + fold]
            scores[rows] = model.predict(trainer.X.take(rows), resources)
        below += spies_below(scores[draw.spies], scores)
    reliable = ~data.s & are_reliable(below, draws * spy_draws.count(data.n_labelled), spy_draws.tolerance)
    if not reliable.any():
        raise NotApplicableError("No unlabeled row scores below the spies; a higher tolerance may find some.")
    return np.flatnonzero(reliable)


@dataclass(frozen=True, eq=False)
class _SpyDraw:
    """One draw of spies.

    Attributes:
        spies: their row numbers.
        fold: shape (n_rows,): the fold of each unlabeled row and spy; -1 for other labelled rows, always trained on.
    """

    spies: IndexVector
    fold: npt.NDArray[np.int64]

    @classmethod
    def of(cls, data: PUData, spy_draws: SpyDraws, seed: Seed) -> "_SpyDraw":
        generator = seed.generator()
        labelled = generator.permutation(np.flatnonzero(data.s))
        spies = labelled[: spy_draws.count(data.n_labelled)]
        fold = np.full(data.X.n_rows, -1)
        for rows in (spies, generator.permutation(np.flatnonzero(~data.s))):
            fold[rows] = np.arange(len(rows)) % spy_draws.folds
        return cls(spies, fold)

    def tags(self, data: PUData, fold: int) -> Tags:
        positive = data.s.astype(np.float64)
        positive[self.spies] = 0.0
        return Tags(positive, (self.fold != fold).astype(np.float64))

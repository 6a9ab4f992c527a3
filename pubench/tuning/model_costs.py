"""What the final models of a run cost in seconds, judging by the trials of its search.

    rows of the search -> default, twin
    all rows           -> the shipped model, and scores of its rows by drafts that were not trained on them

A final model that has less time than its draft took would be weaker than what the search judged. So the time for drafts, and
for what cannot be cut, is set aside; what is left beyond gives ensembles more members.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pubench.crossfit.cross_fit import own_fold_size
from pubench.crossfit.folds import GROWTH, InnerFold
from pubench.tuning.trial import Trial
from pubench.types import PUData

#: A smaller share of the rows is no model of them.
_MIN_SHARE = 0.01


@dataclass(frozen=True)
class ModelCosts:
    """Seconds that final models need about.

    Attributes:
        default, twin, shipped: for their drafts; of `shipped` 0 if the twin is shipped.
        relating: for the similarity of the rows of the shipped model; 0 without one.
        own_scores: for the scores of the rows of the shipped model by drafts that were not trained on them.
        is_blend: the model is cross-fitted before its parts are trained; a single one is afterwards.
        refits: the shipped model is trained anew, on all rows.
    """

    default: float
    twin: float
    shipped: float
    relating: float
    own_scores: float
    is_blend: bool
    refits: bool

    @property
    def twin_needs(self) -> float:
        """What training the twin takes in any case."""
        return self.twin + self.own_scores * (self.is_blend and not self.refits)

    @property
    def after_twin(self) -> float:
        """What comes after the twin in any case."""
        if self.refits:
            return self.relating + self.own_scores + self.shipped
        return self.own_scores * (not self.is_blend)

    @property
    def shipped_needs(self) -> float:
        """What training the shipped model takes in any case."""
        return self.relating + self.shipped + self.own_scores * self.is_blend

    @property
    def after_shipped(self) -> float:
        """What comes after the shipped model in any case."""
        return self.own_scores * (not self.is_blend)

    def trainable_share(self, seconds: float) -> float:
        """Return the share of the rows that all models can be trained on in this time, be they as small as drafts."""
        training = self.default + self.twin + self.shipped
        left = seconds - self.relating - self.own_scores
        if training <= left:
            return 1.0
        return float(max(_MIN_SHARE, (max(0.0, left) / training) ** (1 / GROWTH)))

    def on_share(self, share: float) -> "ModelCosts":
        """Return the costs on this share of the rows; similarities and own scores are counted as before."""
        times = share**GROWTH
        return replace(
            self, default=times * self.default, twin=times * self.twin, shipped=times * self.shipped
        )


@dataclass(frozen=True, eq=False)
class CostEstimate:
    """Estimates costs from the trials of a search.

    Attributes:
        trials: all trials, by number.
        folds: on which they were judged.
        searched: the rows of the search.
        shipped: the rows of the shipped model.
        refits: the shipped model is trained anew.
    """

    trials: Sequence[Trial]
    folds: Sequence[InnerFold]
    searched: PUData
    shipped: PUData
    refits: bool

    def costs(self, parts: Sequence[Trial], default: Sequence[Trial]) -> ModelCosts:
        """Return the costs of a model that consists of these parts, and of the default, if there is one."""
        relates = any(trial.configuration.parts.similarity is not None for trial in parts)
        return ModelCosts(
            default=self._drafts(default, self.searched),
            twin=self._drafts(parts, self.searched),
            shipped=self._drafts(parts, self.shipped) * self.refits,
            relating=relating_seconds(self.trials) * (relates and self.refits),
            own_scores=self._own_scores(parts) + relating_seconds(self.trials) * relates,
            is_blend=len(parts) > 1,
            refits=self.refits,
        )

    def part(self, trial: Trial, per_draft: float) -> float:
        """Return what a trial costs as one of several parts that get this multiple of the time of their drafts."""
        trained = self._drafts([trial], self.searched) + self._drafts([trial], self.shipped) * self.refits
        return self._own_scores([trial]) + per_draft * trained

    def _drafts(self, trials: Sequence[Trial], rows: PUData) -> float:
        return sum(self.folds[0].seconds_for(rows.X.n_rows, trial.last_fold) for trial in trials)

    def _own_scores(self, parts: Sequence[Trial]) -> float:
        count, trained = own_fold_size(self.shipped.s)
        return sum(count * self.folds[0].seconds_for(trained, trial.last_fold) for trial in parts)


def relating_seconds(trials: Sequence[Trial]) -> float:
    """Return the seconds that the default took for what folds share: relating and preparing their rows.

    The first trial of a search tells nothing about it: it starts the process.
    """
    known = [trial for trial in trials[:2] if trial.number > 0 and trial.placements]
    shared = (trial.seconds - len(trial.placements) * trial.last_fold for trial in known)
    return max(0.0, max(shared, default=0.0))

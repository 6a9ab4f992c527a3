"""A learner with rows to be checked on."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pubench.ensembles import Trainer
from pubench.plugin_api import Learner, Model
from pubench.seeds import Seed
from pubench.testing.tables import Trial, mixed_trial
from pubench.types import BoolVector, FloatVector, Resources, Table, Tags

_ROWS = 1_000
_ONE = Resources(n_threads=1)


def hard(positive: BoolVector, weight: FloatVector | None = None) -> Tags:
    """Return tags that say who is positive."""
    return Tags(positive.astype(np.float64), weight)


@dataclass(frozen=True, eq=False)
class LearnerSubject:
    """A learner to be checked, and rows as it sees them: with missing values and categories if it takes these."""

    plugin: Learner

    @cached_property
    def trial(self) -> Trial:
        """Rows of all kinds, as they come."""
        return mixed_trial(_ROWS)

    @cached_property
    def trainer(self) -> Trainer:
        """The learner with the rows of the trial; what it does not take went through the embedding."""
        return Trainer.of(self.plugin, self.trial.data.X, _ONE)

    @property
    def X(self) -> Table:  # noqa: N802 - the name of the feature table everywhere
        """The rows as the learner sees them."""
        return self.trainer.X

    @property
    def tags(self) -> Tags:
        """Who is positive."""
        return hard(self.trial.positive)

    def train(self, tags: Tags, seed: int = 0, resources: Resources = _ONE) -> Model:
        """Train on the rows of the trial."""
        return self.trainer.train(tags, Seed(seed), resources)

    def predicted(self, tags: Tags, seed: int = 0) -> FloatVector:
        """Train, and predict the same rows."""
        return self.train(tags, seed).predict(self.X, _ONE)

    @cached_property
    def model(self) -> Model:
        """A model of who is positive, by one thread with seed 0."""
        return self.train(self.tags)

    @cached_property
    def probabilities(self) -> FloatVector:
        """What it predicts for the rows it was trained on."""
        return self.model.predict(self.X, _ONE)

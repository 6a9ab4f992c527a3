"""The naive method: take unlabeled for negative."""

from dataclasses import dataclass

import numpy as np

from pubench import (
    FittedMethod,
    Method,
    Model,
    NotApplicableError,
    Parts,
    PUData,
    Resources,
    Scores,
    Seed,
    Table,
    Tags,
)


@dataclass(frozen=True)
class FittedNaive(FittedMethod):
    """One model that tells labelled from unlabeled rows."""

    model: Model

    def score(self, X: Table, resources: Resources) -> Scores:
        """Return P(labelled) of each row; under SCAR it orders rows as P(positive) does."""
        return Scores(self.model.predict(X, resources))


class Naive(Method):
    """Unlabeled rows as negatives: the control that every PU method has to beat."""

    name = "naive"

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedNaive:
        """Train the learner once, on s itself."""
        if parts.learner is None:
            raise NotApplicableError("The naive method needs a learner.")
        prepared = parts.learner.prepare(data.X, resources)
        return FittedNaive(parts.learner.train(prepared, Tags(data.s.astype(np.float64)), seed, resources))

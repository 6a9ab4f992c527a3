"""The naive method: unlabeled rows count as negative."""

import numpy as np

from pubench import Ensemble, FittedEnsemble, Method, Parts, PUData, Resources, Seed, Tags


class Naive(Method):
    """Unlabeled rows as negatives: the control that every PU method has to beat."""

    name = "naive"

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedEnsemble:
        """Train the learner once, on s itself; under SCAR P(labelled) orders rows as P(positive) does."""
        trainer = parts.trainer(data.X, resources)
        model = trainer.train(Tags(data.s.astype(np.float64)), seed, resources)
        return FittedEnsemble(Ensemble.of(trainer, [model], resources))

"""The oracle: the learner trained on all true labels, a ceiling."""

import numpy as np

from pubench import Ensemble, FittedEnsemble, Method, Parts, PUData, Resources, Seed, Tags


class Oracle(Method):
    """All positives labelled: the ceiling, where truth is known; no PU method."""

    name = "oracle"
    searched = False  # no PU method
    wants_all_labels = True

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedEnsemble:
        """Train the learner once on the labels as they are; an evaluation passes complete ones."""
        trainer = parts.trainer(data.X, resources)
        model = trainer.train(Tags(data.s.astype(np.float64)), seed, resources)
        decided = {"expected_positives": float(data.n_labelled)}
        return FittedEnsemble(Ensemble.of(trainer, [model], resources), decided)

"""Elkan and Noto 2008, second half: every unlabeled row enters twice, as a positive and as a negative one."""

import numpy as np

from pubench import (
    Ensemble,
    FittedEnsemble,
    FloatVector,
    Method,
    NotApplicableError,
    Parts,
    PUData,
    Resources,
    Seed,
    Tags,
    labelling_chance,
)
from pubench_plugins.methods.elkan import CHANCE_SPACE
from pubench_plugins.methods.out_of_fold import out_of_fold


def positive_share(g: FloatVector, c: float) -> FloatVector:
    """Return P(y=1|x, s=0) = ((1 - c) / c) g / (1 - g), cut to [0, 1]: shape of `g`.

    Args:
        g: P(s=1|x) of unlabeled rows.
        c: the chance of a positive to be labelled.
    """
    if c == 1:
        return np.zeros_like(g)
    with np.errstate(divide="ignore"):
        return np.minimum((1 - c) / c * g / (1 - g), 1.0)


class ElkanWeighted(Method):
    """Unlabeled rows as positives and negatives at once, weighted by their chance to be a hidden positive."""

    name = "elkan-weighted"
    space = CHANCE_SPACE

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedEnsemble:
        """Weight rows by scores out of fold, and train once on all of them."""
        trainer = parts.trainer(data.X, resources)
        g = out_of_fold(trainer, data, self.params["folds"], seed.child("g"), resources.part(0.0, 0.8))
        c = labelling_chance(data.s, g, self.params["estimator"])
        share = np.where(data.s, 1.0, positive_share(g, c))
        if np.all(share == 1):
            raise NotApplicableError(
                "No unlabeled row scores below the labelled ones; none is left as negative."
            )
        model = trainer.train(Tags(share), seed, resources)
        decided = {"c": c, "expected_positives": float(share.sum())}
        return FittedEnsemble(Ensemble.of(trainer, [model], resources), decided)

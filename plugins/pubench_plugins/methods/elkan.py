"""Elkan and Noto 2008, first half: P(labelled) divided by the chance of a positive to be labelled."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np

from pubench import (
    Choice,
    DataError,
    Ensemble,
    FittedEnsemble,
    Int,
    Method,
    Parts,
    PUData,
    Resources,
    Scores,
    Seed,
    Table,
    Tags,
    labelling_chance,
)
from pubench_plugins.methods.out_of_fold import out_of_fold

#: How c, the chance of a positive to be labelled, is estimated.
CHANCE_SPACE: Mapping[str, Choice | Int] = {
    "estimator": Choice(
        ("e1", "e2", "e3"),
        default="e1",
        help="of c: mean g of labelled rows, their share of all g, or the largest g",
    ),
    "folds": Int(2, 10, default=5, tuned=False, help="folds of the scores that c is estimated on"),
}


@dataclass(frozen=True, eq=False)
class FittedElkan(FittedEnsemble):
    """A model of g = P(s=1|x), and c.

    Attributes:
        c: the estimated chance of a positive to be labelled, in (0, 1]; it is among what was decided.
    """

    c: float = 1.0

    def score(self, X: Table, resources: Resources) -> Scores:
        """Return g / c, an estimate of P(y=1|x); not cut at 1, which would tie the rows at the top."""
        return Scores(self.ensemble.predict(X, resources) / self.c)

    @classmethod
    def load(cls, folder: Path, parts: Parts) -> Self:
        """Read back what `save` wrote; raises `DataError` for anything else."""
        fitted = super().load(folder, parts)
        c = fitted.decided.get("c")
        if isinstance(c, bool) or not isinstance(c, int | float) or not 0 < c <= 1:
            raise DataError(f"{folder} does not hold the chance c of a positive to be labelled.")
        return replace(fitted, c=float(c))


class Elkan(Method):
    """P(labelled) by the chance of a positive to be labelled: orders rows as naive does, and counts positives."""

    name = "elkan"
    searched = False  # orders rows as naive does
    space = CHANCE_SPACE

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedElkan:
        """Estimate c on scores out of fold, and train g on all rows."""
        trainer = parts.trainer(data.X, resources)
        g = out_of_fold(trainer, data, self.params["folds"], seed.child("g"), resources.part(0.0, 0.8))
        c = labelling_chance(data.s, g, self.params["estimator"])
        model = trainer.train(Tags(data.s.astype(np.float64)), seed, resources)
        decided = {"c": c, "expected_positives": data.n_labelled / c}
        return FittedElkan(Ensemble.of(trainer, [model], resources), decided, c)

    def load(self, folder: Path, parts: Parts) -> FittedElkan:
        """Read back what `FittedElkan.save` wrote."""
        return FittedElkan.load(folder, parts)

"""Two steps (Liu et al. 2002, 2003): reliable negatives by spies, then a classifier that adds to them until none is left."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pubench import (
    Choice,
    Ensemble,
    FittedEnsemble,
    Float,
    IndexVector,
    Int,
    Method,
    Model,
    Parts,
    PUData,
    Resources,
    Seed,
    Tags,
    Trainer,
)
from pubench_plugins.methods.reliable_negatives import SpyDraws, reliable_negatives

#: The first classifier is selected if the last one takes more than this share of the labelled rows for negative.
_MOST_REJECTED = 0.05


@dataclass(frozen=True, eq=False)
class FittedLiu(FittedEnsemble):
    """The selected classifier, and its reliable negatives.

    Attributes:
        reliable_negatives: ascending row numbers of the negatives that score below the spies; None in a model that was read
            from files.
    """

    reliable_negatives: IndexVector | None = None


@dataclass(frozen=True, eq=False)
class _Classifier:
    """A model of labelled rows against negatives; rows that score below `cut` are classified as negative."""

    model: Model
    cut: float


class Liu(Method):
    """Two steps: spies find reliable negatives, and a classifier adds to them what it takes for negative."""

    name = "liu"
    space = {
        "spies": Float(0.05, 0.5, default=0.15, help="share of labelled rows that spy at a time"),
        "tolerance": Float(
            0.01, 0.3, default=0.05, log=True, help="share of spies that may score below a reliable negative"
        ),
        "cut": Choice(
            ("balanced", "half"),
            default="balanced",
            help="negative is below the share of positives in training, or below one half",
        ),
        "folds": Int(2, 10, default=3, tuned=False, help="folds of the scores that spies are compared on"),
        "iterations": Int(
            1, 50, default=10, log=True, tuned=False, help="trainings of the second step at most"
        ),
    }

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedLiu:
        """Send spies, then classify until nothing moves; keep the first classifier if the last one went astray."""
        trainer = parts.trainer(data.X, resources)
        spying = SpyDraws(self.params["spies"], self.params["tolerance"], self.params["folds"])
        reliable = reliable_negatives(trainer, data, spying, seed.child("step-1"), resources.part(0.0, 0.6))
        steps = list(self._second_step(trainer, data, reliable, seed.child("step-2"), resources))
        selected = steps[-1]
        labelled = trainer.X.take(np.flatnonzero(data.s))
        if np.mean(selected.model.predict(labelled, resources) < selected.cut) > _MOST_REJECTED:
            selected = steps[0]
        positive = selected.model.predict(trainer.X, resources) >= selected.cut
        decided = {
            "reliable_negatives": len(reliable),
            "iterations": len(steps),
            "kept": "last" if selected is steps[-1] else "first",
            # No estimate of how many positives there are: at even odds many negatives are among them.
            "classified_positive": int(positive.sum()),
        }
        return FittedLiu(Ensemble.of(trainer, [selected.model], resources), decided, reliable)

    def load(self, folder: Path, parts: Parts) -> FittedLiu:
        """Read back what `FittedLiu.save` wrote."""
        return FittedLiu.load(folder, parts)

    def _second_step(
        self, trainer: Trainer, data: PUData, reliable: IndexVector, seed: Seed, resources: Resources
    ) -> Iterator[_Classifier]:
        """Yield the classifiers, each trained against the negatives that those before it have found."""
        negative = np.zeros(data.X.n_rows, dtype=np.bool_)
        negative[reliable] = True
        for number in range(self.params["iterations"]):
            classifier = self._against(trainer, data, negative, seed.child("iteration", number), resources)
            yield classifier
            rest = np.flatnonzero(~data.s & ~negative)
            moved = rest[classifier.model.predict(trainer.X.take(rest), resources) < classifier.cut]
            if not len(moved):
                return
            negative[moved] = True
            resources.progress(0.6 + 0.4 * (number + 1) / self.params["iterations"])

    def _against(
        self,
        trainer: Trainer,
        data: PUData,
        negative: npt.NDArray[np.bool_],
        seed: Seed,
        resources: Resources,
    ) -> _Classifier:
        tags = Tags(data.s.astype(np.float64), (data.s | negative).astype(np.float64))
        # At one positive in a thousand rows hardly any row reaches one half, and all would be negative at once.
        share = data.n_labelled / (data.n_labelled + int(negative.sum()))
        cut = 0.5 if self.params["cut"] == "half" else share
        return _Classifier(trainer.train(tags, seed, resources), cut)

"""BaggingPU (Mordelet and Vert 2014): labelled rows against small random bags of unlabeled ones, and the mean."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pubench import (
    DataError,
    Ensemble,
    FittedEnsemble,
    Float,
    FloatVector,
    Int,
    Method,
    Parts,
    PUData,
    Resources,
    Seed,
    Tags,
    Trainer,
)


@dataclass(frozen=True, eq=False)
class Bags:
    """The rows that each member was trained on.

    Attributes:
        trainer: what trained them; its `X` holds the rows.
        rows: a vector of row numbers for each member, ascending; the labelled rows are in all of them.
    """

    trainer: Trainer
    rows: tuple[npt.NDArray[np.int64], ...]


@dataclass(frozen=True, eq=False)
class FittedBagging(FittedEnsemble):
    """The ensemble, and its bags.

    Attributes:
        bags: the rows that members were trained on; None in a model that was read from files.
    """

    bags: Bags | None = None

    def out_of_bag(self, resources: Resources) -> FloatVector:
        """Return for each training row the mean over members that were not trained on it: the transductive score.

        Shape (n_rows,); NaN for rows that are in every bag, as labelled ones do.

        Raises:
            DataError: the model was read from files, which do not hold the training rows.
        """
        if self.bags is None:
            raise DataError("Out-of-bag scores need the training rows; a model read from files has none.")
        X = self.bags.trainer.X
        total, count = np.zeros(X.n_rows), np.zeros(X.n_rows)
        for member, rows in zip(self.ensemble.members, self.bags.rows, strict=True):
            out = np.ones(X.n_rows)
            out[rows] = 0.0
            total += out * member.predict(X, resources)
            count += out
        mean = np.full(X.n_rows, np.nan)
        np.divide(total, count, out=mean, where=count > 0)
        return mean


def bag_tags(data: PUData, ratio: float, seed: Seed, member: int) -> Tags:
    """Return the tags of one member: labelled rows against unlabeled ones drawn with replacement.

    `ratio` draws per labelled row, rounded, at least one; a row weighs as often as it was drawn.
    """
    unlabeled = np.flatnonzero(~data.s)
    draws = max(1, round(ratio * data.n_labelled))
    drawn = seed.child("bag", member).generator().integers(0, len(unlabeled), draws)
    weight = data.s.astype(np.float64)
    weight[unlabeled] = np.bincount(drawn, minlength=len(unlabeled))
    return Tags(data.s.astype(np.float64), weight)


class Bagging(Method):
    """Labelled rows against random bags of as many unlabeled rows, drawn again for each of many models; their mean."""

    name = "bagging"
    space = {
        "members": Int(1, 1000, default=50, log=True, tuned=False, draft=5, help="models in the ensemble"),
        "ratio": Float(
            0.5, 200.0, default=1.0, log=True, help="unlabeled rows drawn for a bag, per labelled row"
        ),
    }

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedBagging:
        """Draw bags, train, average."""
        trainer = parts.trainer(data.X, resources)

        def tags_of(member: int) -> Tags:
            return bag_tags(data, self.params["ratio"], seed, member)

        members = list(trainer.members(tags_of, self.params["members"], seed, resources, fewest=1))
        count = len(members)
        bags = Bags(trainer, tuple(tags_of(member).counted for member in range(count)))
        return FittedBagging(Ensemble.of(trainer, members, resources), {"members": count}, bags)

    def load(self, folder: Path, parts: Parts) -> FittedBagging:
        """Read back what `FittedBagging.save` wrote."""
        return FittedBagging.load(folder, parts)

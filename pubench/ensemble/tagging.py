"""Step 1 of ProbTagging, second half: from similarities to the labels that member j is trained on."""

from dataclasses import dataclass

import numpy as np

from pubench.errors import ParameterError
from pubench.seeds import Seed
from pubench.types import Affinity, BoolVector, FloatVector, Tags

#: The largest chance of an unlabeled row: below 1, the chance of a labelled one.
_ALMOST_SURE = float(np.nextafter(1.0, 0.0))


@dataclass(frozen=True)
class Tagging:
    """Parameters of tagging; the defaults are the paper's.

    Attributes:
        soft: an unlabeled row is positive by its share, Cred, instead of by chance.
        negatives: number of negatives per positive that are drawn for each member; None: all of them are used.
        cap: largest expected number of rows tagged positive per labelled one; where there would be more, all chances are
            scaled down. None: no limit.
    """

    soft: bool = False
    negatives: float | None = None
    cap: float | None = None

    def __post_init__(self) -> None:
        for name in ("negatives", "cap"):
            value = getattr(self, name)
            if value is not None and not 0 < value < np.inf:
                raise ParameterError(f"'{name}' is a number per labelled positive, above 0; got {value}.")

    def chances(self, s: BoolVector, affinity: Affinity) -> FloatVector:
        """Return the chance of each row to be tagged positive: 1 for labelled rows, less for others; shape (n_rows,)."""
        expected = affinity.expected_positives
        most = np.inf if self.cap is None else self.cap * int(s.sum())
        shrink = most / expected if expected > most else 1.0
        return np.where(s, 1.0, np.minimum(shrink * affinity.values, _ALMOST_SURE))


def member_tags(chances: FloatVector, tagging: Tagging, seed: Seed, member: int) -> Tags:
    """Return the tags of one member; they depend on `seed` and its number, not on other members.

    Args:
        chances: what `Tagging.chances` returned.
        tagging: how to tag.
        seed: of the ensemble.
        member: its number, from 0.
    """
    generator = seed.child("tags", member).generator()
    if tagging.soft:
        positive = chances.copy()
    else:
        positive = (generator.random(len(chances)) < chances).astype(np.float64)
    if np.all(positive == 1):  # a learner needs two classes: the least similar row stays negative
        positive[np.argmin(chances)] = 0.0
    if tagging.negatives is None:
        return Tags(positive)
    count = round(tagging.negatives * positive.sum())
    candidates = np.flatnonzero(positive < 1)
    weight = (positive > 0).astype(np.float64)
    if count < len(candidates):
        candidates = generator.choice(candidates, max(1, count), replace=False, shuffle=False)
    weight[candidates] = 1.0
    return Tags(positive, weight)

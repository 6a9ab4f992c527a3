"""From similarities to members: the second half of ProbTagging's Step 1, and Steps 2 and 3.

    similarities -> chance of each row -> tags of member j -> member j -> have they converged? -> their mean

Whether an ensemble has converged is estimated from the scores of its members, without labels.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from pubench.api.plugin import Model
from pubench.api.trainer import Trainer
from pubench.errors import ParameterError
from pubench.seeds import Seed
from pubench.types import Affinity, BoolVector, FloatVector, Resources, Table, Tags

#: The largest chance of an unlabeled row: below 1, the chance of a labelled one.
_ALMOST_SURE = float(np.nextafter(1.0, 0.0))
#: Ranks of at most this number of rows are compared; more would not change the result.
_RANKED_ROWS = 20_000
#: With fewer members, the estimate of their variance is too rough.
_FEWEST_MEMBERS = 5


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


def train_members(
    trainer: Trainer,
    s: BoolVector,
    affinity: Affinity,
    tagging: Tagging,
    count: int,
    seed: Seed,
    resources: Resources,
) -> Iterator[Model]:
    """Yield members 0 to `count` - 1, each trained on a tagging of its own, or fewer after the deadline.

    See `Trainer.members`.
    """
    chances = tagging.chances(s, affinity)

    def tags_of(member: int) -> Tags:
        return member_tags(chances, tagging, seed, member)

    return trainer.members(tags_of, count, seed, resources, fewest=1)


def until_settled(
    members: Iterator[Model], trainer: Trainer, enough: float, resources: Resources
) -> Iterator[Model]:
    """Yield members until the order of rows by their mean is as reliable as `enough`; see `Convergence`."""
    # One thread, like the members that are trained meanwhile: some libraries have one number of threads per process.
    convergence = Convergence(trainer.X, replace(resources, n_threads=1))
    for member in members:
        yield member
        convergence.add(member)
        if convergence.reliability >= enough:
            return


class Convergence:
    """Estimates how reliably the mean rank over members orders rows.

    The order that infinitely many members would give is the signal; the variance between members, divided by their
    number, is the noise that is left in their mean. Reliability is 1 less the ratio of the two variances (Cronbach's alpha): the
    squared correlation of the mean with that final order.

    Args:
        X: the rows as the learner sees them; an even sample of them is used.
        resources: for predictions.
    """

    def __init__(self, X: Table, resources: Resources) -> None:
        self._rows = X.take(np.arange(0, X.n_rows, -(-X.n_rows // _RANKED_ROWS)))
        self._resources = resources
        self._count = 0
        self._sum = np.zeros(self._rows.n_rows)
        self._squares = np.zeros(self._rows.n_rows)

    def add(self, member: Model) -> None:
        """Add one more member."""
        ranks = _ranks(member.predict(self._rows, self._resources))
        self._count += 1
        self._sum += ranks
        self._squares += ranks**2

    @property
    def reliability(self) -> float:
        """In [0, 1]; 0 as long as there are too few members."""
        if self._count < _FEWEST_MEMBERS:
            return 0.0
        means = self._sum / self._count
        noise = float(np.mean(self._squares / self._count - means**2)) / (self._count - 1)
        observed = float(np.var(means))
        return 1.0 if observed == 0 else max(0.0, 1 - noise / observed)


def _ranks(values: FloatVector) -> FloatVector:
    from scipy.stats import rankdata  # noqa: PLC0415 - heavy imports happen when used

    return np.asarray(rankdata(values) / len(values))

"""Whether an ensemble has converged: estimated from the scores of its members, without labels."""

import numpy as np

from pubench.api.plugin import Model
from pubench.types import FloatVector, Resources, Table

#: Ranks of at most this number of rows are compared; more would not change the result.
_ROWS = 20_000
#: With fewer members, the estimate of their variance is too rough.
_FEWEST = 5


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
        self._rows = X.take(np.arange(0, X.n_rows, -(-X.n_rows // _ROWS)))
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
        if self._count < _FEWEST:
            return 0.0
        means = self._sum / self._count
        noise = float(np.mean(self._squares / self._count - means**2)) / (self._count - 1)
        observed = float(np.var(means))
        return 1.0 if observed == 0 else max(0.0, 1 - noise / observed)


def _ranks(values: FloatVector) -> FloatVector:
    from scipy.stats import rankdata  # noqa: PLC0415 - heavy imports happen when used

    return np.asarray(rankdata(values) / len(values))

"""Whom to call, as a run answers it: what a person asks, and the number of hidden positives that the answer rests on."""

from dataclasses import dataclass

from pubench.decision.call_list import DEPTHS, Depth
from pubench.decision.hidden_positives import Hidden, Withheld, estimate_hidden, hidden_from_prior
from pubench.decision.profit import check_gain_and_cost
from pubench.errors import DataError, ParameterError
from pubench.metrics.prior_corrected import Prior
from pubench.seeds import Seed
from pubench.tuning.final_models import ShippedModel
from pubench.types import PUData


@dataclass(frozen=True)
class CallRequest:
    """What a person asks about the call list; the search does not depend on it.

    Attributes:
        prior: the share of positives among all rows, or (low, central, high); None: hidden positives are estimated.
        top: numbers of rows to show beside the usual depths.
        gain, cost: what a positive brings, and what each call costs; both or neither.

    Raises:
        ParameterError: a value is out of its range.
    """

    prior: Prior | None = None
    top: tuple[int, ...] = ()
    gain: float | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        if any(number < 1 for number in self.top):
            raise ParameterError(f"--top is a number of rows, at least 1; got {min(self.top)}.")
        if (self.gain is None) != (self.cost is None):
            raise ParameterError(
                "--gain and --cost belong together: what a positive brings, and what each call costs."
            )
        if self.gain is not None and self.cost is not None:
            check_gain_and_cost(self.gain, self.cost)

    @property
    def depths(self) -> tuple[Depth, ...]:
        """The depths of the call table."""
        return (*DEPTHS, *self.top)

    def check(self, data: PUData) -> None:
        """Raise `DataError` or `ParameterError` if these rows have no answer, so that it is known before the search."""
        if self.prior is not None:
            hidden_from_prior(self.prior, data.X.n_rows, data.n_labelled)
        deepest = max(self.top, default=0)
        if deepest > n_unlabeled(data):
            raise DataError(f"--top {deepest:,} is more than the {n_unlabeled(data):,} unlabeled rows.")


def hidden_positives(prior: Prior | None, data: PUData, shipped: ShippedModel, seed: Seed) -> Hidden:
    """Return the number of positives among the unlabeled ones of all rows, or why it is withheld.

    Args:
        prior: as in `CallRequest`.
        data: all rows of the run.
        shipped: without a prior, it is estimated from the scores of its rows by models that were not trained on them.
        seed: of the run.
    """
    if prior is not None:
        return hidden_from_prior(prior, data.X.n_rows, data.n_labelled)
    if shipped.own_scores is None:
        return Withheld("An estimate needs at least two labelled rows; give a prior.")
    found = estimate_hidden(shipped.data.s, shipped.own_scores, seed.child("hidden positives"))
    return found.scaled(n_unlabeled(data) / n_unlabeled(shipped.data))


def n_unlabeled(data: PUData) -> int:
    """Return the number of unlabeled rows."""
    return data.X.n_rows - data.n_labelled

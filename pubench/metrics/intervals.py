"""Confidence intervals of AUL_PU.

The target is the area under the lift curve in the population that the rows come from, under SCAR. For the truth of
just these rows (the paper's AUL_PN) the intervals are on the safe side, the more so the larger the labelled share of
the positives.

Everything is computed against the unlabeled rows, AUC_PU, and mapped by AUL_PU = a/2 + (1 - a) AUC_PU: among each
other, positives win 1/2 on average by definition, so there is nothing to estimate.

Variances count one placement more than there is, without information (1/2; a difference of 0). A good model's failures are
rare: among 50 positives there may be none, and the plain formula then claims a precision it does not have (simulated
at AUC .97: 91% coverage). The extra placement has the weight 1/n_labelled, as in Agresti and Coull's intervals for shares,
and corrects that; `benchmarks/aul_coverage.py` prints the figures.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit, ndtri, stdtrit

from pubench.errors import ParameterError, suggestion
from pubench.metrics.aul import LiftCurve, aul_from_auc_pu
from pubench.metrics.ranks import Label, Placed, check_and_place
from pubench.seeds import Seed
from pubench.types import FloatVector

Method: TypeAlias = Literal["placement", "bootstrap"]

FEW_LABELLED = 20
_RESAMPLED_CELLS = 2_000_000  # keeps the bootstrap's working memory near 50 MB whatever n_labelled is


@dataclass(frozen=True)
class AULInterval:
    """AUL_PU and its confidence interval.

    Attributes:
        estimate: AUL_PU, as `aul_pu_score` returns it.
        low: lower bound; 0 <= low <= estimate.
        high: upper bound; estimate <= high <= 1.
        stderr: standard error of the estimate; finite.
        n_labelled: number of labelled positives, on which the precision depends.
        confidence: the share of such intervals that contain the true value.
        note: a warning for the reader, one or two sentences; empty when there is none.
    """

    estimate: float
    low: float
    high: float
    stderr: float
    n_labelled: int
    confidence: float
    note: str


class SensitivityBand(NamedTuple):
    """Pointwise bounds of a lift curve, one per vertex."""

    low: FloatVector
    high: FloatVector


def aul_pu_interval(
    s: npt.ArrayLike,
    scores: npt.ArrayLike,
    confidence: float = 0.95,
    *,
    method: Method = "placement",
    n_resamples: int = 2000,
    random_state: int = 0,
    pos_label: Label | None = None,
) -> AULInterval:
    """Return AUL_PU with a confidence interval that stays in [0, 1] and always contains the estimate.

    - "placement": the variance of a two-sample U statistic (DeLong et al. 1988), var(placements)/n_labelled +
      var(unlabeled rows' shares of positives above them)/n_unlabeled; Student's t on the logit scale. O(n log n).
    - "bootstrap": percentiles over resampled labelled and, apart from them, resampled unlabeled rows. Only the counts
      of rows between positives are drawn: O(n_resamples n_labelled).

    Both add one placement of 1/2, see the module's docstring. A single labelled positive gives the widest interval.

    Args:
        s: shape (n,), labels as in `aul_pu_score`.
        scores: shape (n,), scores as in `aul_pu_score`.
        confidence: between 0 and 1.
        method: "placement" or "bootstrap".
        n_resamples: of the bootstrap.
        random_state: seed of the bootstrap; the same seed gives the same interval.
        pos_label: the value of `s` that marks a labelled positive. None: True or 1.

    Raises:
        DataError: as `aul_pu_score`.
        ParameterError: an argument is out of its range.
    """
    check_confidence(confidence)
    _check_method(method, n_resamples)
    placed = check_and_place(s, scores, pos_label)
    among = _AmongUnlabeled(placed)
    if placed.n_labelled == 1:
        bounds = _Bounds(0.0, 1.0, float(np.sqrt(among.auc * (1 - among.auc))))
    elif method == "placement":
        bounds = _placement_bounds(among, confidence)
    else:
        bounds = _bootstrap_bounds(among, confidence, n_resamples, Seed(random_state).child("bootstrap"))
    estimate = placed.mean_placement
    labelled_share = placed.n_labelled / len(placed.ordered)
    low, high = (aul_from_auc_pu(bound, labelled_share) for bound in bounds[:2])
    return AULInterval(
        estimate=estimate,
        low=min(low, estimate),
        high=max(high, estimate),
        stderr=(1 - labelled_share) * bounds.stderr,
        n_labelled=placed.n_labelled,
        confidence=confidence,
        note=note_on_few(placed.n_labelled),
    )


def sensitivity_band(curve: LiftCurve, n_labelled: int, confidence: float = 0.95) -> SensitivityBand:
    """Return Wilson's score interval of the sensitivity at each vertex of a lift curve.

    Pointwise: each vertex on its own, with n_labelled trials. The share's own sampling error is left out; it is
    smaller by the square root of n_labelled / n.
    """
    check_confidence(confidence)
    z2 = float(ndtri((1 + confidence) / 2)) ** 2
    caught = curve.sensitivity
    centre = (caught + z2 / (2 * n_labelled)) / (1 + z2 / n_labelled)
    spread = np.sqrt(caught * (1 - caught) / n_labelled + z2 / (4 * n_labelled**2))
    half = np.sqrt(z2) * spread / (1 + z2 / n_labelled)
    return SensitivityBand(np.clip(centre - half, 0.0, caught), np.clip(centre + half, caught, 1.0))


class _Bounds(NamedTuple):
    low: float
    high: float
    stderr: float


class _AmongUnlabeled:
    """The labelled positives among the unlabeled rows, as counts: tied positives form one group.

    The k groups cut the unlabeled rows into 2k + 1 cells, ascending: below the first group, tied with it, between it
    and the second, and so on; all rows of a cell have the same share of labelled positives above them.
    """

    def __init__(self, placed: Placed) -> None:
        group = np.flatnonzero(np.diff(placed.first, prepend=-1))
        upto = np.append(group, placed.n_labelled)  # positives before each group, then all
        edges = np.stack([placed.first[group] - upto[:-1], placed.last[group] - upto[1:]], axis=1).ravel()
        self.n_labelled = placed.n_labelled
        self.n_unlabeled = placed.n_unlabeled
        self.positives = np.diff(upto)
        self.cells = np.diff(np.concatenate([[0], edges, [placed.n_unlabeled]]))
        self.placement = _wins_of_groups(self.cells[np.newaxis])[0] / placed.n_unlabeled
        self.share_above = np.empty(len(self.cells))
        self.share_above[0::2] = 1 - upto / placed.n_labelled
        self.share_above[1::2] = 1 - (upto[:-1] + upto[1:]) / (2 * placed.n_labelled)

    @property
    def auc(self) -> float:
        """AUC of labelled against unlabeled rows."""
        return float(self.positives @ self.placement / self.n_labelled)

    @property
    def unlabeled_variance(self) -> float:
        """The unlabeled rows' part of the variance of `auc`."""
        deviation = self.share_above - self.auc
        return float(self.cells @ deviation**2 / self.n_unlabeled**2)


def _wins_of_groups(cells: npt.NDArray[np.int64]) -> FloatVector:
    """Return, for each row of cell counts, the unlabeled rows below each group of positives, ties half."""
    through = np.cumsum(cells, axis=1)
    return (through[:, 0:-1:2] + through[:, 1::2]) / 2


def _placement_bounds(among: _AmongUnlabeled, confidence: float) -> _Bounds:
    m = among.n_labelled
    centre = (m * among.auc + 0.5) / (m + 1)
    squares = among.positives @ (among.placement - centre) ** 2 + (0.5 - centre) ** 2
    stderr = float(np.sqrt(squares / m / m + among.unlabeled_variance))
    reach = stdtrit(m - 1, (1 + confidence) / 2) * stderr / (centre * (1 - centre))
    return _Bounds(float(expit(logit(centre) - reach)), float(expit(logit(centre) + reach)), stderr)


def _bootstrap_bounds(among: _AmongUnlabeled, confidence: float, n_resamples: int, seed: Seed) -> _Bounds:
    values = _resampled_auc(among, n_resamples, seed)
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return _Bounds(float(low), float(high), float(values.std()))


def _resampled_auc(among: _AmongUnlabeled, n_resamples: int, seed: Seed) -> FloatVector:
    generator = seed.generator()
    chance_of_positive = np.append(among.positives, 1) / (among.n_labelled + 1)
    chance_of_cell = among.cells / among.n_unlabeled
    batch = max(1, _RESAMPLED_CELLS // len(among.cells))
    values = []
    for start in range(0, n_resamples, batch):
        size = min(batch, n_resamples - start)
        drawn = generator.multinomial(among.n_labelled + 1, chance_of_positive, size)
        cells = generator.multinomial(among.n_unlabeled, chance_of_cell, size)
        placement = _wins_of_groups(cells) / among.n_unlabeled
        values.append((np.sum(drawn[:, :-1] * placement, axis=1) + drawn[:, -1] / 2) / (among.n_labelled + 1))
    return np.concatenate(values)


def note_on_few(n_labelled: int) -> str:
    """Return a warning where a figure is computed from few labelled positives; else an empty text."""
    if n_labelled == 1:
        return (
            "One labelled positive gives no information about spread: the interval is every possible value."
        )
    if n_labelled < FEW_LABELLED:
        return f"Only {n_labelled} labelled positives: with fewer than {FEW_LABELLED}, intervals and tests are rough."
    return ""


def check_confidence(confidence: float) -> None:
    """Raise `ParameterError` unless `confidence` is a share between 0 and 1."""
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence must lie between 0 and 1, for instance 0.95; got {confidence}.")


def _check_method(method: str, n_resamples: int) -> None:
    if method not in get_args(Method):
        hint = suggestion(method, get_args(Method))
        raise ParameterError(f"method must be 'placement' or 'bootstrap'; got '{method}'.{hint}")
    if n_resamples < 1:
        raise ParameterError(f"n_resamples must be at least 1; got {n_resamples}.")

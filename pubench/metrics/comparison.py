"""Compares models on the same rows, by paired differences of their placements.

Placements are among the unlabeled rows. The variance counts one difference of 0 more than there is; for the reason see
`pubench.metrics.intervals`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from pubench.errors import DataError
from pubench.metrics.intervals import check_confidence, note_on_few
from pubench.metrics.ranks import Label, check_labels, check_same_length, check_scores, share_below
from pubench.types import BoolVector, FloatVector

_Sums = TypeVar("_Sums", float, npt.NDArray[np.float64])


@dataclass(frozen=True)
class AULComparison:
    """AUL_PU of model a minus that of model b, on the same rows.

    Attributes:
        difference: above 0 when a is better.
        low: lower bound of the difference, at least -1.
        high: upper bound of the difference, at most 1.
        p_value: of the hypothesis that both are equally good, two-sided.
        stderr: standard error of the difference; finite.
        n_labelled: number of labelled positives.
        confidence: of the interval.
        note: a warning for the reader, one or two sentences; empty when there is none.
    """

    difference: float
    low: float
    high: float
    p_value: float
    stderr: float
    n_labelled: int
    confidence: float
    note: str


@dataclass(frozen=True)
class PairwiseComparison:
    """Two models of several: `p_holm` is the p-value corrected for the number of pairs that were compared."""

    a: str
    b: str
    comparison: AULComparison
    p_holm: float


def compare_aul(
    s: npt.ArrayLike,
    scores_a: npt.ArrayLike,
    scores_b: npt.ArrayLike,
    confidence: float = 0.95,
    *,
    pos_label: Label | None = None,
) -> AULComparison:
    """Compare two models on the same rows: difference of AUL_PU, interval and p-value.

    Paired: each labelled positive is placed by both models and Student's t is taken of the differences, with the
    unlabeled rows' part of the variance (DeLong et al. 1988). AUL_PU, AUC of labelled against unlabeled and the
    prior-corrected AUC are affine in each other on fixed data, so the p-value is that of all three.
    Scores that rank all rows alike give difference 0 and p-value 1.

    Raises:
        DataError: as `aul_pu_score`.
        ParameterError: `confidence` is out of its range.
    """
    pair = compare_models(s, {"scores_a": scores_a, "scores_b": scores_b}, confidence, pos_label=pos_label)
    return pair[0].comparison


def compare_models(
    s: npt.ArrayLike,
    scores_by_model: Mapping[str, npt.ArrayLike],
    confidence: float = 0.95,
    *,
    pos_label: Label | None = None,
) -> list[PairwiseComparison]:
    """Compare every pair of models, in the order of the mapping, with Holm's correction of the p-values.

    The intervals are those of `compare_aul`, each on its own; only `p_holm` accounts for the number of pairs.

    Raises:
        DataError: as `aul_pu_score`, naming the model; or fewer than two models.
        ParameterError: `confidence` is out of its range.
    """
    check_confidence(confidence)
    if len(scores_by_model) < 2:
        raise DataError("A comparison needs the scores of at least two models.")
    positive = check_labels(s, pos_label)
    placements = {name: _placements(positive, scores, name) for name, scores in scores_by_model.items()}
    names = list(combinations(placements, 2))
    results = [_compare(placements[a], placements[b], confidence) for a, b in names]
    corrected = holm(np.array([result.p_value for result in results]))
    return [
        PairwiseComparison(a, b, result, float(p))
        for (a, b), result, p in zip(names, results, corrected, strict=True)
    ]


def holm(p_values: FloatVector) -> FloatVector:
    """Return p-values, shape (k,), corrected for k tests by Holm's step-down procedure (1979)."""
    order = np.argsort(p_values, kind="stable")
    remaining = len(p_values) - np.arange(len(p_values))
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(remaining * p_values[order]))
    return corrected


@dataclass(frozen=True)
class PairedMean:
    """The mean of paired differences.

    Attributes:
        mean: of the differences.
        stderr: its standard error, by `variance_of_mean`.
        count: number of differences.
    """

    mean: float
    stderr: float
    count: int


def paired_mean(differences: FloatVector) -> PairedMean:
    """Return the mean of paired differences, shape (n,) with n >= 1, and its standard error."""
    count, total = len(differences), float(differences.sum())
    variance = variance_of_mean(total, float(np.square(differences).sum()), count)
    return PairedMean(total / count, float(np.sqrt(variance)), count)


def variance_of_mean(total: _Sums, squares: _Sums, count: int) -> _Sums:
    """Return the variance of the mean of `count` differences, with one difference of 0 more than there is.

    The extra difference protects against rare failures that these rows do not show; see `pubench.metrics.intervals`.

    Args:
        total: sum of the differences; a float, or an array of one sum for each comparison.
        squares: sum of their squares, of the same shape.
        count: number of differences, without the extra one.
    """
    return np.maximum(squares - total**2 / (count + 1), 0.0) / count**2  # type: ignore[no-any-return]


class _Placements(NamedTuple):
    """Placements of labelled positives among unlabeled rows, and the reverse, by one model, in the order of the rows."""

    placement: FloatVector  # of each labelled positive: share of unlabeled rows below it, ties half
    share_above: FloatVector  # of each unlabeled row: share of labelled positives above it, ties half


def _placements(positive: BoolVector, scores: npt.ArrayLike, name: str) -> _Placements:
    values = check_scores(scores, name)
    check_same_length(**{"s": positive, name: values})
    labelled, unlabeled = values[positive], values[~positive]
    return _Placements(share_below(unlabeled, labelled), 1 - share_below(labelled, unlabeled))


def _compare(a: _Placements, b: _Placements, confidence: float) -> AULComparison:
    paired = paired_mean(a.placement - b.placement)
    m, n_unlabeled = paired.count, len(a.share_above)
    scale = n_unlabeled / (m + n_unlabeled)
    difference = scale * paired.mean
    unlabeled_variance = float(np.var(a.share_above - b.share_above)) / n_unlabeled
    if m == 1:
        low, high, p_value, stderr = -1.0, 1.0, 1.0, scale
    else:
        stderr = scale * float(np.sqrt(paired.stderr**2 + unlabeled_variance))
        half_width = float(stdtrit(m - 1, (1 + confidence) / 2)) * stderr
        low, high = max(-1.0, difference - half_width), min(1.0, difference + half_width)
        p_value = 1.0 if difference == 0 else float(2 * stdtr(m - 1, -abs(difference) / stderr))
    return AULComparison(difference, low, high, p_value, stderr, m, confidence, note_on_few(m))

"""AUL_PU and the lift curve: evaluation from labelled positives and unlabeled rows alone.

Under SCAR (which positives are labelled is pure chance) the expectation of AUL_PU is the area under the lift curve of
the fully labelled table, AUL = prior/2 + (1 - prior) AUC. No prior and no truth are needed to rank models by it.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pubench.metrics.ranks import Label, Placed, check_and_place
from pubench.types import FloatVector, IndexVector


class LiftCurve(NamedTuple):
    """The vertices of a lift curve, from (0, 0) to (1, 1); straight lines between them lose nothing.

    Attributes:
        share: shape (k,), ascending: the share of all rows that is predicted positive; p in the paper.
        sensitivity: shape (k,), ascending: the share of labelled positives among them; alpha(s_p) in the paper.
        thresholds: shape (k,), descending: ``share`` is that of the rows scored at least this; inf at the start.
    """

    share: FloatVector
    sensitivity: FloatVector
    thresholds: FloatVector


def aul_pu_score(
    s: npt.ArrayLike,
    scores: npt.ArrayLike,
    *,
    pos_label: Label | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the area under the lift curve of the observed labels.

    AUL_PU = P(a labelled positive scores above a random row, ties half) = (mean midrank of labelled - 1/2) / n
    = a/2 + (1 - a) AUC(labelled against unlabeled), with a the labelled share. Exact with ties; O(n log n).
    It depends on the order of the scores alone. It is as good as SCAR: labelling that favours high scores raises it
    and leaves no trace.

    Args:
        s: shape (n,): labelled positive or unlabeled, as bool, 0/1, -1/1, or any two values with `pos_label`.
        scores: shape (n,): higher means more likely positive; no NaN.
        pos_label: the value of `s` that marks a labelled positive. None: True or 1.
        sample_weight: shape (n,): a row of weight 3 counts as three equal rows. None: all rows count 1.

    Returns:
        A value in [a/2, 1 - a/2]; 1/2 for scores that know nothing.

    Raises:
        DataError: the input is not as described; one sentence, naming the row.
    """
    return check_and_place(s, scores, pos_label, sample_weight).mean_placement


def aul_from_auc_pu(auc_pu: float, labelled_share: float) -> float:
    """Return AUL_PU = a/2 + (1 - a) AUC_PU: from AUC of labelled against unlabeled rows and a, the labelled share.

    A labelled positive is compared with every row: with the share a of labelled ones it wins 1/2 on average, by
    definition and with ties counted one half, and with the unlabeled ones AUC_PU. Exact on finite data.
    """
    return labelled_share / 2 + (1 - labelled_share) * auc_pu


def lift_curve(
    s: npt.ArrayLike,
    scores: npt.ArrayLike,
    *,
    pos_label: Label | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> LiftCurve:
    """Return the lift curve: sensitivity among labelled positives against the share of rows predicted positive.

    Tied rows enter together, as a straight line. The area under it by the trapezoid rule is `aul_pu_score`. It has
    at most two vertices for each labelled positive and two more, however many rows there are.

    Args and errors are those of `aul_pu_score`.
    """
    return curve_of(check_and_place(s, scores, pos_label, sample_weight))


def curve_of(placed: Placed) -> LiftCurve:
    """Return the lift curve of labelled positives that are already placed."""
    group = np.flatnonzero(np.diff(placed.first, prepend=-1))[::-1]  # one positive of each tie, highest first
    total = placed.total
    above = (total - placed.weight_below(placed.last[group])) / total
    reached = (total - placed.weight_below(placed.first[group])) / total
    caught = _caught(placed.weight, group)
    curve = LiftCurve(
        share=_chain(0.0, above, reached, 1.0),
        sensitivity=_chain(0.0, np.append(0.0, caught[:-1]), caught, 1.0),
        thresholds=_thresholds(placed, group),
    )
    moved = np.append(True, (np.diff(curve.share) > 0) | (np.diff(curve.sensitivity) > 0))
    return LiftCurve(*(values[moved] for values in curve))


def _caught(weight: FloatVector, group: IndexVector) -> FloatVector:
    # Summed from the top, so that the last share is total / total: exactly 1.
    descending = np.cumsum(weight[::-1])
    return np.asarray(descending[len(weight) - 1 - group] / descending[-1])


def _thresholds(placed: Placed, group: IndexVector) -> FloatVector:
    ordered = np.append(placed.ordered.astype(np.float64), np.inf)
    return _chain(np.inf, ordered[placed.last[group]], ordered[placed.first[group]], ordered[0])


def _chain(start: float, before: FloatVector, after: FloatVector, end: float) -> FloatVector:
    return np.concatenate([[start], np.stack([before, after], axis=1).ravel(), [end]])

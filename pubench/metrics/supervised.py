"""Measures for rows whose truth is known; nothing that is fitted or tuned on PU data may import this."""

import numpy.typing as npt

from pubench.metrics.ranks import Label, check_and_place


def aul_pn_score(
    y: npt.ArrayLike,
    scores: npt.ArrayLike,
    *,
    pos_label: Label | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the area under the lift curve of the true labels: AUL_PN = prior/2 + (1 - prior) AUC.

    Args:
        y: shape (n,): positive or negative, as bool, 0/1, -1/1, or any two values with `pos_label`.
        scores: shape (n,): higher means more likely positive; no NaN.
        pos_label: the value of `y` that marks a positive. None: True or 1.
        sample_weight: shape (n,): a row of weight 3 counts as three equal rows. None: all rows count 1.

    Raises:
        DataError: the input is not as described; one sentence, naming the row.
    """
    return check_and_place(y, scores, pos_label, sample_weight, name="y").mean_placement


def auc(
    y: npt.ArrayLike,
    scores: npt.ArrayLike,
    *,
    pos_label: Label | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the area under the ROC curve, in [0, 1]: P(a positive scores above a negative, ties half); O(n log n).

    Args and errors are those of `aul_pn_score`.
    """
    placed = check_and_place(y, scores, pos_label, sample_weight, name="y")
    share = float(placed.weight.sum()) / placed.total
    # Rounded, a perfect order can come out a digit above 1.
    return min(1.0, max(0.0, (placed.mean_placement - share / 2) / (1 - share)))

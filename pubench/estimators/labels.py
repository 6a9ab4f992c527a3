"""From the two classes of a label column to who is labelled positive."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pubench.errors import DataError
from pubench.types import BoolVector


class Labels(NamedTuple):
    """Two classes, and which rows are labelled.

    Attributes:
        classes: shape (2,): that of unlabeled rows, then that of labelled positives.
        s: shape (n_rows,): True for a labelled positive.
    """

    classes: npt.NDArray[Any]
    s: BoolVector


def as_labels(y: npt.NDArray[Any], positive: object) -> Labels:
    """Return which rows of a checked, one-dimensional `y` are labelled.

    Args:
        y: the label of each row, of two kinds.
        positive: the label of positives; None: the greater one, which it is in 0/1, -1/1, False/True and no/yes.

    Raises:
        DataError: there are not two classes, or `positive` is none of them.
    """
    from sklearn.utils.multiclass import type_of_target  # noqa: PLC0415 - heavy imports happen when used

    kind = type_of_target(y, input_name="y", raise_unknown=True)
    if kind != "binary":
        raise DataError(
            f"Only binary classification is supported. The type of the target is {kind}; pass two classes, the labelled "
            "positives and the unlabeled rows."
        )
    classes = np.unique(y)
    labels = classes.tolist()
    if len(labels) < 2:
        raise DataError(
            f"y has one class only, {labels[0]!r}; labelled positives and unlabeled rows are needed, a class each."
        )
    if positive is None:
        return Labels(classes, y == classes[1])
    if positive not in labels:
        raise DataError(
            f"'positive' is one of the two classes, {labels[0]!r} and {labels[1]!r}; got {positive!r}."
        )
    place = labels.index(positive)
    return Labels(classes[[1 - place, place]], y == classes[place])

"""From what users pass to a classifier, arrays, DataFrames and labels, to a `Table` and labelled rows."""

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pubench.data.column_types import encode
from pubench.data.new_rows import encode_as
from pubench.data.notices import Notices
from pubench.data.table_file import frame_columns
from pubench.errors import DataError
from pubench.types import BoolVector, Feature, Table

if TYPE_CHECKING:
    import pandas as pd


def fit_rows(estimator: Any, X: Any) -> Table:
    """Return training rows; sets `n_features_in_` of `estimator`, and `feature_names_in_` if all column names are text.

    Columns of a DataFrame are encoded by their type, see `pubench.data.column_types.encode`. An array contains numbers; NaN
    is missing.

    Raises:
        ValueError: X is not a table of numbers, or has an infinite value; scikit-learn's own message.
        DataError: a column of a DataFrame cannot be a feature.
    """
    from sklearn.utils.validation import validate_data  # noqa: PLC0415 - heavy imports happen when used

    if not _is_frame(X):
        return Table.from_array(_checked(estimator, X, reset=True))
    names = [str(name) for name in X.columns]
    duplicate = next((name for name, count in Counter(names).items() if count > 1), None)
    if duplicate is not None:
        raise DataError(f"Two columns are called '{duplicate}'; rename one.")
    validate_data(estimator, X, reset=True, skip_check_array=True)
    return encode(frame_columns(X, names), Notices())[0]


def new_rows(estimator: Any, X: Any, features: tuple[Feature, ...]) -> Table:
    """Return rows to score, with the features that `estimator` was fitted on; unknown categories count as missing.

    Raises:
        ValueError: the columns of X differ from those that the estimator was fitted on; scikit-learn's own message.
        DataError: a column of a DataFrame has values that do not fit its feature.
    """
    from sklearn.utils.validation import validate_data  # noqa: PLC0415

    if not _is_frame(X) and all(feature.kind == "numeric" for feature in features):
        return Table(_checked(estimator, X, reset=False), features)
    validate_data(estimator, X, reset=False, skip_check_array=True)
    return encode_as(frame_columns(_as_frame(X), [feature.name for feature in features]), features)[0]


def _checked(estimator: Any, X: Any, *, reset: bool) -> Any:
    from sklearn.utils.validation import validate_data  # noqa: PLC0415

    return validate_data(
        estimator, X, reset=reset, dtype=(np.float64, np.float32), ensure_all_finite="allow-nan"
    )


def _is_frame(X: Any) -> bool:
    import pandas as pd  # noqa: PLC0415

    return isinstance(X, pd.DataFrame)


def _as_frame(X: Any) -> "pd.DataFrame":
    """Return an array of mixed columns as a DataFrame whose columns have their own types."""
    import pandas as pd  # noqa: PLC0415

    return X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X, dtype=object)).infer_objects()


class ClassLabels(NamedTuple):
    """The two classes, and which rows are labelled.

    Attributes:
        classes: shape (2,): the class of unlabeled rows, then that of labelled positives.
        s: shape (n_rows,): True for a labelled positive.
    """

    classes: npt.NDArray[Any]
    s: BoolVector


def split_classes(y: npt.NDArray[Any], positive: object) -> ClassLabels:
    """Return the two classes of a checked, one-dimensional `y`, and which rows are labelled.

    Args:
        y: the label of each row, of two classes.
        positive: the label of positives; None: the greater one, as in 0/1, -1/1, False/True and no/yes.

    Raises:
        DataError: there are not exactly two classes, or `positive` is not one of them.
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
            f"y has only one class, {labels[0]!r}; labelled positives and unlabeled rows are needed, one class each."
        )
    if positive is None:
        return ClassLabels(classes, y == classes[1])
    if positive not in labels:
        raise DataError(
            f"'positive' is one of the two classes, {labels[0]!r} and {labels[1]!r}; got {positive!r}."
        )
    position = labels.index(positive)
    return ClassLabels(classes[[1 - position, position]], y == classes[position])

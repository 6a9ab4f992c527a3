"""From what people have, arrays and DataFrames, to a `Table`."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from pubench.data.features import encode
from pubench.data.notices import Notices
from pubench.data.schema import encode_as
from pubench.errors import DataError
from pubench.types import Feature, Table

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow


def fit_rows(estimator: Any, X: Any) -> Table:
    """Return rows to learn from; `estimator` gets `n_features_in_` and, from names that are texts, `feature_names_in_`.

    Columns of a DataFrame keep their meaning: see `pubench.data.features.encode`. An array holds numbers; NaN is
    missing.

    Raises:
        ValueError: X is no table of numbers, or infinite somewhere; scikit-learn's own message.
        DataError: a column of a DataFrame can not be a feature.
    """
    from sklearn.utils.validation import validate_data  # noqa: PLC0415 - heavy imports happen when used

    if not _is_frame(X):
        return Table.from_array(_checked(estimator, X, reset=True))
    names = [str(name) for name in X.columns]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise DataError(f"Two columns are called '{twice}'; rename one.")
    validate_data(estimator, X, reset=True, skip_check_array=True)
    return encode(_columns(X, names), Notices())[0]


def new_rows(estimator: Any, X: Any, features: tuple[Feature, ...]) -> Table:
    """Return rows to score, of the features that `estimator` was fitted on; a category not known is missing.

    Raises:
        ValueError: X has other columns than the estimator was fitted on; scikit-learn's own message.
        DataError: a column of a DataFrame can not be the feature it should be.
    """
    from sklearn.utils.validation import validate_data  # noqa: PLC0415

    if not _is_frame(X) and all(feature.kind == "numeric" for feature in features):
        return Table(_checked(estimator, X, reset=False), features)
    validate_data(estimator, X, reset=False, skip_check_array=True)
    return encode_as(_columns(_as_frame(X), [feature.name for feature in features]), features)[0]


def _checked(estimator: Any, X: Any, *, reset: bool) -> Any:
    from sklearn.utils.validation import validate_data  # noqa: PLC0415

    return validate_data(
        estimator, X, reset=reset, dtype=(np.float64, np.float32), ensure_all_finite="allow-nan"
    )


def _is_frame(X: Any) -> bool:
    import pandas as pd  # noqa: PLC0415

    return isinstance(X, pd.DataFrame)


def _as_frame(X: Any) -> "pd.DataFrame":
    """Return an array of mixed columns as a DataFrame in which each has its type."""
    import pandas as pd  # noqa: PLC0415

    return X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X, dtype=object)).infer_objects()


def _columns(X: "pd.DataFrame", names: list[str]) -> dict[str, "pyarrow.ChunkedArray"]:
    """Return the columns under these names, in order."""
    if not len(X) or not names:
        raise DataError(
            f"X has {len(X)} rows (samples) and {len(names)} columns; at least one of each is needed."
        )
    return {name: _column(name, X.iloc[:, number]) for number, name in enumerate(names)}


def _column(name: str, values: "pd.Series[Any]") -> "pyarrow.ChunkedArray":
    import pyarrow  # noqa: PLC0415

    try:
        column = pyarrow.array(values, from_pandas=True)
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        raise DataError(
            f"Column '{name}' holds values of several types, or of one that can not be a feature ({error}); make all of "
            "them numbers, texts or dates."
        ) from error
    return column if isinstance(column, pyarrow.ChunkedArray) else pyarrow.chunked_array([column])

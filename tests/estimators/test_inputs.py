"""Arrays and DataFrames as tables, at fit and at predict."""

from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pytest

from pubench.errors import DataError
from pubench.estimators.classifiers import PUClassifier
from pubench.types import BoolVector, Feature

Bought: TypeAlias = tuple[pd.DataFrame, BoolVector]


def naive(**params: Any) -> PUClassifier:
    small: dict[str, Any] = {"random_state": 0, "n_jobs": 1, "learner_params": {"trees": 20}}
    return PUClassifier(**small | params)


def test_columns_become_features_by_their_type(bought: Bought) -> None:
    assert naive().fit(*bought).features_ == (
        Feature("amount"),
        Feature("noise"),
        Feature("city", "categorical", ("Athens", "Bern", "Cork")),
        Feature("segment", "categorical", ("1", "2", "3")),
        Feature("flag", "boolean"),
        Feature("since", "date"),
    )


def test_a_numeric_frame_equals_an_array(bought: Bought) -> None:
    X, s = bought
    numbers = X[["amount", "noise"]]
    framed, plain = naive().fit(numbers, s), naive().fit(numbers.to_numpy(), s)
    np.testing.assert_array_equal(
        framed.decision_function(numbers), plain.decision_function(numbers.to_numpy())
    )
    assert not hasattr(plain, "feature_names_in_")


def test_array_columns_are_matched_to_a_frame_by_position(bought: Bought) -> None:
    X, s = bought
    classifier = naive().fit(X, s)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        found = classifier.decision_function(X.to_numpy(dtype=object))
    np.testing.assert_array_equal(found, classifier.decision_function(X))


def test_frame_columns_are_matched_to_an_array_by_position(bought: Bought) -> None:
    X, s = bought
    numbers = X[["amount", "noise"]]
    classifier = naive().fit(numbers.to_numpy(), s)
    with pytest.warns(UserWarning, match="X has feature names"):
        found = classifier.decision_function(numbers)
    np.testing.assert_array_equal(found, classifier.decision_function(numbers.to_numpy()))


def test_column_names_that_are_not_text_are_ignored(bought: Bought) -> None:
    X, s = bought
    numbered = X.set_axis(range(X.shape[1]), axis=1)
    classifier = naive().fit(numbered, s)
    assert not hasattr(classifier, "feature_names_in_")
    np.testing.assert_array_equal(classifier.predict(numbered), naive().fit(X, s).predict(X))


@pytest.mark.parametrize("learner", ["lightgbm", "logistic"])
def test_an_unseen_category_counts_as_missing(bought: Bought, learner: str) -> None:
    X, s = bought
    classifier = naive(learner=learner, learner_params=None).fit(X, s)
    unseen, missing = X.assign(city="Dover"), X.assign(city=None)
    np.testing.assert_array_equal(classifier.decision_function(unseen), classifier.decision_function(missing))
    assert not np.array_equal(classifier.decision_function(unseen), classifier.decision_function(X))


def test_categories_are_matched_by_name_not_by_code(bought: Bought) -> None:
    X, s = bought
    classifier = naive().fit(X, s)
    few = X[X["city"] == "Cork"]
    recoded = few.assign(city=few["city"].astype("category"))  # whose only code is 0
    np.testing.assert_array_equal(classifier.decision_function(recoded), classifier.decision_function(few))


def test_the_score_of_a_row_does_not_depend_on_other_rows(bought: Bought) -> None:
    X, s = bought
    classifier = naive().fit(X, s)
    np.testing.assert_array_equal(
        classifier.decision_function(X.iloc[[5, 3]]), classifier.decision_function(X)[[5, 3]]
    )


def test_the_frame_is_not_modified(bought: Bought) -> None:
    X, s = bought
    before = X.copy(deep=True)
    naive().fit(X, s).predict(X)
    pd.testing.assert_frame_equal(X, before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X.assign(amount=np.inf), "'amount' is infinite in row 1"),
        (lambda X: X.assign(mixed=[1, "a"] * 600), "'mixed' has values of several types"),
        (lambda X: X.assign(listed=[[1]] * 1200), "'listed' holds list"),
        (lambda X: X.iloc[:, [0, 1, 0]], "Two columns are called 'amount'"),
        (lambda X: X[[]], "0 columns"),
    ],
)
def test_the_message_names_a_column_that_cannot_be_a_feature(
    bought: Bought, change: Any, message: str
) -> None:
    X, s = bought
    with pytest.raises(DataError, match=message):
        naive().fit(change(X), s)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X.assign(noise=np.inf), "'noise' is infinite in row 1"),
        (lambda X: X.assign(noise="a"), "'noise' holds 'a' in row 1"),
        (lambda X: X.assign(noise=[1, "a"] * 600), "'noise' has values of several types"),
        (lambda X: X[:0], "0 rows"),
        (lambda X: X.drop(columns="noise"), "yet now missing:\n- noise"),
        (lambda X: X.assign(more=1), "unseen at fit time:\n- more"),
    ],
)
def test_new_rows_are_checked_too(bought: Bought, change: Any, message: str) -> None:
    X, s = bought
    classifier = naive().fit(X, s)
    with pytest.raises(ValueError, match=message):
        classifier.predict(change(X))


def test_rows_and_labels_must_have_the_same_length(bought: Bought) -> None:
    X, s = bought
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        naive().fit(X, s[:-1])

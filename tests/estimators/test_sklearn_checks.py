"""scikit-learn's own checks."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    parametrize_with_checks,
)

from pubench.estimators.base import BasePUClassifier
from pubench.estimators.classifier import PUClassifier
from pubench.estimators.probtagging import ProbTaggingClassifier

FEW_TREES = {"trees": 20}
CLASSIFIERS = [
    ProbTaggingClassifier(n_members=5, learner_params=FEW_TREES, n_jobs=1),
    ProbTaggingClassifier(learner="logistic", n_members=5, n_jobs=1),
    PUClassifier("naive", learner_params=FEW_TREES, n_jobs=1),
]


def expected_failures(estimator: BasePUClassifier) -> dict[str, str]:  # noqa: ARG001 - scikit-learn's signature
    return {
        "check_classifiers_train": (
            "wants `predict` to part rows at a probability of 0.5, and here it does where as many are positive as "
            "expected; scikit-learn excuses its own FixedThresholdClassifier for the same reason"
        )
    }


@parametrize_with_checks(CLASSIFIERS, expected_failed_checks=expected_failures)  # type: ignore[untyped-decorator]
def test_scikit_learn_is_content(
    estimator: BasePUClassifier, check: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # or the checks of array dispatch are skipped
    check(estimator)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=repr)
def test_names_of_columns_are_checked_in_its_way(estimator: BasePUClassifier) -> None:
    check_dataframe_column_names_consistency(type(estimator).__name__, estimator)

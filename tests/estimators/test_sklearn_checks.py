"""scikit-learn's own checks."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    parametrize_with_checks,
)

from pubench.estimators.base import BasePUClassifier
from pubench.estimators.classifiers import ProbTaggingClassifier, PUClassifier

FEW_TREES = {"trees": 20}
CLASSIFIERS = [
    ProbTaggingClassifier(n_members=5, learner_params=FEW_TREES, n_jobs=1),
    ProbTaggingClassifier(learner="logistic", n_members=5, n_jobs=1),
    PUClassifier("naive", learner_params=FEW_TREES, n_jobs=1),
]


def expected_failures(estimator: BasePUClassifier) -> dict[str, str]:  # noqa: ARG001 - scikit-learn's signature
    return {
        "check_classifiers_train": (
            "wants `predict` to split rows at a probability of 0.5; here the threshold gives the expected number of "
            "positives; scikit-learn exempts its own FixedThresholdClassifier for the same reason"
        )
    }


@parametrize_with_checks(CLASSIFIERS, expected_failed_checks=expected_failures)  # type: ignore[untyped-decorator]
def test_scikit_learn_checks(
    estimator: BasePUClassifier, check: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # else the checks of array dispatch are skipped
    check(estimator)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=repr)
def test_column_names_are_checked_as_in_scikit_learn(estimator: BasePUClassifier) -> None:
    check_dataframe_column_names_consistency(type(estimator).__name__, estimator)

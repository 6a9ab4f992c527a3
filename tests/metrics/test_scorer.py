"""AUL_PU as scikit-learn's scoring."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from pubench.metrics.aul import aul_pu_score
from pubench.metrics.scorer import aul_pu_scorer
from pubench.types import BoolVector, FloatVector


def table() -> tuple[FloatVector, BoolVector]:
    generator = np.random.default_rng(0)
    X = generator.standard_normal((600, 4))
    return X, generator.random(600) < 1 / (1 + np.exp(3 - 2 * X[:, 0]))


@pytest.mark.parametrize("negative", [0, -1])
@pytest.mark.parametrize(
    "estimator", [LogisticRegression(), DecisionTreeClassifier(max_depth=3, random_state=0)]
)
def test_cross_val_score_scores_each_fold(estimator: LogisticRegression, negative: int) -> None:
    X, observed = table()
    s = np.where(observed, 1, negative)
    folds = StratifiedKFold(3)
    found = cross_val_score(estimator, X, s, scoring=aul_pu_scorer, cv=folds)
    expected = [
        aul_pu_score(s[test], estimator.fit(X[train], s[train]).predict_proba(X[test])[:, 1])
        for train, test in folds.split(X, s)
    ]
    assert found == pytest.approx(expected, abs=1e-12)
    assert found.mean() > 0.7


def test_a_grid_search_finds_the_better_model() -> None:
    X, observed = table()
    grid = {"max_depth": [1, 4], "max_features": [1, 4]}
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), grid, scoring=aul_pu_scorer, cv=4)
    search.fit(X, observed)
    assert 0.7 < search.best_score_ == max(search.cv_results_["mean_test_score"])


def test_other_labels_take_a_scorer_of_their_own() -> None:
    X, observed = table()
    named = np.where(observed, "fraud", "unknown")
    scorer = make_scorer(
        aul_pu_score, response_method=("decision_function", "predict_proba"), pos_label="fraud"
    )
    found = cross_val_score(LogisticRegression(), X, named, scoring=scorer)
    assert found == pytest.approx(cross_val_score(LogisticRegression(), X, observed, scoring=aul_pu_scorer))

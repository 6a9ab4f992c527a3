"""AUL_PU as scikit-learn's `scoring=`."""

from sklearn.metrics import make_scorer

from pubench.metrics.aul import aul_pu_score

aul_pu_scorer = make_scorer(aul_pu_score, response_method=("decision_function", "predict_proba"))
"""Scores an estimator by AUL_PU on the observed labels, for `cross_val_score`, `GridSearchCV` and the like.

Labels are 0/1, -1/1 or bool; the positive class is the greater one. Every fold needs a labelled positive:
scikit-learn stratifies the folds of a classifier by itself. For other labels make your own, which takes `pos_label`:

    make_scorer(aul_pu_score, response_method=("decision_function", "predict_proba"), pos_label="fraud")
"""

"""Any registered method as a scikit-learn classifier."""

from typing import Any

from pubench.estimators.base import BasePUClassifier
from pubench.estimators.parts import Params, make_plugin
from pubench.method_api import Method
from pubench.plugin_api import Kind, Learner, Similarity


class PUClassifier(BasePUClassifier):
    """A PU method as a scikit-learn classifier over (X, s).

    Args:
        method: the name of a registered method (see `pubench plugins list`), or an instance of `Method`.
        learner: the same for its base learner; one that the method does not use is not looked at.
        similarity: the same for its similarity.
        method_params: parameters of a method given by name; see `pubench plugins info NAME`.
        learner_params: the same for the learner.
        similarity_params: the same for the similarity.
        positive: the class of labelled positives; None: the greater one, which it is in 0/1, -1/1, False/True and
            no/yes.
        threshold: where `predict` parts rows: "expected", as many training rows are positive as the method expects
            (as are labelled, where it has no expectation); or a share of the training rows, between 0 and 1.
        device: "auto", "cpu" or "cuda".
        n_jobs: threads; -1: all cores. Results do not depend on it.
        random_state: a number, or a RandomState that each `fit` draws from; None: another result each time.

    Attributes:
        classes_: shape (2,): the class of unlabeled rows, then the positive one.
        n_features_in_: how many features there are.
        feature_names_in_: their names, if `fit` saw a DataFrame whose column names are all texts.
        features_: what each feature is, and its categories.
        fitted_: the trained method.
        threshold_: the score from which on a row is predicted positive.
        device_: "cpu" or "cuda".
        credibility_: shape (n_rows,): the similarity of each training row, 0 for labelled ones.
        expected_positives_: how many training rows are taken for positive, labelled ones included.
        k_: how many neighbours count, chosen or given.
        members_: the models.
        feature_importances_: shape (n_features_in_,): the mean over the models, of the features as given.

    The last five are absent, with an `AttributeError` that says so, where the method or similarity has no such thing.
    """

    def __init__(  # noqa: PLR0913 - scikit-learn's convention: a parameter each
        self,
        method: str | Method = "naive",
        learner: str | Learner = "lightgbm",
        similarity: str | Similarity = "knn",
        *,
        method_params: Params | None = None,
        learner_params: Params | None = None,
        similarity_params: Params | None = None,
        positive: Any = None,
        threshold: str | float = "expected",
        device: str = "auto",
        n_jobs: int | None = -1,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.learner = learner
        self.similarity = similarity
        self.method_params = method_params
        self.learner_params = learner_params
        self.similarity_params = similarity_params
        self.positive = positive
        self.threshold = threshold
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _make_method(self) -> Method:
        method: Method = make_plugin(Kind.METHOD, self.method, self.method_params)
        return method

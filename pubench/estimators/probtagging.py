"""ProbTagging, the paper's method, as a scikit-learn classifier."""

from typing import Any

from pubench.estimators.base import BasePUClassifier
from pubench.estimators.parts import Params, make_plugin
from pubench.method_api import Method
from pubench.plugin_api import Kind, Learner, Similarity
from pubench.spaces import Value


class ProbTaggingClassifier(BasePUClassifier):
    """ProbTagging as a scikit-learn classifier over (X, s); the defaults are the paper's.

    Unlabeled rows are tagged positive with a chance that is their similarity to labelled ones, a model is trained on
    each of many taggings, and the mean of the models is the score.

    Args:
        similarity: the name of a registered similarity, or an instance of `Similarity`.
        learner: the name of a registered learner, or an instance of `Learner`.
        n_members: how many models are trained, 1 to 1,000.
        scaling: of features before any distance: "standard", "robust", "quantile" or "none".
        tags: "drawn": a row is tagged by chance for each model; "soft": it is positive by its share in all of them.
        negatives: so many negatives per positive are drawn for each model, 1 to 200; None: all of them.
        cap: at most so many rows are expected to be tagged per labelled one, 0.1 to 10; None: no limit.
        combine: what is averaged: "probabilities" or "ranks".
        reliability: of the order of rows, 0.9 to 0.9999, at which no more models are trained; None: all are.
        similarity_params: parameters of a similarity given by name.
        learner_params: parameters of a learner given by name.
        positive, threshold, device, n_jobs, random_state: as in `PUClassifier`.

    Attributes:
        classes_, n_features_in_, feature_names_in_, features_, fitted_, threshold_, device_: as in `PUClassifier`.
        credibility_: shape (n_rows,): the similarity of each training row, 0 for labelled ones.
        expected_positives_: labelled rows and those expected to be tagged.
        k_: how many neighbours count; `AttributeError` with a similarity that has no k.
        members_: the models.
        feature_importances_: shape (n_features_in_,): the mean over the models, of the features as given.
    """

    def __init__(  # noqa: PLR0913 - scikit-learn's convention: a parameter each
        self,
        similarity: str | Similarity = "knn",
        learner: str | Learner = "lightgbm",
        n_members: int = 50,
        *,
        scaling: str = "standard",
        tags: str = "drawn",
        negatives: float | None = None,
        cap: float | None = None,
        combine: str = "probabilities",
        reliability: float | None = None,
        similarity_params: Params | None = None,
        learner_params: Params | None = None,
        positive: Any = None,
        threshold: str | float = "expected",
        device: str = "auto",
        n_jobs: int | None = -1,
        random_state: Any = None,
    ) -> None:
        self.similarity = similarity
        self.learner = learner
        self.n_members = n_members
        self.scaling = scaling
        self.tags = tags
        self.negatives = negatives
        self.cap = cap
        self.combine = combine
        self.reliability = reliability
        self.similarity_params = similarity_params
        self.learner_params = learner_params
        self.positive = positive
        self.threshold = threshold
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _make_method(self) -> Method:
        params: dict[str, Value] = {
            "members": self.n_members,
            "scaling": self.scaling,
            "tags": self.tags,
            "combine": self.combine,
        }
        if self.negatives is not None:
            params |= {"negatives": "sampled", "ratio": self.negatives}
        if self.cap is not None:
            params |= {"limit": "cap", "cap": self.cap}
        if self.reliability is not None:
            params |= {"stop": "settled", "reliability": self.reliability}
        method: Method = make_plugin(Kind.METHOD, "probtagging", params)
        return method

"""The classifiers that users import from `pubench`, and `load_classifier`."""

from pathlib import Path
from typing import Any

import numpy as np

from pubench.api.method import Method
from pubench.api.plugin import Kind, Learner, Similarity
from pubench.api.spaces import Value
from pubench.configuration.configuration import configure_specs
from pubench.errors import DataError
from pubench.estimators.base import BasePUClassifier, Params, known_plugins, make_plugin
from pubench.model.manifest import Manifest
from pubench.model.saved import SavedModel, find_model, load_model


class PUClassifier(BasePUClassifier):
    """A PU method as a scikit-learn classifier over (X, s).

    Args:
        method: the name of a registered method (see `pubench plugins list`), or an instance of `Method`.
        learner: the base learner, also a name or an instance; ignored if the method uses none.
        similarity: the similarity, also a name or an instance; ignored if the method uses none.
        method_params: parameters of a method given by name; see `pubench plugins info NAME`.
        learner_params: parameters of a learner given by name.
        similarity_params: parameters of a similarity given by name.
        positive: the class of labelled positives; None: the greater one, as in 0/1, -1/1, False/True and no/yes.
        threshold: the number of training rows that `predict` makes positive: "expected", the number that the method
            expects (or the number of labelled rows, if it gives none); or a share of the training rows, between 0 and 1.
        device: "auto", "cpu" or "cuda".
        n_jobs: number of threads; -1: all cores. Results do not depend on it.
        random_state: a number, or a RandomState that each `fit` draws from; None: a different result each time.

    Attributes:
        classes_: shape (2,): the class of unlabeled rows, then the positive one.
        n_features_in_: number of features.
        feature_names_in_: their names, if `fit` was given a DataFrame whose column names are all text.
        features_: the name, kind and categories of each feature.
        fitted_: the trained method.
        threshold_: the lowest score that is predicted positive.
        device_: "cpu" or "cuda".
        credibility_: shape (n_rows,): the similarity of each training row, 0 for labelled ones.
        expected_positives_: estimated number of positive training rows, labelled ones included.
        k_: number of neighbours, chosen or given.
        members_: the models.
        feature_importances_: shape (n_features_in_,): the mean over the models, of the features as given.

    The last five raise an `AttributeError` if the method or similarity does not provide them.
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


class ProbTaggingClassifier(BasePUClassifier):
    """ProbTagging as a scikit-learn classifier over (X, s); the defaults are the paper's.

    Unlabeled rows are tagged positive with a probability given by their similarity to labelled ones, a model is trained
    on each of many taggings, and the mean of the models is the score.

    Args:
        similarity: the name of a registered similarity, or an instance of `Similarity`.
        learner: the name of a registered learner, or an instance of `Learner`.
        n_members: number of models, 1 to 1,000.
        scaling: scaling of features before distances: "standard", "robust", "quantile" or "none".
        tags: "drawn": tags are drawn at random for each model; "soft": each row has its
            tagging probability as a soft label.
        negatives: number of negatives drawn per positive for each model, 1 to 200; None: all negatives.
        cap: maximum expected number of tagged rows per labelled one, 0.1 to 10; None: no limit.
        combine: what is averaged over models: "probabilities" or "ranks".
        reliability: training stops when the order of rows is this reliable, 0.9 to 0.9999; None: train all models.
        similarity_params: parameters of a similarity given by name.
        learner_params: parameters of a learner given by name.
        positive, threshold, device, n_jobs, random_state: as in `PUClassifier`.

    Attributes:
        classes_, n_features_in_, feature_names_in_, features_, fitted_, threshold_, device_: as in `PUClassifier`.
        credibility_: shape (n_rows,): the similarity of each training row, 0 for labelled ones.
        expected_positives_: number of labelled rows plus the expected number of tagged rows.
        k_: number of neighbours; `AttributeError` with a similarity that has no k.
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


def load_classifier(folder: str | Path) -> PUClassifier:
    """Return a fitted classifier from a folder that `save`, `pubench fit` or `pubench tune` wrote.

    Its scores equal those of the saved one, bit for bit. The folder may be untrusted: every file is verified before it is
    opened, and no code in it is run. Attributes that need the training rows, such as `credibility_`, are not available.

    Raises:
        DataError: it is not a saved model, or it is damaged.
        PluginError: a plugin that it was made with is not installed.
    """
    saved = load_model(find_model(Path(folder)), known_plugins())
    manifest = saved.manifest
    configuration = configure_specs(manifest.specs, known_plugins())
    classifier = PUClassifier(
        configuration.method,
        configuration.parts.learner or "lightgbm",
        configuration.parts.similarity or "knn",
        random_state=manifest.seed,
    )
    classes, threshold, unit, named = _state_of(saved)
    classifier.fitted_, classifier.features_ = saved.fitted, manifest.features
    classifier.classes_, classifier.threshold_, classifier.device_ = classes, threshold, "cpu"
    classifier._data = classifier._related = None  # noqa: SLF001
    classifier._unit = unit  # noqa: SLF001 - of the same package
    classifier.n_features_in_ = len(manifest.features)
    if named:
        classifier.feature_names_in_ = np.array([feature.name for feature in manifest.features], dtype=object)
    return classifier


def _state_of(saved: SavedModel) -> tuple[Any, float, float | None, bool]:
    """Return classes, threshold, unit of scores, and whether features have names."""
    state = saved.manifest.classifier
    if state is None:  # saved by a command: labels were 0 and 1, columns have names
        return np.array([0, 1]), _default_threshold(saved.manifest), None, True
    classes, threshold, unit = state.get("classes"), state.get("threshold"), state.get("unit")
    are_plain = isinstance(classes, list) and all(type(value) in (bool, int, float, str) for value in classes)
    are_numbers = type(threshold) in (int, float) and (unit is None or type(unit) in (int, float))
    if not are_plain or len(classes) != 2 or not are_numbers:  # type: ignore[arg-type]
        raise DataError("The saved model is damaged: its classes or its threshold are invalid; fit it again.")
    return np.array(classes), float(threshold), unit, bool(state.get("named"))  # type: ignore[arg-type,return-value]


def _default_threshold(manifest: Manifest) -> float:
    if not manifest.thresholds:
        raise DataError("The saved model has no threshold; fit it again.")
    return manifest.thresholds.get("expected", min(manifest.thresholds.values()))

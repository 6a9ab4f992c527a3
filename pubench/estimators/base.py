"""What all scikit-learn classifiers of pubench share: everything but which method they stand for."""

import dataclasses
import secrets
from abc import abstractmethod
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from pubench.devices import resolve_device
from pubench.estimators.labels import as_labels
from pubench.estimators.parts import Asked, WatchedParts
from pubench.estimators.rows import fit_rows, new_rows
from pubench.estimators.thresholds import threshold_for, wanted_positives
from pubench.method_api import FittedEnsemble, FittedMethod, Method, Parts, Related
from pubench.metrics.label_free import aul_pu_score
from pubench.plugin_api import Model
from pubench.saving.configuration import Configuration
from pubench.saving.models import Trained, save_model
from pubench.seeds import Seed
from pubench.types import Device, Feature, FloatVector, PUData, Resources, Table


class BasePUClassifier(ClassifierMixin, BaseEstimator):
    """A method as a scikit-learn classifier; a subclass says which, in `_make_method`, and names the parameters."""

    similarity: object
    learner: object
    similarity_params: Any
    learner_params: Any
    positive: object
    threshold: object
    device: str
    n_jobs: int | None
    random_state: Any

    classes_: npt.NDArray[Any]
    features_: tuple[Feature, ...]
    fitted_: FittedMethod
    threshold_: float
    device_: Device
    _related: Related | None
    _unit: float | None
    _trained: Trained

    @abstractmethod
    def _make_method(self) -> Method:
        """Return the method with its parameters."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from rows of which some are labelled positive.

        Args:
            X: shape (n_rows, n_features): a DataFrame, or an array of numbers; NaN is missing.
            y: shape (n_rows,), s in the paper: two classes, that of labelled positives and that of unlabeled rows.
        """
        method = self._make_method()
        parts = WatchedParts.of(
            method,
            Asked(self.similarity, self.similarity_params),
            Asked(self.learner, self.learner_params),
        )
        wanted_positives(self.threshold, 1.0, 1)  # what is wrong with it is said before the work, not after
        seed = _seed(self.random_state)
        device, _ = resolve_device(self.device, parts.learner)
        y = validate_data(self, y=y)
        table = fit_rows(self, X)
        check_consistent_length(table.values, y)
        classes, s = as_labels(y, self.positive)
        data = PUData(table, s)
        self.fitted_ = method.fit(data, parts, seed, self._resources(device))
        self.device_, self.classes_, self.features_ = device, classes, table.features
        self._related = parts.related_to(data)
        self._place_threshold(data)
        configuration = Configuration(method, Parts(parts.similarity, parts.learner))
        self._trained = Trained(
            self.fitted_, configuration, seed, table.features, table.n_rows, data.n_labelled
        )
        return self

    def save(self, folder: str | Path, *, replace: bool = False) -> None:
        """Write the model into a new folder, for `load_classifier` and `pubench predict`; nothing is pickled.

        Args:
            folder: where; it appears whole or not at all.
            replace: take the place of a saved model that is there.

        Raises:
            DataError: something else is there, or it can not be written.
        """
        check_is_fitted(self)
        known = {
            "classes": self.classes_.tolist(),
            "threshold": self.threshold_,
            "unit": self._unit,
            "named": hasattr(self, "feature_names_in_"),
        }
        trained = dataclasses.replace(self._trained, classifier=known)
        save_model(Path(folder), trained, replace=replace)

    def _place_threshold(self, data: PUData) -> None:
        scores = self.fitted_.score(data.X, self._resources(self.device_)).values
        expected = self.fitted_.expected_positives
        count = data.n_labelled if expected is None else expected
        self.threshold_ = threshold_for(scores, wanted_positives(self.threshold, count, data.X.n_rows))
        are_probabilities = (
            isinstance(self.fitted_, FittedEnsemble) and 0 <= scores.min() <= scores.max() <= 1
        )
        self._unit = None if are_probabilities else float(scores.std()) or 1.0

    def decision_function(self, X: Any) -> FloatVector:
        """Return the score of each row less `threshold_`: shape (n_rows,), positive from 0 on."""
        return self._score(X) - self.threshold_

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class of each row: the positive one from the score `threshold_` on; shape (n_rows,)."""
        scores = self._score(X)
        return np.asarray(self.classes_[(scores >= self.threshold_).astype(np.intp)])

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the chance of each class, in the order of `classes_`, so positives last: shape (n_rows, 2).

        It is the mean probability that the models give, for being labelled or tagged and not for being positive; see
        docs/classifier.md. A method whose score is no probability has it squashed, z / (1 + |z|) in units of its
        standard deviation, with 1/2 at the threshold: order is kept, and more is not meant.
        """
        scores = self._score(X)
        if self._unit is None:
            positive = np.clip(scores, 0.0, 1.0)
        else:
            z = (scores - self.threshold_) / self._unit
            positive = (1 + z / (1 + np.abs(z))) / 2
        return np.column_stack([1 - positive, positive])

    def score(self, X: Any, y: Any) -> float:
        """Return AUL_PU: accuracy would count every positive that is found among unlabeled rows as an error."""
        scores = self.decision_function(X)
        return aul_pu_score(np.asarray(y) == self.classes_[1], scores)

    def similarity_of(self, X: Any) -> FloatVector:
        """Return how much each row, not fitted on, resembles the labelled positives: shape (n_rows,), in [0, 1]."""
        table = self._table(X)
        related: Related = self._known(self._related, "similarity")
        return related.score_new(table, self._resources(self.device_)).values

    @property
    def credibility_(self) -> FloatVector:
        """The similarity of each training row to the labelled positives; 0 for these themselves."""
        check_is_fitted(self)
        related: Related = self._known(self._related, "similarity")
        return related.affinity.values

    @property
    def k_(self) -> int:
        """How many neighbours count."""
        check_is_fitted(self)
        chosen = {} if self._related is None else self._related.similarity.chosen
        return int(self._known(chosen.get("k"), "number of neighbours k"))

    @property
    def expected_positives_(self) -> float:
        """How many of the training rows the method takes for positive, labelled ones included."""
        check_is_fitted(self)
        return float(self._known(self.fitted_.expected_positives, "estimate of how many rows are positive"))

    @property
    def members_(self) -> tuple[Model, ...]:
        """The models."""
        check_is_fitted(self)
        ensemble = self.fitted_.ensemble if isinstance(self.fitted_, FittedEnsemble) else None
        members: tuple[Model, ...] = self._known(ensemble, "ensemble of models").members
        return members

    @property
    def feature_importances_(self) -> FloatVector:
        """How much each feature is used, the mean over models: shape (n_features_in_,), 1 in all or all 0."""
        check_is_fitted(self)
        importances: FloatVector = self._known(self.fitted_.importances(), "importance of features")
        return importances

    def _known(self, value: Any, what: str) -> Any:
        if value is None:
            raise AttributeError(
                f"This {type(self).__name__} knows no {what}; its method and similarity give none."
            )
        return value

    def _score(self, X: Any) -> FloatVector:
        table = self._table(X)
        return self.fitted_.score(table, self._resources(self.device_)).values

    def _table(self, X: Any) -> Table:
        check_is_fitted(self)
        return new_rows(self, X, self.features_)

    def _resources(self, device: Device) -> Resources:
        from joblib import effective_n_jobs  # noqa: PLC0415 - heavy imports happen when used

        return Resources(int(effective_n_jobs(self.n_jobs)), device)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "threshold_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_class = False
        return tags


def _seed(random_state: Any) -> Seed:
    """Return the seed of a fit: None is another one each time, a number that one, a RandomState is drawn from."""
    if random_state is None:
        return Seed(secrets.randbits(32))
    if isinstance(random_state, int | np.integer):
        return Seed(int(random_state))
    return Seed(int(check_random_state(random_state).randint(2**31)))

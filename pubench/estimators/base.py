"""What all scikit-learn classifiers of pubench share: everything except which method they stand for.

X -> Table, y -> s (`inputs`), names -> plugin objects -> FittedMethod -> threshold -> classes
"""

import dataclasses
import secrets
from abc import abstractmethod
from collections.abc import Mapping
from functools import cache
from numbers import Real
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from pubench.api.devices import resolve_device
from pubench.api.method import FittedEnsemble, FittedMethod, Method, Parts, Related
from pubench.api.plugin import Kind, Model
from pubench.api.registry import CONTRACTS, Registry, load_registry
from pubench.api.spaces import Value
from pubench.configuration.configuration import Configuration
from pubench.crossfit.cross_fit import own_scores
from pubench.errors import ParameterError
from pubench.estimators.inputs import fit_rows, new_rows, split_classes
from pubench.metrics.aul import aul_pu_score
from pubench.model.saved import Trained, save_model
from pubench.model.training_rows import OwnRows
from pubench.seeds import Seed
from pubench.types import Device, Feature, FloatVector, PUData, Resources, Table

Params = Mapping[str, Value]


class BasePUClassifier(ClassifierMixin, BaseEstimator):
    """A method as a scikit-learn classifier; a subclass creates it in `_make_method` and names its parameters."""

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
    _data: PUData | None
    _own_scores: FloatVector | None

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
        parts = self._make_parts(method)
        n_positive(self.threshold, 1.0, 1)  # a bad threshold is refused before training
        seed = _seed(self.random_state)
        device, _ = resolve_device(self.device, parts.learner)
        y = validate_data(self, y=y)
        table = fit_rows(self, X)
        check_consistent_length(table.values, y)
        classes, s = split_classes(y, self.positive)
        data = PUData(table, s)
        parts = parts.suited_to(data)
        self.fitted_ = method.fit(data, parts, seed, self._resources(device))
        self.device_, self.classes_, self.features_ = device, classes, table.features
        self._related = parts.related_to(data)
        self._data, self._own_scores = data, None
        self._set_threshold(data)
        configuration = Configuration(method, Parts(parts.similarity, parts.learner))
        self._trained = Trained(
            self.fitted_, configuration, seed, table.features, table.n_rows, data.n_labelled
        )
        return self

    def _make_parts(self, method: Method) -> "RecordingParts":
        """Return the similarity and the learner, as far as the method uses them."""

        def part(kind: Kind, plugin: object, params: Params | None) -> Any:
            return make_plugin(kind, plugin, params) if kind in method.uses else None

        return RecordingParts(
            part(Kind.SIMILARITY, self.similarity, self.similarity_params),
            part(Kind.LEARNER, self.learner, self.learner_params),
        )

    def _set_threshold(self, data: PUData) -> None:
        scores = self.fitted_.score(data.X, self._resources(self.device_)).values
        expected = self.fitted_.expected_positives
        count = data.n_labelled if expected is None else expected
        self.threshold_ = threshold_for(scores, n_positive(self.threshold, count, data.X.n_rows))
        are_probabilities = (
            isinstance(self.fitted_, FittedEnsemble) and 0 <= scores.min() <= scores.max() <= 1
        )
        self._unit = None if are_probabilities else float(scores.std()) or 1.0

    def save(self, folder: str | Path, *, replace: bool = False) -> None:
        """Write the model into a new folder, for `load_classifier` and `pubench predict`; nothing is pickled.

        Args:
            folder: the folder to create; it appears whole or not at all.
            replace: replace a saved model that is there.

        Raises:
            DataError: the folder has other content, or cannot be written.
        """
        check_is_fitted(self)
        state = {
            "classes": self.classes_.tolist(),
            "threshold": self.threshold_,
            "unit": self._unit,
            "named": hasattr(self, "feature_names_in_"),
        }
        data, own = self._data, None if self._data is None else self._scores_by_others(self._data)
        own_rows = None if data is None or own is None else OwnRows.of(data.X, own, data.s)
        trained = dataclasses.replace(self._trained, classifier=state, own_rows=own_rows)
        save_model(Path(folder), trained, replace=replace)

    def decision_function(self, X: Any) -> FloatVector:
        """Return the score of each row minus `threshold_`: shape (n_rows,), 0 and above for predicted positives."""
        return self._score(X) - self.threshold_

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class of each row, the positive one if its score reaches `threshold_`: shape (n_rows,)."""
        scores = self._score(X)
        return np.asarray(self.classes_[(scores >= self.threshold_).astype(np.intp)])

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the probability of each class, in the order of `classes_` (positives last): shape (n_rows, 2).

        It is the mean probability of the models, for being labelled or tagged, not for being positive; see
        docs/classifier.md. A score that is not a probability is mapped by z / (1 + |z|) in units of its standard
        deviation, with 1/2 at the threshold: this keeps the order of rows, and has no other meaning.
        """
        scores = self._score(X)
        if self._unit is None:
            positive = np.clip(scores, 0.0, 1.0)
        else:
            z = (scores - self.threshold_) / self._unit
            positive = (1 + z / (1 + np.abs(z))) / 2
        return np.column_stack([1 - positive, positive])

    def score(self, X: Any, y: Any) -> float:
        """Return AUL_PU: accuracy would count every positive found among unlabeled rows as an error."""
        scores = self.decision_function(X)
        return aul_pu_score(np.asarray(y) == self.classes_[1], scores)

    def similarity_of(self, X: Any) -> FloatVector:
        """Return the similarity of new rows to the labelled positives: shape (n_rows,), in [0, 1].

        For training rows, see `credibility_`.
        """
        table = self._table(X)
        related: Related = self._required(self._related, "similarity")
        return related.score_new(table, self._resources(self.device_)).values

    @property
    def credibility_(self) -> FloatVector:
        """The similarity of each training row to the labelled positives; 0 for labelled rows themselves."""
        check_is_fitted(self)
        related: Related = self._required(self._related, "similarity")
        return related.affinity.values

    @property
    def own_scores_(self) -> FloatVector:
        """The score of each training row by models that were not trained on it: shape (n_rows,); computed when first asked for.

        The classifier's own scores of these rows are worth little: it remembers that they counted as unlabeled. Five models on
        parts of the rows give the scores, so the first access takes about half as long as `fit`.
        """
        check_is_fitted(self)
        data: PUData = self._required(self._data, "training rows")
        scores: FloatVector = self._required(self._scores_by_others(data), "two labelled rows")
        return scores

    def _scores_by_others(self, data: PUData) -> FloatVector | None:
        if self._own_scores is None:
            trained = self._trained
            method, parts = trained.configuration.method, trained.configuration.parts
            resources = self._resources(self.device_)
            self._own_scores = own_scores(method, parts, self.fitted_, data, trained.seed, resources)
        return self._own_scores

    @property
    def k_(self) -> int:
        """The number of neighbours in use."""
        check_is_fitted(self)
        chosen = {} if self._related is None else self._related.similarity.chosen
        return int(self._required(chosen.get("k"), "number of neighbours k"))

    @property
    def expected_positives_(self) -> float:
        """The method's estimate of the number of positive training rows, labelled ones included."""
        check_is_fitted(self)
        return float(
            self._required(self.fitted_.expected_positives, "estimate of the number of positive rows")
        )

    @property
    def members_(self) -> tuple[Model, ...]:
        """The models."""
        check_is_fitted(self)
        ensemble = self.fitted_.ensemble if isinstance(self.fitted_, FittedEnsemble) else None
        members: tuple[Model, ...] = self._required(ensemble, "ensemble of models").members
        return members

    @property
    def feature_importances_(self) -> FloatVector:
        """The importance of each feature, the mean over models: shape (n_features_in_,), summing to 1, or all 0."""
        check_is_fitted(self)
        importances: FloatVector = self._required(self.fitted_.importances(), "importance of features")
        return importances

    def _required(self, value: Any, what: str) -> Any:
        if value is None:
            raise AttributeError(
                f"This {type(self).__name__} has no {what}; its method and similarity provide none."
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
    """Return the seed of a fit: the number itself, a draw from a RandomState, or a new random one for None."""
    if random_state is None:
        return Seed(secrets.randbits(32))
    if isinstance(random_state, int | np.integer):
        return Seed(int(random_state))
    return Seed(int(check_random_state(random_state).randint(2**31)))


@cache
def known_plugins() -> Registry:
    """Return the registered plugins, loaded once per process."""
    return load_registry()


_CONTRACTS = {contract.kind: contract for contract in CONTRACTS.values()}


def make_plugin(kind: Kind, plugin: object, params: Params | None) -> Any:
    """Return a plugin of this kind: the registered one of the given name with these parameters, or the given instance.

    Raises:
        UnknownPluginError: nothing is registered under the name.
        ParameterError: `plugin` is neither a name nor such an instance, an instance comes with parameters, or a
            parameter is unknown or out of range.
    """
    contract = _CONTRACTS[kind]
    if isinstance(plugin, contract):
        if params:
            raise ParameterError(
                f"'{kind}_params' go with a name; the {kind} given has its parameters already."
            )
        return plugin
    if not isinstance(plugin, str):
        raise ParameterError(
            f"'{kind}' is the name of a registered {kind} or an instance of {contract.__name__}; got {plugin!r}."
        )
    if not isinstance(params, Mapping | None):
        raise ParameterError(f"'{kind}_params' maps names of parameters to values; got {params!r}.")
    return known_plugins().find(plugin, kind).plugin(**(params or {}))


@dataclasses.dataclass(frozen=True)
class RecordingParts(Parts):
    """Parts that record the similarities which a method fits, so that the classifier can offer them afterwards.

    Attributes:
        calls: the data and the result of each call of `relate`.
    """

    calls: list[tuple[PUData, Related]] = dataclasses.field(default_factory=list, compare=False)

    def relate(self, data: PUData, scaling: str, seed: Seed, resources: Resources) -> Related:
        """Return the result of `Parts.relate`, and record it."""
        related = super().relate(data, scaling, seed, resources)
        self.calls.append((data, related))
        return related

    def related_to(self, data: PUData) -> Related | None:
        """Return the similarity that was fitted on all of `data`; None if there is none."""
        return next((related for given, related in reversed(self.calls) if given is data), None)


def n_positive(threshold: Any, expected: float, n_rows: int) -> float:
    """Return the number of training rows that should be predicted positive.

    Args:
        threshold: "expected", or a share of the training rows between 0 and 1.
        expected: the number that "expected" stands for.
        n_rows: number of training rows.

    Raises:
        ParameterError: `threshold` is something else.
    """
    if isinstance(threshold, str) and threshold == "expected":
        return expected
    if isinstance(threshold, Real) and 0 < float(threshold) < 1:
        return float(threshold) * n_rows
    raise ParameterError(
        f"'threshold' is 'expected' or a share of the training rows between 0 and 1; got {threshold!r}."
    )


def threshold_for(scores: FloatVector, count: float) -> float:
    """Return the threshold that `count` scores reach or, with ties, a number as close to that as possible.

    At least one score reaches it. It lies halfway to the next lower score, so that rounding errors move no row across.
    """
    values, counts = np.unique(scores, return_counts=True)
    reaching = np.cumsum(counts[::-1])[::-1]  # number of rows with at least this value
    position = int(np.argmin(np.abs(reaching - count)))
    if position == 0:
        return float(values[0])
    below, value = float(values[position - 1]), float(values[position])
    halfway = below / 2 + value / 2  # their difference may overflow
    return halfway if below < halfway else value

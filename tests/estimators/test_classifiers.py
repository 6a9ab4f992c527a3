"""The scikit-learn classifiers: what they guarantee beyond scikit-learn's own checks."""

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pubench.api.method import FittedMethod, Method, Parts
from pubench.api.plugin import FittedSimilarity, Kind, Similarity
from pubench.errors import DataError, ParameterError, UnknownPluginError
from pubench.estimators.base import BasePUClassifier, known_plugins, make_plugin
from pubench.estimators.classifiers import ProbTaggingClassifier, PUClassifier, load_classifier
from pubench.metrics.aul import aul_pu_score
from pubench.metrics.scorer import aul_pu_scorer
from pubench.model.saved import load_model
from pubench.seeds import Seed
from pubench.types import Affinity, BoolVector, FloatVector, PUData, Resources, Scores, Table

Bought: TypeAlias = tuple[Any, BoolVector]  # a DataFrame, and which rows are labelled
FEW_TREES = {"trees": 20}
#: Methods that need the prior are slow (networks, linear systems), and the faster ones test the same code here.
METHODS = [
    entry.name
    for entry in known_plugins().entries
    if issubclass(entry.plugin, Method) and not entry.plugin.needs_prior
]


def probtagging(**params: Any) -> ProbTaggingClassifier:
    """A classifier with few members and trees."""
    small: dict[str, Any] = {"n_members": 5, "random_state": 0, "n_jobs": 1, "learner_params": FEW_TREES}
    return ProbTaggingClassifier(**small | params)


def naive(**params: Any) -> PUClassifier:
    small: dict[str, Any] = {"random_state": 0, "n_jobs": 1, "learner": "logistic"}
    return PUClassifier(**small | params)


class FittedNearness(FittedSimilarity):
    def __init__(self, centre: Any, data: PUData) -> None:
        self.centre, self.data = centre, data

    @property
    def affinity(self) -> Affinity:
        return Affinity(np.where(self.data.s, 0.0, self._near(self.data.X)))

    def score_new(self, X: Table, resources: Resources) -> Affinity:  # noqa: ARG002 - the contract's signature
        return Affinity(self._near(X))

    def _near(self, X: Table) -> Any:
        return 0.5 * np.exp(-np.linalg.norm(X.values - self.centre, axis=1))


class Nearness(Similarity):
    """Nearness to the mean of the labelled rows; has no k."""

    name = "nearness"

    def fit(self, data: PUData, seed: Seed, resources: Resources) -> FittedNearness:  # noqa: ARG002
        return FittedNearness(data.X.values[data.s].mean(axis=0), data)


class FittedColumn(FittedMethod):
    def score(self, X: Table, resources: Resources) -> Scores:  # noqa: ARG002
        return Scores(1e6 * X.values[:, 0].astype(np.float64) - 3e6)

    def save(self, folder: Path) -> None:
        """Nothing was learned."""


class FirstColumn(Method):
    """Returns the first column as the score, which is not a probability; uses no other plugin."""

    name = "first-column"
    uses = frozenset()

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedColumn:  # noqa: ARG002
        assert parts.learner is None
        return FittedColumn()


def test_fitted_attributes(bought: Bought) -> None:
    X, s = bought
    classifier = probtagging().fit(X, s)
    assert classifier.credibility_.shape == (len(X),)
    assert np.all(classifier.credibility_[s] == 0)
    assert classifier.expected_positives_ == pytest.approx(s.sum() + classifier.credibility_.sum())
    assert classifier.k_ >= 10
    assert len(classifier.members_) == 5
    assert classifier.device_ == "cpu"
    importances = dict(zip(X.columns, classifier.feature_importances_, strict=True))
    assert sum(importances.values()) == pytest.approx(1)
    assert max(importances, key=importances.__getitem__) in {"amount", "city"}
    assert classifier.feature_names_in_.tolist() == list(X.columns)
    assert classifier.n_features_in_ == X.shape[1]


def test_importances_have_one_value_per_input_feature(bought: Bought) -> None:
    X, s = bought
    classifier = naive().fit(X, s)  # its learner encodes categories as separate columns
    assert classifier.feature_importances_.shape == (X.shape[1],)


def test_the_expected_number_of_training_rows_is_predicted_positive(bought: Bought) -> None:
    X, s = bought
    classifier = probtagging().fit(X, s)
    assert classifier.predict(X).sum() == pytest.approx(classifier.expected_positives_, abs=1)


def test_without_an_expected_number_it_is_that_of_labelled_rows(bought: Bought) -> None:
    X, s = bought
    assert naive().fit(X, s).predict(X).sum() == s.sum()


def test_threshold_as_a_share_of_training_rows(bought: Bought) -> None:
    X, s = bought
    assert naive(threshold=0.25).fit(X, s).predict(X).sum() == len(X) / 4


@pytest.mark.parametrize("threshold", ["half", 0.0, 1.0, True, None])
def test_invalid_thresholds_are_refused(bought: Bought, threshold: Any) -> None:
    with pytest.raises(ParameterError, match="threshold"):
        naive(threshold=threshold).fit(*bought)


@pytest.mark.parametrize("classifier", [probtagging(), naive()], ids=repr)
def test_decision_prediction_and_probability_agree(bought: Bought, classifier: BasePUClassifier) -> None:
    X, s = bought
    classifier = clone(classifier).fit(X, s)
    decision, probability = classifier.decision_function(X), classifier.predict_proba(X)
    np.testing.assert_array_equal(classifier.predict(X), decision > 0)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    np.testing.assert_allclose(probability[:, 1], decision + classifier.threshold_)
    assert aul_pu_score(s, decision) > 0.8


def test_score_is_aul_pu(bought: Bought) -> None:
    X, s = bought
    classifier = naive().fit(X, s)
    assert classifier.score(X, s) == aul_pu_score(s, classifier.decision_function(X))


@pytest.mark.parametrize(
    ("labels", "positive"),
    [((0, 1), None), ((-1, 1), None), (("no", "yes"), None), (("unknown", "fraud"), "fraud"), ((1, 0), 0)],
)
def test_any_two_classes_may_be_labels(bought: Bought, labels: tuple[Any, Any], positive: Any) -> None:
    X, s = bought
    plain = naive().fit(X, s)
    classifier = naive(positive=positive).fit(X, np.where(s, labels[1], labels[0]))
    assert classifier.classes_.tolist() == list(labels)
    np.testing.assert_array_equal(classifier.predict(X) == labels[1], plain.predict(X))
    np.testing.assert_array_equal(classifier.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize(
    ("y", "positive", "message"),
    [
        ([1, 1, 1, 1], None, "only one class"),
        ([0, 1, 2, 1], None, "Only binary classification"),
        ([0, 1, 1, 0], "yes", "'positive' is one of the two classes, 0 and 1"),
    ],
)
def test_invalid_labels_are_refused(y: list[int], positive: Any, message: str) -> None:
    with pytest.raises(DataError, match=message) as raised:
        naive(positive=positive).fit(np.arange(8.0).reshape(4, 2), y)
    assert isinstance(raised.value, ValueError)


@pytest.mark.parametrize("learner", ["lightgbm", "logistic"])
def test_results_do_not_depend_on_threads(bought: Bought, learner: str) -> None:
    X, s = bought
    one, two = (
        probtagging(learner=learner, learner_params=None, n_jobs=n_jobs).fit(X, s) for n_jobs in (1, 2)
    )
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(one.credibility_, two.credibility_)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


def test_results_depend_on_random_state(bought: Bought) -> None:
    X, s = bought

    def scores(random_state: Any) -> Any:
        return probtagging(random_state=random_state).fit(X, s).decision_function(X)

    np.testing.assert_array_equal(scores(7), scores(np.int64(7)))
    assert not np.array_equal(scores(7), scores(8))
    assert not np.array_equal(scores(None), scores(None))
    shared = np.random.RandomState(3)
    first, second = scores(shared), scores(shared)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, scores(np.random.RandomState(3)))


@pytest.mark.parametrize(
    ("own", "method_params"),
    [
        ({}, {}),
        ({"n_members": 7}, {"members": 7}),
        ({"scaling": "robust", "tags": "soft"}, {"scaling": "robust", "tags": "soft"}),
        ({"negatives": 3.0}, {"negatives": "sampled", "ratio": 3.0}),
        ({"cap": 0.2}, {"limit": "cap", "cap": 0.2}),
        ({"combine": "ranks"}, {"combine": "ranks"}),
        ({"n_members": 30, "reliability": 0.95}, {"members": 30, "stop": "settled", "reliability": 0.95}),
    ],
)
def test_probtagging_equals_the_registered_method(
    bought: Bought, own: dict[str, Any], method_params: dict[str, Any]
) -> None:
    X, s = bought
    classifier = probtagging(**own).fit(X, s)
    general = PUClassifier(
        "probtagging",
        method_params={"members": 5} | method_params,
        learner_params=FEW_TREES,
        random_state=0,
    ).fit(X, s)
    np.testing.assert_array_equal(classifier.decision_function(X), general.decision_function(X))
    assert len(classifier.members_) == len(general.members_)
    assert classifier.expected_positives_ == general.expected_positives_


@pytest.mark.parametrize("method", METHODS)
def test_every_registered_method_works(method: str) -> None:
    generator = np.random.default_rng(4)
    X = generator.standard_normal((400, 3))
    s = (X[:, 0] > 1.2) & (generator.random(400) < 0.5)
    classifier = naive(method=method).fit(X, s)
    decision, probability = classifier.decision_function(X), classifier.predict_proba(X)[:, 1]
    assert 0 <= probability.min() <= probability.max() <= 1
    assert np.all(np.diff(probability[np.argsort(decision)]) >= 0)
    assert 0 < classifier.predict(X).sum() < len(X)
    assert classifier.score(X, s) > 0.7


def test_defaults_are_derived_from_the_data(bought: Bought) -> None:
    X, s = bought

    def scores(**params: Any) -> FloatVector:
        classifier = PUClassifier("naive", learner="logistic", learner_params=params, random_state=0)
        return classifier.fit(X, s).decision_function(X)

    derived = scores(c=0.5 / X.shape[1])
    np.testing.assert_array_equal(scores(), derived)
    assert not np.array_equal(scores(c=0.01), derived)


def test_plugins_may_be_objects(bought: Bought) -> None:
    X, s = bought
    learner = make_plugin(Kind.LEARNER, "lightgbm", FEW_TREES)
    classifier = clone(probtagging(similarity=Nearness(), learner=learner, learner_params=None)).fit(X, s)
    assert classifier.learner == learner
    assert 0 < classifier.credibility_.max() <= 0.5
    np.testing.assert_array_equal(classifier.credibility_[~s], classifier.similarity_of(X)[~s])
    with pytest.raises(AttributeError, match="has no number of neighbours k"):
        _ = classifier.k_


def test_similarity_of_new_rows_to_the_training_rows(bought: Bought) -> None:
    X, s = bought
    half = probtagging().fit(X[:800], s[:800])
    found = half.similarity_of(X[800:])
    assert found.shape == (400,)
    assert found[s[800:]].mean() > 3 * found[~s[800:]].mean()


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"learner": "lgbm"}, UnknownPluginError, "no learner 'lgbm'"),
        ({"learner": 3}, ParameterError, "an instance of Learner; got 3"),
        ({"learner": Nearness()}, ParameterError, "an instance of Learner"),
        ({"learner_params": {"tree": 9}}, ParameterError, "no parameter 'tree'"),
        ({"learner_params": [9]}, ParameterError, "maps names of parameters to values"),
        ({"method": FirstColumn(), "method_params": {"a": 1}}, ParameterError, "has its parameters already"),
        ({"device": "gpu"}, ParameterError, "'device' is one of"),
        ({"device": "cuda"}, ParameterError, "'logistic' cannot use CUDA here"),
        ({"random_state": -1}, ParameterError, "A seed is"),
        ({"random_state": "seven"}, ValueError, "seed"),
    ],
)
def test_invalid_parameters_are_refused(
    bought: Bought, params: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        naive(**params).fit(*bought)


def test_scores_that_are_not_probabilities_keep_their_order() -> None:
    X = np.random.default_rng(1).standard_normal((500, 2))
    s = X[:, 0] > 1.5
    classifier = PUClassifier(FirstColumn()).fit(X, s)
    new = np.linspace(-1e4, 1e4, 2001).reshape(-1, 1).repeat(2, axis=1)
    probability = classifier.predict_proba(new)[:, 1]
    assert np.all(np.diff(probability) > 0)
    assert 0 < probability[0] < probability[-1] < 1
    np.testing.assert_array_equal(classifier.predict(new), probability >= 0.5)
    np.testing.assert_array_equal(classifier.predict(X), s)


@pytest.mark.parametrize(
    "attribute", ["credibility_", "k_", "expected_positives_", "members_", "feature_importances_"]
)
def test_attributes_that_a_method_does_not_provide_are_absent(attribute: str) -> None:
    classifier = PUClassifier(FirstColumn())
    with pytest.raises(NotFittedError):
        getattr(classifier, attribute)
    classifier.fit([[1.0], [0.0]], [1, 0])
    assert not hasattr(classifier, attribute)
    with pytest.raises(AttributeError, match="its method and similarity provide none"):
        getattr(classifier, attribute)


def test_a_failed_fit_leaves_the_classifier_unfitted(bought: Bought) -> None:
    classifier = naive()
    with pytest.raises(DataError):
        classifier.fit(bought[0], np.zeros(len(bought[0])))
    with pytest.raises(NotFittedError):
        classifier.predict(bought[0])


def test_it_works_in_a_pipeline_of_data_frames(bought: Bought) -> None:
    X, s = bought
    numbers = X[["amount", "noise"]]
    scaler = StandardScaler().set_output(transform="pandas")
    pipeline = make_pipeline(scaler, probtagging()).fit(numbers, s)
    assert pipeline[-1].feature_names_in_.tolist() == ["amount", "noise"]
    assert pipeline.score(numbers, s) > 0.8


def test_a_grid_search_tries_learners_and_parameters_by_aul_pu(bought: Bought) -> None:
    X, s = bought
    grid = {"learner": ["logistic"], "learner_params": [None], "threshold": ["expected", 0.1]}
    search = GridSearchCV(
        probtagging(),
        [grid, {"scaling": ["none"], "learner_params": [{"trees": 20, "depth": 1}]}],
        scoring=aul_pu_scorer,
        cv=2,
        error_score="raise",
    ).fit(X, s)
    assert 0.7 < search.best_score_ == max(search.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(search.predict(X), search.best_estimator_.predict(X))


def test_own_scores_are_by_models_that_did_not_see_the_rows(tmp_path: Path) -> None:
    generator = np.random.default_rng(4)
    wants = generator.random(1500) < 0.1
    X = generator.normal(1.5 * wants[:, None], size=(1500, 4))
    bought = wants & (generator.random(1500) < 0.5)
    forest = PUClassifier("naive", "forest", learner_params={"leaf_rows": 1, "trees": 50}, random_state=0)
    forest.fit(X, bought)
    hidden = wants[~bought]
    assert roc_auc_score(hidden, forest.own_scores_[~bought]) > 0.85
    assert roc_auc_score(hidden, forest.predict_proba(X)[~bought, 1]) < 0.6
    forest.save(tmp_path / "model")
    again = load_model(tmp_path / "model", known_plugins())
    found = again.honest_scores(Table.from_array(X), Resources(n_threads=1))
    assert found.is_own.all()
    np.testing.assert_array_equal(found.scores.values, forest.own_scores_)
    with pytest.raises(AttributeError, match="no training rows"):
        _ = load_classifier(tmp_path / "model").own_scores_

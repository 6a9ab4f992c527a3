"""PU views: which positives somebody observed. Truth goes in, labels come out, by pure chance or with a bias.

A labelling gives every positive its propensity, the probability of being labelled; negatives are never labelled. Under
SCAR the propensity is theta_O for all. Under a bias its log-odds rise or fall with the rank of a positive among the
positives, and theta_O is its mean: what is biased is who is labelled, not how many.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from scipy.special import expit

from pubench.errors import DataError, ParameterError, suggestion
from pubench.seeds import Seed
from pubench.truth import Truth
from pubench.types import BoolVector, FloatVector, IndexVector, PUData, Sampling, Table

Mechanism: TypeAlias = Literal["scar", "feature", "probability"]
Direction: TypeAlias = Literal["rising", "falling"]

#: From the lowest to the highest positive the log-odds of being labelled change by this: from 1:7 to 7:1 around 1/2.
_STEEPNESS = 4.0
_FOLDS = 3


@dataclass(frozen=True)
class Labelling:
    """How positives come to be labelled.

    Attributes:
        theta_o: the share of positives that is labelled, in (0, 1]; theta_O in the paper.
        mechanism: "scar": at random. "feature": by the rank of `feature`. "probability": by the rank of the class
            probability, estimated out of fold by logistic regression on the truth.
        direction: whether a bias favours high ("rising") or low ("falling") ranks.
        feature: the column that decides, with mechanism "feature".
        sampling: "single-training-set": the rows that are not labelled are the unlabeled ones. "case-control": the
            labelled positives were collected apart, and the unlabeled rows keep the population's share of positives;
            for that the share theta_O of the negatives, drawn at random, is left out.
    """

    theta_o: float
    mechanism: Mechanism = "scar"
    direction: Direction = "rising"
    feature: str | None = None
    sampling: Sampling = "single-training-set"

    def __post_init__(self) -> None:
        if not 0 < self.theta_o <= 1:
            raise ParameterError(f"theta_O is a share above 0 and up to 1; got {self.theta_o:g}.")
        for name, kind in (("mechanism", Mechanism), ("direction", Direction), ("sampling", Sampling)):
            if getattr(self, name) not in get_args(kind):
                known = ", ".join(get_args(kind))
                raise ParameterError(
                    f"The {name} of a labelling is one of {known}; got '{getattr(self, name)}'."
                )
        if (self.mechanism == "feature") != (self.feature is not None):
            raise ParameterError("A labelling names a feature exactly when its mechanism is 'feature'.")


@dataclass(frozen=True, eq=False)
class PUView:
    """A table as somebody sees it who knows some positives, and the truth behind it.

    Attributes:
        data: features and labels.
        truth: the true labels of the same rows.
        rows: shape (n,), int64, ascending: which rows of the table these are; all of them in a single training set.
    """

    data: PUData
    truth: Truth
    rows: IndexVector


def draw_view(X: Table, truth: Truth, labelling: Labelling, seed: Seed) -> PUView:
    """Label positives of `X` as `labelling` says.

    Under SCAR exactly the share theta_O of the positives, rounded, is drawn; under a bias every positive is drawn on
    its own, so the number varies.

    Raises:
        DataError: no positive, or none or all rows come out labelled, or the feature can not decide.
    """
    positives = np.flatnonzero(truth.y)
    if len(positives) == 0:
        raise DataError("There are no positives to label.")
    labelled = positives[_drawn(X, truth, positives, labelling, seed)]
    if len(labelled) == 0:
        raise DataError(
            f"theta_O = {labelling.theta_o:g} labels none of the {len(positives)} positives; raise it or use more rows."
        )
    s = np.zeros(X.n_rows, dtype=np.bool_)
    s[labelled] = True
    rows = _sampled_rows(truth.y, labelling, seed)
    return PUView(PUData(X, s).take(rows), truth.take(rows), rows)


def _drawn(
    X: Table, truth: Truth, positives: IndexVector, labelling: Labelling, seed: Seed
) -> IndexVector | BoolVector:
    generator = seed.child("labels").generator()
    if labelling.mechanism == "scar":
        return generator.permutation(len(positives))[: round(labelling.theta_o * len(positives))]
    order_by: Callable[[], FloatVector] = {
        "feature": lambda: _feature(X, str(labelling.feature))[positives],
        "probability": lambda: _class_probability(X, truth.y, seed.child("probability"))[positives],
    }[labelling.mechanism]
    chance = _propensity(_ranks(order_by()), labelling)
    return generator.random(len(positives)) < chance


def _sampled_rows(y: BoolVector, labelling: Labelling, seed: Seed) -> IndexVector:
    if labelling.sampling == "single-training-set":
        return np.arange(len(y))
    negatives = np.flatnonzero(~y)
    left_out = round(labelling.theta_o * len(negatives))
    kept = np.ones(len(y), dtype=np.bool_)
    kept[seed.child("case-control").generator().permutation(negatives)[:left_out]] = False
    return np.flatnonzero(kept)


def _propensity(rank: FloatVector, labelling: Labelling) -> FloatVector:
    """Return the chance of each positive to be labelled; their mean is theta_O."""
    from scipy.optimize import brentq  # noqa: PLC0415 - half a second, and only a bias needs it

    if labelling.theta_o == 1:
        return np.ones(len(rank))
    slope = _STEEPNESS * (1 if labelling.direction == "rising" else -1)
    tilt = slope * (rank - 0.5)
    level = brentq(lambda shift: float(np.mean(expit(shift + tilt))) - labelling.theta_o, -50, 50)
    return np.asarray(expit(level + tilt), dtype=np.float64)


def _ranks(values: FloatVector) -> FloatVector:
    """Return midranks scaled to (0, 1); a missing value stands in the middle."""
    from scipy.stats import rankdata  # noqa: PLC0415 - heavy imports happen when used

    present = ~np.isnan(values)
    ranks = np.full(len(values), 0.5)
    ranks[present] = (rankdata(values[present]) - 0.5) / max(1, int(present.sum()))
    return ranks


def _feature(X: Table, name: str) -> FloatVector:
    names = [feature.name for feature in X.features]
    if name not in names:
        raise DataError(f"There is no feature '{name}'.{suggestion(name, names)}")
    column = names.index(name)
    if X.features[column].kind == "categorical":
        raise DataError(f"Feature '{name}' is categorical and has no order; labelling can not rise with it.")
    return X.values[:, column].astype(np.float64)


def _class_probability(X: Table, y: BoolVector, seed: Seed) -> FloatVector:
    from sklearn.impute import SimpleImputer  # noqa: PLC0415
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    from sklearn.model_selection import StratifiedKFold, cross_val_predict  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    if min(int(y.sum()), int((~y).sum())) < _FOLDS:
        raise DataError(
            f"Labelling by class probability needs {_FOLDS} positives and {_FOLDS} negatives at least."
        )
    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    model = make_pipeline(imputer, StandardScaler(), LogisticRegression(max_iter=1000))
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed.integer())
    predicted = cross_val_predict(model, X.values, y, cv=folds, method="decision_function")
    return np.asarray(predicted, dtype=np.float64)

"""PU views: what turns a data set into PU data. True labels go in, observed ones come out, at random or with a bias.

A labelling gives every positive its propensity, the probability of being labelled; negatives are never labelled. Under
SCAR the propensity is theta_O for all. Under a bias its log-odds rise or fall with the rank of a positive among the
positives, and theta_O is its mean: a bias changes which positives are labelled, not their expected number.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from pubench.api.dataset import Dataset
from pubench.errors import DataError, ParameterError, suggestion
from pubench.seeds import Seed
from pubench.truth import Truth
from pubench.types import BoolVector, FloatVector, IndexVector, PUData, Sampling, Table

Mechanism: TypeAlias = Literal["scar", "feature", "probability"]
Direction: TypeAlias = Literal["rising", "falling"]

#: The share of positives that is labelled where only true labels are known and no share is given, as in the paper's
#: main table.
DEFAULT_THETA_O = 0.5
#: From the lowest to the highest positive the log-odds of being labelled change by this: from 1:7 to 7:1 around 1/2.
_STEEPNESS = 4.0
_FOLDS = 3


@dataclass(frozen=True)
class Labelling:
    """How positives are labelled.

    Attributes:
        theta_o: the share of positives that are labelled, in (0, 1]; theta_O in the paper.
        mechanism: "scar": at random. "feature": by the rank of `feature`. "probability": by the rank of the class
            probability, estimated out of fold by logistic regression on the truth.
        direction: whether a bias favours high ("rising") or low ("falling") ranks.
        feature: the column to rank by, with mechanism "feature".
        sampling: "single-training-set": the rows that are not labelled are the unlabeled ones. "case-control": the
            labelled positives were collected apart, and the unlabeled rows keep the population's share of positives;
            to that end the share theta_O of the negatives, drawn at random, is left out.
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
    """A table with observed labels, and the true labels behind them.

    Attributes:
        data: features and labels.
        truth: the true labels of the same rows.
        rows: shape (n,), int64, ascending: which rows of the table these are; all of them in a single training set.
    """

    data: PUData
    truth: Truth
    rows: IndexVector


def pu_data(dataset: Dataset, theta_o: float | None, seed: Seed) -> tuple[PUData, tuple[str, ...]]:
    """Return a data set as PU data, and notices: its observed labels, or a draw of them where only truth is known.

    Args:
        dataset: the data set.
        theta_o: the share of positives to label, where only truth is known; None: `DEFAULT_THETA_O`.
        seed: decides the draw.

    Raises:
        ParameterError: a share to label is given for a data set with observed labels.
    """
    if dataset.observed is not None:
        if theta_o is not None:
            raise ParameterError("This data set has observed labels; --theta-o applies to true labels only.")
        return PUData(dataset.X, dataset.observed), ()
    if dataset.truth is None:
        raise DataError("A data set needs observed labels or true ones.")
    share = DEFAULT_THETA_O if theta_o is None else theta_o
    view = draw_view(dataset.X, dataset.truth, Labelling(share), seed.child("view"))
    notice = (
        f"Only true labels are known here: {view.data.n_labelled:,} of {int(dataset.truth.y.sum()):,} positives, the "
        f"share {share:g} (--theta-o), were drawn as labelled, and the model sees no others."
    )
    return view.data, (notice,)


def draw_view(X: Table, truth: Truth, labelling: Labelling, seed: Seed) -> PUView:
    """Label positives of `X` as `labelling` says.

    Under SCAR exactly the share theta_O of the positives, rounded, is drawn; under a bias every positive is drawn on
    its own, so the number varies.

    Raises:
        DataError: there is no positive, none or all rows are labelled then, or rows cannot be ranked by the feature.
    """
    positives = np.flatnonzero(truth.y)
    if len(positives) == 0:
        raise DataError("There are no positives to label.")
    labelled = positives[_draw(X, truth, positives, labelling, seed)]
    if len(labelled) == 0:
        raise DataError(
            f"theta_O = {labelling.theta_o:g} labels none of the {len(positives)} positives; raise it or use more rows."
        )
    s = np.zeros(X.n_rows, dtype=np.bool_)
    s[labelled] = True
    rows = _sampled_rows(truth.y, labelling, seed)
    return PUView(PUData(X, s).take(rows), truth.take(rows), rows)


def _draw(
    X: Table, truth: Truth, positives: IndexVector, labelling: Labelling, seed: Seed
) -> IndexVector | BoolVector:
    generator = seed.child("labels").generator()
    if labelling.mechanism == "scar":
        return generator.permutation(len(positives))[: round(labelling.theta_o * len(positives))]
    ranked_by: Callable[[], FloatVector] = {
        "feature": lambda: _feature(X, str(labelling.feature))[positives],
        "probability": lambda: _class_probability(X, truth.y, seed.child("probability"))[positives],
    }[labelling.mechanism]
    propensity = _propensity(_ranks(ranked_by()), labelling)
    return generator.random(len(positives)) < propensity


def _sampled_rows(y: BoolVector, labelling: Labelling, seed: Seed) -> IndexVector:
    if labelling.sampling == "single-training-set":
        return np.arange(len(y))
    negatives = np.flatnonzero(~y)
    left_out = round(labelling.theta_o * len(negatives))
    sampled = np.ones(len(y), dtype=np.bool_)
    sampled[seed.child("case-control").generator().permutation(negatives)[:left_out]] = False
    return np.flatnonzero(sampled)


def _propensity(rank: FloatVector, labelling: Labelling) -> FloatVector:
    """Return the probability of each positive to be labelled; their mean is theta_O."""
    from scipy.optimize import brentq  # noqa: PLC0415 - takes half a second to import, and only a bias needs it
    from scipy.special import expit  # noqa: PLC0415

    if labelling.theta_o == 1:
        return np.ones(len(rank))
    slope = _STEEPNESS * (1 if labelling.direction == "rising" else -1)
    tilt = slope * (rank - 0.5)
    level = brentq(lambda shift: float(np.mean(expit(shift + tilt))) - labelling.theta_o, -50, 50)
    return np.asarray(expit(level + tilt), dtype=np.float64)


def _ranks(values: FloatVector) -> FloatVector:
    """Return midranks scaled to (0, 1); a missing value gets 1/2."""
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
        raise DataError(f"Feature '{name}' is categorical and has no order; labelling cannot rise with it.")
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

"""scikit-learn's histogram gradient boosting."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pubench import (
    Float,
    FloatVector,
    IndexVector,
    Int,
    Learner,
    Model,
    Resources,
    Seed,
    Table,
    Tags,
    Takes,
    write_json,
)
from pubench_plugins.learners.model_files import (
    Branches,
    check_columns,
    expect,
    floats,
    integers,
    read_form,
    reading,
    shares,
)
from pubench_plugins.learners.threads import by_rows, openmp_threads

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingClassifier

_FORM = "pubench histgb 1"
_LARGEST = float(np.finfo(np.float64).max)
_BINS = 128
_SAMPLE = 200_000  # rows that decide where bins end, as in scikit-learn


@dataclass(frozen=True, eq=False)
class Binned:
    """Rows as numbers of bins.

    Attributes:
        codes: shape (n_rows, n_features), float64: 0, 1, ..., or NaN for a missing value.
        edges: for each feature where its bins end, but the last one.
    """

    codes: npt.NDArray[np.float64]
    edges: tuple[FloatVector, ...]

    def take(self, rows: IndexVector) -> npt.NDArray[np.float64]:
        """Return the codes of these rows; 0 in a feature without any value there, over which scikit-learn stumbles."""
        every = np.array_equal(rows, np.arange(len(self.codes)))
        codes = self.codes if every else self.codes[rows]
        empty = np.isnan(codes).all(axis=0)
        return np.where(empty, 0.0, codes) if empty.any() else codes


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of all trees, one behind the other; all arrays have the shape (n_nodes,).

    Attributes:
        feature, threshold: an inner node sends a row to the left if the feature's value is at most the threshold,
        missing_left: and if it is missing, where this is 1.
        left, right: where to go on; both are the node itself for a leaf.
        value: what a leaf adds to the logarithm of the odds.
        gain: what a split was good for.
    """

    feature: IndexVector
    threshold: FloatVector
    missing_left: IndexVector
    left: IndexVector
    right: IndexVector
    value: FloatVector
    gain: FloatVector


@dataclass(frozen=True, eq=False)
class HistGBModel(Model):
    """Trees taken out of a scikit-learn classifier, whose own form is private and changes between releases.

    Attributes:
        n_features: of the table it was trained on.
        baseline: the logarithm of the odds where the trees start.
        roots: shape (n_trees,): the first node of each tree.
        nodes: of all trees.
    """

    n_features: int
    baseline: float
    roots: IndexVector
    nodes: Nodes

    def predict(self, X: Table, resources: Resources) -> FloatVector:
        """Walk every row through all trees."""
        from scipy.special import expit  # noqa: PLC0415 - heavy imports happen when used

        check_columns(X, self.n_features)
        walk = _compiled_walk()
        nodes = tuple(getattr(self.nodes, field.name) for field in fields(Nodes)[:-1])  # all but the gain

        def predict(values: npt.NDArray[Any]) -> FloatVector:
            return walk(values, self.baseline, self.roots, nodes)

        return np.asarray(expit(by_rows(predict, X, resources.n_threads)), dtype=np.float64)

    def importances(self) -> FloatVector:
        """Return each feature's share of the gain of all splits."""
        inner = self.nodes.left != np.arange(len(self.nodes.left))
        features = self.nodes.feature[inner]
        return shares(np.bincount(features, self.nodes.gain[inner], minlength=self.n_features))

    def save(self, path: Path) -> None:
        """Write the trees as JSON."""
        nodes = {field.name: getattr(self.nodes, field.name).tolist() for field in fields(Nodes)}
        content = {"n_features": self.n_features, "baseline": self.baseline, "roots": self.roots.tolist()}
        write_json(path, {"form": _FORM, **content, "nodes": nodes})


@cache
def _compiled_walk() -> Callable[..., FloatVector]:
    """Compile the walk once per process, in about a second; NumPy alone would take ten times as long per row."""
    import numba  # noqa: PLC0415

    def walk(values: npt.NDArray[Any], baseline: float, roots: IndexVector, nodes: Any) -> FloatVector:
        feature, threshold, missing_left, left, right, value = nodes
        found = np.full(len(values), baseline)
        for row in range(len(values)):
            for root in roots:
                node = root
                while left[node] != node:
                    x = values[row, feature[node]]
                    goes_left = missing_left[node] == 1 if math.isnan(x) else x <= threshold[node]
                    node = left[node] if goes_left else right[node]
                found[row] += value[node]
        return found

    return numba.njit(nogil=True)(walk)


class HistGB(Learner):
    """scikit-learn's histogram gradient boosting, shallow for few positives."""

    name = "histgb"
    searched = False  # of the same family as lightgbm, and several times slower
    takes = Takes(missing=True)
    suffix = ".json"
    # At few positives a row's hessian is about its chance to be positive: the penalty is counted in positives.
    space = {
        "trees": Int(20, 500, default=60, log=True, help="boosting rounds"),
        "learning_rate": Float(0.02, 0.5, default=0.15, log=True, help="shrinkage of each tree"),
        "depth": Int(1, 8, default=3, help="depth of trees"),
        "l2": Float(0.3, 300.0, default=10.0, log=True, help="L2 penalty on leaf values, in positives"),
        "min_leaf_rows": Int(1, 1000, default=20, log=True, help="rows that a leaf must hold"),
        "features": Float(0.1, 1.0, default=0.5, log=True, help="share of features per split"),
    }

    def prepare(self, X: Table, resources: Resources) -> Binned:  # noqa: ARG002 - the contract's signature
        """Replace values by numbers of bins, which scikit-learn then finds to be bins already.

        It offers no binned form to share and bins in every `fit`: 1 s at 200,000 x 30, and 30 s with weights, for
        which it sorts each feature 254 times. Few distinct values take it .7 s, with weights or without.
        """
        edges = tuple(_edges(column) for column in X.values.T)
        codes = np.empty(X.values.shape)
        for j, column in enumerate(X.values.T):
            codes[:, j] = np.where(np.isnan(column), np.nan, np.searchsorted(edges[j], column))
        return Binned(codes, edges)

    def train(self, prepared: Binned, tags: Tags, seed: Seed, resources: Resources) -> HistGBModel:
        """Boost from the average on the rows that count, those with a soft tag as two."""
        from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415

        examples = tags.examples()
        classifier = HistGradientBoostingClassifier(
            max_iter=self.params["trees"],
            learning_rate=self.params["learning_rate"],
            max_depth=self.params["depth"],
            max_leaf_nodes=2 ** self.params["depth"],
            min_samples_leaf=self.params["min_leaf_rows"],
            l2_regularization=self.params["l2"],
            max_features=self.params["features"],
            early_stopping=False,
            random_state=seed.integer(),
        )
        codes = prepared.take(examples.rows)
        with openmp_threads(resources.n_threads):
            classifier.fit(codes, examples.positive, sample_weight=examples.weight)
        return _extracted(classifier, prepared.edges)

    @classmethod
    def load(cls, path: Path) -> HistGBModel:
        """Read the trees and look at every node."""
        with reading(path, "a model of histgb"):
            content = read_form(path, _FORM)
            n_features, size = content["n_features"], len(content["nodes"]["value"])
            expect(type(n_features) is int and n_features > 0, "n_features should be a whole number")
            roots = integers(content["roots"], len(content["roots"]))
            expect(np.all((roots >= 0) & (roots < size)), "a tree should start at a node")
            model = HistGBModel(
                n_features,
                float(floats([content["baseline"]], 1)[0]),
                roots,
                _read_nodes(content["nodes"], size),
            )
            Branches(model.nodes.feature, model.nodes.left, model.nodes.right).check(n_features)
            return model


def _read_nodes(content: dict[str, Any], size: int) -> Nodes:
    return Nodes(
        feature=integers(content["feature"], size),
        threshold=floats(content["threshold"], size),
        missing_left=integers(content["missing_left"], size),
        left=integers(content["left"], size),
        right=integers(content["right"], size),
        value=floats(content["value"], size),
        gain=floats(content["gain"], size),
    )


def _edges(column: npt.NDArray[Any]) -> FloatVector:
    """Return at most `_BINS` - 1 rising values; a bin ends with its edge, which belongs to it."""
    known = column[~np.isnan(column)].astype(np.float64)
    distinct = np.unique(known[:: 1 + len(known) // _SAMPLE])
    if len(distinct) <= _BINS:
        return np.asarray((distinct[1:] + distinct[:-1]) / 2)
    places = np.linspace(0, 1, _BINS + 1)[1:-1]
    return np.unique(np.quantile(known[:: 1 + len(known) // _SAMPLE], places, method="inverted_cdf"))


def _extracted(classifier: "HistGradientBoostingClassifier", edges: tuple[FloatVector, ...]) -> HistGBModel:
    # Private, but there is no other way to the trees, and only this function knows: a change there shows in tests.
    trees = [stage[0].nodes for stage in classifier._predictors]  # noqa: SLF001
    baseline = float(classifier._baseline_prediction.item())  # noqa: SLF001
    sizes = [len(tree) for tree in trees]
    roots = np.cumsum([0, *sizes])[:-1]
    joined = np.concatenate(trees)
    offset = np.repeat(roots, sizes)
    leaf = joined["is_leaf"] == 1
    own = np.arange(len(joined))
    feature = np.where(leaf, 0, joined["feature_idx"]).astype(np.int64)
    nodes = Nodes(
        feature=feature,
        threshold=_as_values(feature, joined["num_threshold"], edges),
        missing_left=np.where(leaf, 0, joined["missing_go_to_left"]).astype(np.int64),
        left=np.where(leaf, own, joined["left"] + offset),
        right=np.where(leaf, own, joined["right"] + offset),
        value=np.where(leaf, joined["value"], 0.0),
        gain=np.where(leaf, 0.0, np.maximum(joined["gain"], 0.0)),
    )
    return HistGBModel(int(classifier.n_features_in_), baseline, roots, nodes)


def _as_values(feature: IndexVector, codes: FloatVector, edges: tuple[FloatVector, ...]) -> FloatVector:
    """Return thresholds between numbers of bins as values: what is at most 3.5 lies in bins 0 to 3.

    Where all bins go left, and only missing values do not, the threshold is the largest number there is.
    """
    padded = [np.append(column, _LARGEST) for column in edges]
    last = np.array([len(column) - 1 for column in padded])[feature]
    places = np.clip(np.floor(codes), 0, last).astype(np.int64)
    return np.array([padded[j][place] for j, place in zip(feature, places, strict=True)])

"""scikit-learn's histogram gradient boosting."""

from dataclasses import dataclass, fields
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
    check_columns,
    feature_count,
    floats,
    integers,
    read_form,
    reading,
)
from pubench_plugins.learners.thread_limits import openmp_threads
from pubench_plugins.learners.tree_nodes import TreeNodes

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingClassifier

_FORM = "pubench histgb 1"
_LARGEST = float(np.finfo(np.float64).max)
_BINS = 128
_SAMPLE = 200_000  # rows that decide where bins end, as in scikit-learn


@dataclass(frozen=True, eq=False)
class HistGBBins:
    """Rows as bin numbers.

    Attributes:
        codes: shape (n_rows, n_features), float64: 0, 1, ..., or NaN for a missing value.
        edges: for each feature the upper ends of its bins, without the last one.
    """

    codes: npt.NDArray[np.float64]
    edges: tuple[FloatVector, ...]

    def take(self, rows: IndexVector) -> npt.NDArray[np.float64]:
        """Return the codes of these rows; 0 in a feature without any value there, which scikit-learn cannot bin."""
        every = np.array_equal(rows, np.arange(len(self.codes)))
        codes = self.codes if every else self.codes[rows]
        empty = np.isnan(codes).all(axis=0)
        return np.where(empty, 0.0, codes) if empty.any() else codes


@dataclass(frozen=True, eq=False)
class HistGBModel(Model):
    """Trees extracted from a scikit-learn classifier, whose own format is private and changes between releases.

    Attributes:
        n_features: of the table it was trained on.
        baseline: the logarithm of the odds to which the trees add.
        nodes: of all trees.
    """

    n_features: int
    baseline: float
    nodes: TreeNodes

    def predict(self, X: Table, resources: Resources) -> FloatVector:
        """Walk every row through all trees."""
        from scipy.special import expit  # noqa: PLC0415 - heavy imports happen when used

        check_columns(X, self.n_features)
        sums = self.nodes.sums(X, self.baseline, resources.n_threads)
        return np.asarray(expit(sums), dtype=np.float64)

    def importances(self) -> FloatVector:
        """Return each feature's share of the gain of all splits."""
        return self.nodes.importances(self.n_features)

    def save(self, path: Path) -> None:
        """Write the trees as JSON."""
        arrays = {field.name: getattr(self.nodes, field.name).tolist() for field in fields(TreeNodes)}
        content = {"n_features": self.n_features, "baseline": self.baseline, "roots": arrays.pop("roots")}
        write_json(path, {"form": _FORM, **content, "nodes": arrays})


class HistGB(Learner):
    """scikit-learn's histogram gradient boosting, by default shallow for few positives; it starts from the average."""

    name = "histgb"
    searched = False  # of the same family as lightgbm, and several times slower
    takes = Takes(missing=True)
    suffix = ".json"
    # At few positives a row's hessian is about its chance to be positive: the penalty is counted in positives.
    space = {
        "trees": Int(20, 500, default=60, log=True, help="boosting rounds"),
        "learning_rate": Float(0.02, 0.5, default=0.15, log=True, help="shrinkage of each tree"),
        "depth": Int(1, 16, default=3, help="depth of trees"),
        "leaves": Int(2, 256, default=256, log=True, help="most leaves of a tree, within its depth"),
        "l2": Float(0.001, 300.0, default=10.0, log=True, help="L2 penalty on leaf values, in positives"),
        "min_leaf_rows": Int(1, 1000, default=20, log=True, help="rows that a leaf must hold"),
        "features": Float(0.1, 1.0, default=0.5, log=True, help="share of features per split"),
    }

    def prepare(self, X: Table, resources: Resources) -> HistGBBins:  # noqa: ARG002 - the contract's signature
        """Replace values by numbers of bins, which scikit-learn then uses as bins.

        It offers no binned form to share and bins in every `fit`: 1 s at 200,000 x 30, and 30 s with weights, for
        which it sorts each feature 254 times. Few distinct values take it .7 s, with weights or without.
        """
        edges = tuple(_edges(column) for column in X.values.T)
        codes = np.empty(X.values.shape)
        for j, column in enumerate(X.values.T):
            codes[:, j] = np.where(np.isnan(column), np.nan, np.searchsorted(edges[j], column))
        return HistGBBins(codes, edges)

    def train(self, prepared: HistGBBins, tags: Tags, seed: Seed, resources: Resources) -> HistGBModel:
        """Boost from the average on the rows that count, those with a soft tag as two."""
        from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415

        examples = tags.examples()
        classifier = HistGradientBoostingClassifier(
            max_iter=self.params["trees"],
            learning_rate=self.params["learning_rate"],
            max_depth=self.params["depth"],
            max_leaf_nodes=min(self.params["leaves"], 2 ** self.params["depth"]),
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
        """Read the trees and check every node."""
        with reading(path, "a model of histgb"):
            content = read_form(path, _FORM)
            n_features = feature_count(content["n_features"])
            baseline = float(floats([content["baseline"]], 1)[0])
            model = HistGBModel(n_features, baseline, _read_nodes(content["roots"], content["nodes"]))
            model.nodes.check(n_features)
            return model


def _read_nodes(roots: list[Any], content: dict[str, Any]) -> TreeNodes:
    size = len(content["value"])
    return TreeNodes(
        roots=integers(roots, len(roots)),
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
    levels = np.linspace(0, 1, _BINS + 1)[1:-1]
    return np.unique(np.quantile(known[:: 1 + len(known) // _SAMPLE], levels, method="inverted_cdf"))


def _extracted(classifier: "HistGradientBoostingClassifier", edges: tuple[FloatVector, ...]) -> HistGBModel:
    # Private attributes, but there is no other access to the trees, and only this function uses them; tests notice a change.
    trees = [stage[0].nodes for stage in classifier._predictors]  # noqa: SLF001
    baseline = float(classifier._baseline_prediction.item())  # noqa: SLF001
    sizes = [len(tree) for tree in trees]
    roots = np.cumsum([0, *sizes])[:-1]
    joined = np.concatenate(trees)
    offset = np.repeat(roots, sizes)
    leaf = joined["is_leaf"] == 1
    own = np.arange(len(joined))
    feature = np.where(leaf, 0, joined["feature_idx"]).astype(np.int64)
    nodes = TreeNodes(
        roots=roots,
        feature=feature,
        threshold=_as_values(feature, joined["num_threshold"], edges),
        missing_left=np.where(leaf, 0, joined["missing_go_to_left"]).astype(np.int64),
        left=np.where(leaf, own, joined["left"] + offset),
        right=np.where(leaf, own, joined["right"] + offset),
        value=np.where(leaf, joined["value"], 0.0),
        gain=np.where(leaf, 0.0, np.maximum(joined["gain"], 0.0)),
    )
    return HistGBModel(int(classifier.n_features_in_), baseline, nodes)


def _as_values(feature: IndexVector, codes: FloatVector, edges: tuple[FloatVector, ...]) -> FloatVector:
    """Return thresholds between numbers of bins as values: what is at most 3.5 lies in bins 0 to 3.

    Where all bins go left, and only missing values do not, the threshold is the largest number there is.
    """
    padded = [np.append(column, _LARGEST) for column in edges]
    last = np.array([len(column) - 1 for column in padded])[feature]
    bins = np.clip(np.floor(codes), 0, last).astype(np.int64)
    return np.array([padded[j][number] for j, number in zip(feature, bins, strict=True)])

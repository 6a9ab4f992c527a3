"""Forests of extremely randomised or of best-cut trees, grown by scikit-learn."""

import json
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pubench import (
    Choice,
    Examples,
    FloatVector,
    IndexVector,
    Int,
    Json,
    Learner,
    Model,
    Resources,
    Seed,
    Table,
    Tags,
    Takes,
)
from pubench_plugins.learners.model_files import check_columns, expect, feature_count, reading
from pubench_plugins.learners.tree_nodes import TreeNodes

if TYPE_CHECKING:
    from sklearn.tree import BaseDecisionTree

Rows = npt.NDArray[np.float32]

_FORM = "pubench forest 1"
_LARGEST = float(np.finfo(np.float32).max)
#: A node in a file; floats keep every bit.
_NODE = np.dtype(
    [
        ("feature", "<i4"),
        ("threshold", "<f8"),
        ("missing_left", "u1"),
        ("left", "<i4"),
        ("right", "<i4"),
        ("value", "<f8"),
        ("gain", "<f8"),
    ]
)


@dataclass(frozen=True, eq=False)
class ForestModel(Model):
    """The nodes of all trees, extracted: scikit-learn's own format is a pickle.

    Attributes:
        n_features: of the table it was trained on.
        nodes: of all trees; the value of a leaf is its share of positives.
        n_asked: number of trees that were to be grown.
    """

    n_features: int
    nodes: TreeNodes
    n_asked: int

    def predict(self, X: Table, resources: Resources) -> FloatVector:
        """Return the mean over trees of the share of positives in the row's leaf."""
        check_columns(X, self.n_features)
        sums = self.nodes.sums(Table(_as_grown(X), X.features), 0.0, resources.n_threads)
        return np.minimum(sums / len(self.nodes.roots), 1.0)

    def importances(self) -> FloatVector:
        """Return each feature's share of the decrease of impurity over all splits."""
        return self.nodes.importances(self.n_features)

    @property
    def decided(self) -> Mapping[str, Json]:
        """The number of trees, where the time ran out."""
        n_trees = len(self.nodes.roots)
        return {} if n_trees == self.n_asked else {"trees": n_trees}

    def save(self, path: Path) -> None:
        """Write a line of JSON and the nodes as bytes behind it."""
        roots = self.nodes.roots.tolist()
        head = {"form": _FORM, "n_features": self.n_features, "n_asked": self.n_asked, "roots": roots}
        nodes = np.empty(len(self.nodes.value), _NODE)
        for name in _NODE.names or ():
            nodes[name] = getattr(self.nodes, name)
        path.write_bytes(json.dumps(head).encode() + b"\n" + nodes.tobytes())


class Forest(Learner):
    """Trees grown apart, each on its own draw, and the mean of their leaves; with ProbTagging each on its own tagging."""

    name = "forest"
    takes = Takes(missing=True)
    suffix = ".trees"
    memory = 2.0
    space = {
        "trees": Int(1, 2000, default=200, log=True, tuned=False, draft=100, help="trees in the forest"),
        "cuts": Choice(
            ("random", "best"), default="random", help="of each feature try one random cut, or find the best"
        ),
        "leaf_rows": Int(1, 100, default=3, log=True, help="rows that a leaf must hold"),
        "criterion": Choice(("gini", "entropy"), default="gini", help="impurity that a split decreases"),
        "features": Choice(
            ("sqrt", "third", "all"), default="sqrt", help="number of features that a split chooses from"
        ),
        "bootstrap": Choice(
            (False, True), default=False, help="grow each tree on rows drawn with replacement"
        ),
        "tree_rows": Int(
            100,
            10_000_000,
            default=100_000,
            log=True,
            tuned=False,
            help="grow each tree on at most this many rows, drawn anew; positives first",
        ),
    }

    def prepare(self, X: Table, resources: Resources) -> Rows:  # noqa: ARG002 - the contract's signature
        """Return the rows as float32, in which trees are grown."""
        return _as_grown(X)

    def train(self, prepared: Rows, tags: Tags, seed: Seed, resources: Resources) -> ForestModel:
        """Grow trees in parallel, one thread each; after `resources.until` no further one is begun."""
        examples, asked = tags.examples(), self.params["trees"]
        trees: list[TreeNodes] = []
        with ThreadPoolExecutor(resources.n_threads) as pool:
            for nodes in pool.map(
                lambda number: self._grow(prepared, examples, seed.child("tree", number), resources, number),
                range(asked),
            ):
                if nodes is None:
                    break
                trees.append(nodes)
                resources.progress(len(trees) / asked)
        return ForestModel(prepared.shape[1], _joined(trees), asked)

    def member_of(self, count: int) -> "Forest":
        """Return a forest with the share of one of `count` members in the trees, at least one."""
        return Forest(**{**self.params, "trees": -(-self.params["trees"] // count)})

    def _grow(
        self, rows: Rows, examples: Examples, seed: Seed, resources: Resources, number: int
    ) -> TreeNodes | None:
        """Grow one tree; the first one also after the deadline."""
        if number > 0 and time.monotonic() > resources.until:
            return None
        drawn = self._draw(examples, seed)
        tree = self._tree(seed)
        tree.fit(
            rows[examples.rows[drawn.examples]],
            examples.positive[drawn.examples],
            sample_weight=drawn.weight,
            check_input=False,
        )
        return _extracted(tree)

    def _draw(self, examples: Examples, seed: Seed) -> "_Draw":
        """Return the examples of one tree: positive and negative ones drawn apart, so that no tree lacks either."""
        positive, negative = np.flatnonzero(examples.positive), np.flatnonzero(~examples.positive)
        most = self.params["tree_rows"]
        if len(positive) + len(negative) > most:
            positive = _sampled(positive, most // 2, seed.child("positive"))
            negative = _sampled(negative, most - len(positive), seed.child("negative"))
        chosen = np.concatenate([positive, negative])
        weight = None if examples.weight is None else examples.weight[chosen]
        if self.params["bootstrap"]:
            generator = seed.child("bootstrap").generator()
            counts = np.concatenate(
                [
                    np.bincount(generator.integers(0, len(part), len(part)), minlength=len(part))
                    for part in (positive, negative)
                ]
            )
            weight = counts if weight is None else counts * weight
            chosen, weight = chosen[counts > 0], weight[counts > 0]
        return _Draw(chosen, weight)

    def _tree(self, seed: Seed) -> "BaseDecisionTree":
        from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier  # noqa: PLC0415 - heavy imports happen when used

        tree = ExtraTreeClassifier if self.params["cuts"] == "random" else DecisionTreeClassifier
        return tree(
            criterion=self.params["criterion"],
            min_samples_leaf=self.params["leaf_rows"],
            max_features={"sqrt": "sqrt", "third": 1 / 3, "all": None}[self.params["features"]],
            random_state=seed.integer(),
        )

    @classmethod
    def load(cls, path: Path) -> ForestModel:
        """Read the nodes and check every one."""
        with reading(path, "a model of forest"):
            line, _, rest = path.read_bytes().partition(b"\n")
            head = json.loads(line)
            expect(isinstance(head, dict) and head.get("form") == _FORM, f"its form should be '{_FORM}'")
            n_features = feature_count(head["n_features"])
            expect(type(head["n_asked"]) is int and head["n_asked"] > 0, "n_asked should be a whole number")
            roots = head["roots"]
            expect(all(type(root) is int for root in roots), "roots should be whole numbers")
            model = ForestModel(n_features, _read_nodes(np.array(roots, np.int64), rest), head["n_asked"])
            model.nodes.check(n_features)
            return model


class _Draw(NamedTuple):
    """The examples of one tree, by number, and their weights."""

    examples: IndexVector
    weight: FloatVector | None


def _as_grown(X: Table) -> Rows:
    """Return the values as float32; those beyond its range become its largest number, not infinite."""
    values = X.values
    if values.dtype != np.float32:
        values = np.clip(values, -_LARGEST, _LARGEST).astype(np.float32)
    return np.ascontiguousarray(values)


def _sampled(numbers: IndexVector, most: int, seed: Seed) -> IndexVector:
    if len(numbers) <= most:
        return numbers
    return np.sort(seed.generator().choice(numbers, most, replace=False, shuffle=False))


def _extracted(fitted: "BaseDecisionTree") -> TreeNodes:
    tree = fitted.tree_
    own = np.arange(tree.node_count)
    leaf = tree.children_left < 0
    weight, impurity = tree.weighted_n_node_samples, tree.impurity * tree.weighted_n_node_samples
    left, right = np.where(leaf, own, tree.children_left), np.where(leaf, own, tree.children_right)
    share = tree.value[:, 0, -1] / tree.value[:, 0, :].sum(axis=1)  # class 1 is the last
    gain = (impurity - impurity[left] - impurity[right]) / weight[0]
    return TreeNodes(
        roots=np.zeros(1, np.int64),
        feature=np.where(leaf, 0, tree.feature),
        threshold=np.where(leaf, 0.0, tree.threshold),
        missing_left=np.where(leaf, 0, tree.missing_go_to_left).astype(np.int64),
        left=left,
        right=right,
        value=np.where(leaf, share, 0.0),
        gain=np.where(leaf, 0.0, np.maximum(gain, 0.0)),
    )


def _joined(trees: list[TreeNodes]) -> TreeNodes:
    sizes = [len(tree.value) for tree in trees]
    roots = np.cumsum([0, *sizes])[:-1]

    def joined(name: str) -> Iterator[npt.NDArray[Any]]:
        return (getattr(tree, name) for tree in trees)

    offset = np.repeat(roots, sizes)
    arrays = {name: np.concatenate(list(joined(name))) for name in _NODE.names or ()}
    arrays["left"] = arrays["left"] + offset
    arrays["right"] = arrays["right"] + offset
    return TreeNodes(roots=roots, **arrays)


def _read_nodes(roots: IndexVector, data: bytes) -> TreeNodes:
    nodes = np.frombuffer(data, _NODE)
    read = TreeNodes(
        roots=roots,
        feature=nodes["feature"].astype(np.int64),
        threshold=nodes["threshold"].copy(),
        missing_left=nodes["missing_left"].astype(np.int64),
        left=nodes["left"].astype(np.int64),
        right=nodes["right"].astype(np.int64),
        value=nodes["value"].copy(),
        gain=nodes["gain"].copy(),
    )
    for values in (read.threshold, read.value, read.gain):
        expect(np.isfinite(values).all(), "numbers should be finite")
    expect(np.all((read.value >= 0) & (read.value <= 1)), "a leaf's share should lie in [0, 1]")
    expect(np.all(read.gain >= 0), "a gain should not be negative")
    return read

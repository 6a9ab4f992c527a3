"""Trees as arrays of nodes: for learners whose trees are extracted from a library."""

from dataclasses import dataclass

import numpy as np

from pubench import FloatVector, IndexVector, Table
from pubench_plugins.learners.model_files import Branches, expect, shares
from pubench_plugins.learners.thread_limits import by_rows


@dataclass(frozen=True, eq=False)
class TreeNodes:
    """The nodes of all trees, concatenated; all arrays but `roots` have the shape (n_nodes,).

    Attributes:
        roots: shape (n_trees,): the first node of each tree, ascending, 0 first.
        feature, threshold: an inner node sends a row to the left if the feature's value is at most the threshold,
        missing_left: and if it is missing, where this is 1.
        left, right: the children; both are the node itself for a leaf.
        value: what a leaf adds to the sum over trees.
        gain: of a split.
    """

    roots: IndexVector
    feature: IndexVector
    threshold: FloatVector
    missing_left: IndexVector
    left: IndexVector
    right: IndexVector
    value: FloatVector
    gain: FloatVector

    def sums(self, X: Table, start: float, n_threads: int) -> FloatVector:
        """Return `start` plus the values of the leaves that each row reaches, tree by tree: shape (n_rows,)."""
        from pubench_plugins.learners.tree_walk import walk  # noqa: PLC0415 - compiles, or reads what it compiled before

        nodes = (self.feature, self.threshold, self.missing_left, self.left, self.right, self.value)
        return by_rows(lambda values: walk(values, start, self.roots, nodes), X, n_threads)

    def importances(self, n_features: int) -> FloatVector:
        """Return each feature's share of the gain of all splits."""
        inner = self.left != np.arange(len(self.left))
        return shares(np.bincount(self.feature[inner], self.gain[inner], minlength=n_features))

    def check(self, n_features: int) -> None:
        """Raise unless every walk ends in a leaf of its own tree and uses known features."""
        expect(len(self.roots) > 0 and self.roots[0] == 0, "there should be a tree")
        expect(np.all(np.diff(self.roots) > 0), "trees should follow one another")
        ends = [*self.roots[1:], len(self.feature)]
        for root, end in zip(self.roots, ends, strict=True):
            part = slice(root, end)
            Branches(self.feature[part], self.left[part] - root, self.right[part] - root).check(n_features)

"""PU trees: extra trees whose splits minimise an estimate of the PU risk (Wilton et al. 2022); see `pu_trees_kernels`.

Each tree puts the share of positives into its leaves, and the score is the mean over trees. Three things differ from the
authors' code. Their trees vote by v > 0; shares order rows more finely. They grow leaves of one row and use the share
as it is: with labelled rows in few leaves most rows then have 0 in every tree, and tie; a leaf here counts `smoothing`
unlabeled rows more, so that a large leaf without labelled rows scores below a small one (`docs/methods.md` has figures).
And thresholds are values of rows in the node by default, which no monotone change of a feature alters.
"""

import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench import (
    Choice,
    Float,
    FloatVector,
    IndexVector,
    Int,
    Method,
    Parts,
    PUData,
    Resources,
    Scores,
    Seed,
    Table,
)
from pubench_plugins.learners.model_files import Branches, expect, integers, reading, shares
from pubench_plugins.learners.thread_limits import by_rows
from pubench_plugins.methods.class_prior import PRIOR_SPACE, resolve_prior
from pubench_plugins.methods.embedded_method import EmbeddedFit, fit_embedding

Nodes: TypeAlias = npt.NDArray[np.void]

_NODES = "nodes.npy"


@dataclass(frozen=True, eq=False)
class PUForest:
    """Trees as one array of nodes.

    Attributes:
        nodes: shape (n_nodes,), of the type `pu_trees_kernels.NODE`; children follow their parents.
        roots: shape (n_trees,), int64: the first node of each tree.
    """

    nodes: Nodes
    roots: IndexVector

    @classmethod
    def of(cls, trees: list[Nodes]) -> "PUForest":
        """Join trees."""
        sizes = [len(tree) for tree in trees]
        roots = np.cumsum([0, *sizes])[:-1]
        nodes = np.concatenate(trees)
        nodes["left"] += np.repeat(roots, sizes)
        return cls(nodes, roots)

    @property
    def inner(self) -> IndexVector:
        """The numbers of all nodes that are no leaves."""
        return np.flatnonzero(self.nodes["left"] != np.arange(len(self.nodes)))

    def gains(self, n_features: int) -> FloatVector:
        """Return the risk that splits by each feature removed, over all trees: shape (n_features,)."""
        split = self.nodes[self.inner]
        gains = np.bincount(split["feature"], split["gain"], minlength=n_features)
        return gains.astype(np.float64)

    def save(self, path: Path) -> None:
        """Write the nodes in NumPy's own format; the caller saves the roots."""
        np.save(path, self.nodes, allow_pickle=False)

    @classmethod
    def load(cls, path: Path, roots: object, n_features: int) -> "PUForest":
        """Read the nodes that `save` wrote, and check each of them.

        Raises:
            DataError: the file holds something else, or a walk from these `roots` would use unknown features or not end.
        """
        from pubench_plugins.methods.pu_trees_kernels import NODE  # noqa: PLC0415 - heavy imports happen when used

        with reading(path, "a forest"):
            # Mapped, not read: a file that claims more nodes than it holds is refused before memory is taken.
            mapped: npt.NDArray[Any] = np.lib.format.open_memmap(path, mode="r")
            expect(mapped.dtype == NODE and mapped.ndim == 1, "it should hold nodes")
            nodes = np.array(mapped)
            own = np.arange(len(nodes))
            left = nodes["left"].astype(np.int64)
            Branches(nodes["feature"], left, left + (left != own)).check(n_features)
            expect(np.all((nodes["value"] >= 0) & (nodes["value"] <= 1)), "a leaf should have a share")
            expect(np.isfinite(nodes["threshold"]).all(), "thresholds should be finite")
            expect(np.all((nodes["gain"] >= 0) & np.isfinite(nodes["gain"])), "a gain should not be negative")
            expect(isinstance(roots, list) and roots, "there should be trees")
            assert isinstance(roots, list)  # noqa: S101 - for mypy: the line above checks it
            starts = integers(roots, len(roots))
            expect(np.all((starts >= 0) & (starts < len(nodes))), "a tree should start at a node")
        return cls(nodes, starts)


@dataclass(frozen=True, eq=False)
class FittedPUTrees(EmbeddedFit):
    """A forest, and the embedding of its rows."""

    method = "pu-trees"

    forest: PUForest

    def score(self, X: Table, resources: Resources) -> Scores:
        """Return the mean share of positives in the leaves in which each row falls, in [0, 1]."""
        from pubench_plugins.methods.pu_trees_kernels import walk  # noqa: PLC0415 - heavy imports happen when used

        def score(values: npt.NDArray[Any]) -> FloatVector:
            return np.asarray(walk(values, self.forest.nodes, self.forest.roots))

        return Scores(by_rows(score, self.embedding.transform(X), resources.n_threads))

    def importances(self) -> FloatVector:
        """Return each feature's share of the risk that all splits removed."""
        return self.embedding.by_feature(shares(self.forest.gains(len(self.embedding.features))))

    def save(self, folder: Path) -> None:
        """Write the nodes in NumPy's format, all else as JSON."""
        self.forest.save(folder / _NODES)
        self.write(folder, roots=self.forest.roots.tolist())

    @classmethod
    def load(cls, folder: Path) -> "FittedPUTrees":
        """Read back what `save` wrote; raises `DataError` for anything else."""
        with cls.opened(folder) as (document, embedding, decided):
            forest = PUForest.load(folder / _NODES, document["roots"], len(embedding.features))
        return cls(embedding, decided, forest)


class PUTrees(Method):
    """Extra trees whose splits minimise the non-negative PU risk, which needs the share of positives."""

    name = "pu-trees"
    uses = frozenset()
    needs_prior = True
    space = {
        **PRIOR_SPACE,
        "trees": Int(1, 5000, default=100, log=True, tuned=False, draft=50, help="trees in the forest"),
        "risk": Choice(
            ("nnpu", "upu"),
            default="nnpu",
            help="nnpu: the mass of negatives in a node is not below 0; upu: unbiased",
        ),
        "loss": Choice(
            ("quadratic", "logistic"),
            default="quadratic",
            help="loss of the risk: as Gini, or as entropy",
        ),
        "max_depth": Int(1, 1000, default=1000, log=True, tuned=False, help="splits above a leaf, at most"),
        "min_leaf": Int(1, 1000, default=1, log=True, help="rows in a leaf, at least"),
        "features": Choice(
            ("sqrt", "half", "all"), default="sqrt", help="drawn for a split, of those that vary in its node"
        ),
        "thresholds": Int(1, 100, default=1, log=True, help="drawn per feature; 1: extra trees"),
        "cuts": Choice(
            ("rows", "range"),
            default="rows",
            help="thresholds are values of rows, or evenly drawn from their range",
        ),
        "smoothing": Float(
            0.0, 200.0, default=10.0, help="unlabeled rows by which a leaf is pulled to the prior"
        ),
        "unlabeled": Float(
            0.001,
            1.0,
            default=1.0,
            log=True,
            tuned=False,
            help="share of the unlabeled rows, drawn anew for each tree",
        ),
    }

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedPUTrees:
        """Find the prior, and grow the trees side by side, one thread each."""
        embedding = fit_embedding(data.X)
        prior = resolve_prior(self.params, data, parts, seed, resources.part(0.0, 0.2))
        embedded = PUData(embedding.transform(data.X), data.s)
        forest = self._grown(embedded, prior.prior_in_unlabeled, seed, resources.part(0.2, 1.0))
        n_trees = len(forest.roots)
        leaves = (len(forest.nodes) - len(forest.inner)) / n_trees
        return FittedPUTrees(embedding, prior.decided | {"trees": n_trees, "leaves": leaves}, forest)

    def load(self, folder: Path, parts: Parts) -> FittedPUTrees:  # noqa: ARG002 - the contract's signature
        """Read back what `FittedPUTrees.save` wrote."""
        return FittedPUTrees.load(folder)

    def _grown(self, data: PUData, prior: float, seed: Seed, resources: Resources) -> PUForest:
        """Grow the trees; each depends on the rows, its number and the seed alone.

        No tree but the first is begun after `resources.until`.
        """
        labelled, unlabeled = (np.flatnonzero(kind).astype(np.int32) for kind in (data.s, ~data.s))

        def tree(number: int) -> Nodes | None:
            if number > 0 and time.monotonic() >= resources.until:
                return None
            return self._tree(data.X.values, labelled, unlabeled, prior, seed.child("tree", number))

        trees: list[Nodes] = []
        with ThreadPoolExecutor(resources.n_threads) as pool:
            try:
                for nodes in pool.map(tree, range(self.params["trees"])):
                    if nodes is None:
                        break
                    trees.append(nodes)
                    resources.progress(len(trees) / self.params["trees"])
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return PUForest.of(trees)

    def _tree(
        self,
        values: npt.NDArray[Any],
        labelled: npt.NDArray[np.int32],
        unlabeled: npt.NDArray[np.int32],
        prior: float,
        seed: Seed,
    ) -> Nodes:
        from pubench_plugins.methods import pu_trees_kernels as kernels  # noqa: PLC0415 - heavy imports happen when used

        generator = seed.generator()
        sample = max(1, round(self.params["unlabeled"] * len(unlabeled)))
        if sample < len(unlabeled):
            unlabeled = np.sort(generator.choice(unlabeled, sample, replace=False))
        scratch = np.empty(max(len(labelled), len(unlabeled)), np.int32)
        rows = kernels.TreeRows(values, labelled.copy(), unlabeled.copy(), scratch)
        growth = kernels.Growth(
            max_depth=self.params["max_depth"],
            min_leaf=self.params["min_leaf"],
            features=n_candidates(self.params["features"], values.shape[1]),
            thresholds=self.params["thresholds"],
            from_rows=self.params["cuts"] == "rows",
            smoothing=self.params["smoothing"],
        )
        risk = kernels.TreeRisk(
            prior=prior,
            n_labelled=len(labelled),
            n_unlabeled=len(unlabeled),
            nonnegative=self.params["risk"] == "nnpu",
            logistic=self.params["loss"] == "logistic",
        )
        return np.asarray(kernels.grow(rows, growth, risk, generator))


def n_candidates(features: str, n_features: int) -> int:
    """Return the number of features that are drawn for a split."""
    return {
        "sqrt": math.ceil(math.sqrt(n_features)),
        "half": math.ceil(n_features / 2),
        "all": n_features,
    }[features]

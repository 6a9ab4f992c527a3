"""XGBoost's file of a model, understood before XGBoost reads it: it crashes where trees are damaged."""

import re
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench_plugins.learners.model_files import Branches, expect
from pubench_plugins.learners.ubjson import parse

Fields: TypeAlias = dict[str, Any]

_LEAF = -1
_ROOT = 2**31 - 1  # stands for the parent of a root
_MOST_CATEGORIES = 2**20  # XGBoost makes room for as many bits as the largest category says
_FLOATS = ("base_weights", "loss_changes", "split_conditions", "sum_hessian")
_INTEGERS = ("default_left", "left_children", "right_children", "parents", "split_indices", "split_type")


def check_model(data: bytes) -> None:
    """Raise unless `data` is a binary classifier of single trees, each of which ends in leaves."""
    learner = parse(data)["learner"]
    param = learner["learner_model_param"]
    n_features = int(param["num_feature"])
    expect(
        n_features > 0 and param["num_class"] == "0" and param["num_target"] == "1", "it has several outputs"
    )
    expect(re.fullmatch(r"\[?[0-9.E+-]{1,20}\]?", param["base_score"]), "its base score should be a number")
    expect(learner["objective"]["name"] == "binary:logistic", "its objective should be binary:logistic")
    for names in (learner["feature_names"], learner["feature_types"]):
        expect(len(names) in (0, n_features), f"it should name {n_features} features")
    expect(learner["gradient_booster"]["name"] == "gbtree", "it should hold trees")
    _check_trees(learner["gradient_booster"]["model"], n_features)


def _check_trees(model: Fields, n_features: int) -> None:
    trees = model["trees"]
    expect(
        model["gbtree_model_param"] == {"num_parallel_tree": "1", "num_trees": str(len(trees))}, "trees lack"
    )
    expect(
        np.array_equal(model["iteration_indptr"], np.arange(len(trees) + 1)), "rounds should be single trees"
    )
    expect(np.array_equal(model["tree_info"], np.zeros(len(trees))), "trees should be of one class")
    expect(not any(len(part) for part in model.get("cats", {}).values()), "categories should be codes")
    for number, tree in enumerate(trees):
        expect(tree["id"] == number, "trees should be numbered")
        _check_tree(tree, n_features)


def _check_tree(tree: Fields, n_features: int) -> None:
    param = tree["tree_param"]
    nodes = len(tree["left_children"])
    expected = {
        "num_deleted": "0",
        "num_feature": str(n_features),
        "num_nodes": str(nodes),
        "size_leaf_vector": "1",
    }
    expect(param == expected, "a tree should be of one size")
    for names, kinds in ((_FLOATS, "f"), (_INTEGERS, "iu")):
        for name in names:
            _column(tree[name], nodes, kinds)
    own = np.arange(nodes)
    left, right = (tree[name].astype(np.int64) for name in ("left_children", "right_children"))
    leaf = left == _LEAF
    expect(np.array_equal(leaf, right == _LEAF), "a leaf should have no child")
    Branches(
        tree["split_indices"].astype(np.int64), np.where(leaf, own, left), np.where(leaf, own, right)
    ).check(n_features)
    parents = np.full(nodes, _ROOT)
    parents[left[~leaf]] = own[~leaf]
    parents[right[~leaf]] = own[~leaf]
    expect(np.array_equal(parents, tree["parents"]), "a child should know its parent")
    _check_categories(tree)


def _column(values: object, length: int, kinds: str) -> npt.NDArray[Any]:
    expect(isinstance(values, np.ndarray) and values.dtype.kind in kinds, "a column should hold numbers")
    assert isinstance(values, np.ndarray)  # noqa: S101 - tells mypy what the line above made sure of
    expect(
        len(values) == length and np.isfinite(values).all(), f"a column should hold {length} finite numbers"
    )
    return values


def _check_categories(tree: Fields) -> None:
    """Each node that asks for a category has its segment of the list of categories, in order."""
    asking = np.flatnonzero(tree["split_type"])
    expect(np.isin(tree["split_type"], (0, 1)).all(), "a split should be by size or by category")
    nodes = _column(tree["categories_nodes"], len(asking), "iu")
    starts = _column(tree["categories_segments"], len(asking), "iu").astype(np.int64)
    sizes = _column(tree["categories_sizes"], len(asking), "iu").astype(np.int64)
    categories = _column(tree["categories"], len(tree["categories"]), "iu")
    expect(np.array_equal(nodes, asking), "categories should belong to splits")
    expect(np.all((sizes > 0) & (sizes <= len(categories))), "a set of categories should not be empty")
    expect(np.array_equal(starts, np.cumsum(sizes) - sizes), "sets of categories should follow each other")
    expect(sizes.sum() == len(categories), "sets of categories should be complete")
    expect(np.all((categories >= 0) & (categories < _MOST_CATEGORIES)), "a category should be a small number")

"""Checks XGBoost's model file before XGBoost reads it, which crashes where trees are damaged.

The file is parsed, its values are checked, and a file is written anew from them: what was checked is what is loaded.
"""

import re
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench_plugins.learners.model_files import Branches, expect
from pubench_plugins.learners.ubjson import parse, write

Fields: TypeAlias = dict[str, Any]

_LEAF = -1
_ROOT = 2**31 - 1  # the parent of a root
_MOST_CATEGORIES = 2**20  # XGBoost allocates as many bits as the largest category
#: A number of decimal digits alone means the same to everyone.
_BASE_SCORE = re.compile(r"\[?([0-9]\.?[0-9]{0,12}(E[+-]?[0-9]{1,2})?)\]?")
_FLOATS = ("base_weights", "loss_changes", "split_conditions", "sum_hessian")
_INTEGERS = ("left_children", "right_children", "parents", "split_indices")
_BYTES = ("default_left", "split_type")


def checked_model(data: bytes) -> bytes:
    """Return the model in `data`, written anew; raises unless it is a binary classifier of trees that end in leaves.

    Names of features are left out, and attributes.
    """
    content = parse(data)
    learner = content["learner"]
    param = learner["learner_model_param"]
    n_features = len(learner["feature_types"])
    expected = {"num_class": "0", "num_feature": str(n_features), "num_target": "1"}
    expect(n_features > 0 and {name: param[name] for name in expected} == expected, "it has several outputs")
    base_score = _BASE_SCORE.fullmatch(param["base_score"])
    expect(base_score and 0 < float(base_score[1]) < 1, "its base score should be between 0 and 1")
    expect(learner["objective"]["name"] == "binary:logistic", "its objective should be binary:logistic")
    expect(all(kind in ("q", "c") for kind in learner["feature_types"]), "features should be of known types")
    expect(learner["gradient_booster"]["name"] == "gbtree", "it should hold trees")
    version = [int(number) for number in content["version"]]
    expect(len(version) == 3 and all(0 <= number < 1000 for number in version), "it should have a version")
    model = _checked_trees(learner["gradient_booster"]["model"], n_features)
    checked = {
        "attributes": {},
        "feature_names": [],
        "feature_types": learner["feature_types"],
        "gradient_booster": {"model": model, "name": "gbtree"},
        "learner_model_param": {**expected, "base_score": param["base_score"], "boost_from_average": "1"},
        "objective": {"name": "binary:logistic", "reg_loss_param": {"scale_pos_weight": "1"}},
    }
    return write({"learner": checked, "version": version})


def _checked_trees(model: Fields, n_features: int) -> Fields:
    trees = model["trees"]
    param = {"num_parallel_tree": "1", "num_trees": str(len(trees))}
    expect(model["gbtree_model_param"] == param, "trees lack")
    expect(
        np.array_equal(model["iteration_indptr"], np.arange(len(trees) + 1)), "rounds should be single trees"
    )
    expect(np.array_equal(model["tree_info"], np.zeros(len(trees))), "trees should be of one class")
    expect(not any(len(part) for part in model.get("cats", {}).values()), "categories should be codes")
    return {
        "gbtree_model_param": param,
        "iteration_indptr": list(range(len(trees) + 1)),
        "tree_info": [0] * len(trees),
        "trees": [_checked_tree(tree, number, n_features) for number, tree in enumerate(trees)],
    }


def _checked_tree(tree: Fields, number: int, n_features: int) -> Fields:
    expect(tree["id"] == number, "trees should be numbered")
    n_nodes = len(tree["left_children"])
    param = {
        "num_deleted": "0",
        "num_feature": str(n_features),
        "num_nodes": str(n_nodes),
        "size_leaf_vector": "1",
    }
    expect(tree["tree_param"] == param, "a tree should be of one size")
    columns = {
        **{name: _column(tree[name], n_nodes, np.float32) for name in _FLOATS},
        **{name: _column(tree[name], n_nodes, np.int32) for name in _INTEGERS},
        **{name: _column(tree[name], n_nodes, np.uint8) for name in _BYTES},
    }
    _check_branches(columns, n_features)
    sets = _checked_categories(tree, np.flatnonzero(columns["split_type"]))
    for name in _BYTES:
        expect(np.all(columns[name] <= 1), f"{name} should be 0 or 1")
    return {**columns, **sets, "id": number, "tree_param": param}


def _check_branches(columns: Fields, n_features: int) -> None:
    left, right = (columns[name].astype(np.int64) for name in ("left_children", "right_children"))
    own = np.arange(len(left))
    leaf = left == _LEAF
    expect(np.array_equal(leaf, right == _LEAF), "a leaf should have no child")
    Branches(
        columns["split_indices"].astype(np.int64), np.where(leaf, own, left), np.where(leaf, own, right)
    ).check(n_features)
    parents = np.full(len(left), _ROOT)
    parents[left[~leaf]] = own[~leaf]
    parents[right[~leaf]] = own[~leaf]
    expect(np.array_equal(parents, columns["parents"]), "a child should know its parent")


def _column(values: object, length: int, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return numbers as the type that XGBoost has for them, in which they are the same."""
    expect(isinstance(values, np.ndarray) and len(values) == length, f"a column should hold {length} numbers")
    assert isinstance(values, np.ndarray)  # noqa: S101 - for mypy: the line above checks it
    if values.dtype.kind == "f":
        expect(np.isfinite(values).all(), "numbers should be finite")
    if values.dtype.newbyteorder("=") == kind:
        return values.astype(kind)
    with np.errstate(over="ignore"):
        converted = values.astype(kind)
    expect(np.array_equal(converted, values), "numbers should be of their type")
    return converted


def _checked_categories(tree: Fields, asking: npt.NDArray[np.intp]) -> Fields:
    """Return which categories each node that splits by category has: its segment of their list, in order."""
    nodes = _column(tree["categories_nodes"], len(asking), np.int32)
    starts = _column(tree["categories_segments"], len(asking), np.int64)
    sizes = _column(tree["categories_sizes"], len(asking), np.int64)
    categories = _column(tree["categories"], len(tree["categories"]), np.int32)
    expect(np.array_equal(nodes, asking), "categories should belong to splits")
    expect(np.all((sizes > 0) & (sizes <= len(categories))), "a set of categories should not be empty")
    expect(np.array_equal(starts, np.cumsum(sizes) - sizes), "sets of categories should follow each other")
    expect(sizes.sum() == len(categories), "sets of categories should be complete")
    expect(np.all((categories >= 0) & (categories < _MOST_CATEGORIES)), "a category should be a small number")
    return {
        "categories": categories,
        "categories_nodes": nodes,
        "categories_segments": starts,
        "categories_sizes": sizes,
    }

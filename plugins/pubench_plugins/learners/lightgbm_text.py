"""Checks LightGBM's text format of a model before LightGBM reads it, which crashes where the text is damaged.

LightGBM reads some numbers differently than Python does: `1_0` is 1 to it and 10 to Python, and 257 is 1 where it has eight bits.
So the text is parsed into numbers, the numbers are checked, and a text is written anew from them: what was checked is
what is loaded.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench import FloatVector, IndexVector
from pubench_plugins.learners.model_files import Branches, expect

Fields: TypeAlias = Mapping[str, str]
Rows: TypeAlias = Mapping[str, npt.NDArray[Any]]

_FIXED = {"version": "v4", "num_class": "1", "num_tree_per_iteration": "1", "label_index": "0"}
_OBJECTIVES = ("binary sigmoid:1", "cross_entropy")
_INTEGERS_OF_SPLITS = ("split_feature", "decision_type", "left_child", "right_child", "internal_count")
_FLOATS_OF_SPLITS = ("split_gain", "threshold", "internal_value", "internal_weight")
_INTEGERS_OF_LEAVES = ("leaf_count",)
_FLOATS_OF_LEAVES = ("leaf_value", "leaf_weight")
#: The bit of a decision_type that says that the threshold is the number of a set of categories.
_CATEGORICAL = 1
#: Above it are the bit for missing values to the left, and two bits for the kind of missing values: 0, 1 or 2.
_DECISION_TYPES = 12
_LARGEST = 2**31 - 1


def checked_text(text: str) -> str:
    """Return a model's text, written anew from its checked numbers; raises where one is invalid.

    What predictions do not need is left out: sizes of trees, which LightGBM trusts as offsets, the ranges of features, and
    everything after the trees. Features are called as LightGBM calls those without names.
    """
    trees, end, _ = text.partition("\nend of trees\n")
    expect(end, "its trees should have an end")
    header, *blocks = trees.split("\nTree=")
    fields = _fields(header)
    for name, value in _FIXED.items():
        expect(fields[name] == value, f"{name} should be {value}")
    expect(fields["objective"] in _OBJECTIVES, "its objective should be binary")
    n_features = int(fields["max_feature_idx"]) + 1
    # An honest number is no larger than the text, and LightGBM reserves memory for each feature.
    expect(
        len(fields["feature_names"].split(" ")) == n_features, f"feature_names should be {n_features} words"
    )
    lines = [
        "tree",
        *(f"{name}={value}" for name, value in _FIXED.items()),
        f"max_feature_idx={n_features - 1}",
        f"objective={fields['objective']}",
        "feature_names=" + " ".join(f"Column_{number}" for number in range(n_features)),
        "feature_infos=" + " ".join(["none"] * n_features),
        "",
    ]
    for number, block in enumerate(blocks):
        lines += [f"Tree={number}", *_checked_tree(_fields(block), n_features), ""]
    return "\n".join([*lines, "", "end of trees", ""])


def _fields(block: str) -> Fields:
    return dict(line.split("=", 1) for line in block.split("\n") if "=" in line)


def _checked_tree(fields: Fields, n_features: int) -> Iterator[str]:
    """Yield the lines of one tree."""
    leaves, n_sets = int(fields["num_leaves"]), int(fields["num_cat"])
    expect(leaves >= 1 and n_sets >= 0, "a tree should have leaves")
    expect(leaves > 1 or n_sets == 0, "a tree without splits should have no categories")
    expect(fields["is_linear"] == "0", "leaves should be constant")
    yield from (f"num_leaves={leaves}", f"num_cat={n_sets}")
    if leaves == 1:
        yield _line("leaf_value", _floats(fields, "leaf_value", 1))
    else:
        rows = _rows(fields, leaves)
        _branches(rows, leaves).check(n_features)
        kinds = rows["decision_type"]
        expect(np.all((kinds >= 0) & (kinds < _DECISION_TYPES)), "a split should be of a known type")
        rows |= _checked_sets(fields, rows, n_sets)
        yield from (_line(name, row) for name, row in rows.items())
    yield from ("is_linear=0", _line("shrinkage", _floats(fields, "shrinkage", 1)), "")


def _rows(fields: Fields, leaves: int) -> dict[str, npt.NDArray[Any]]:
    return {
        **{name: _integers(fields, name, leaves - 1) for name in _INTEGERS_OF_SPLITS},
        **{name: _floats(fields, name, leaves - 1) for name in _FLOATS_OF_SPLITS},
        **{name: _integers(fields, name, leaves) for name in _INTEGERS_OF_LEAVES},
        **{name: _floats(fields, name, leaves) for name in _FLOATS_OF_LEAVES},
    }


def _floats(fields: Fields, name: str, length: int) -> FloatVector:
    values = np.array([float(word) for word in fields[name].split()])
    expect(len(values) == length, f"{name} should hold {length} numbers")
    expect(np.isfinite(values).all(), "numbers should be finite")
    return values


def _integers(fields: Fields, name: str, length: int, largest: int = _LARGEST) -> IndexVector:
    values = np.array([int(word) for word in fields[name].split()], dtype=np.int64)
    expect(len(values) == length, f"{name} should hold {length} numbers")
    expect(np.all(np.abs(values) <= largest), "whole numbers should not be so large")
    return values


def _line(name: str, values: npt.NDArray[Any]) -> str:
    # `repr` has as many digits as a float needs to come back exactly.
    return f"{name}={' '.join(map(repr, values.tolist()))}"


def _branches(rows: Rows, leaves: int) -> Branches:
    """Number splits 0, 1, ... and leaves after them; LightGBM's own number of a leaf is -1, -2, ..."""
    own = np.arange(leaves - 1, 2 * leaves - 1)

    def joined(child: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.concatenate([np.where(child >= 0, child, leaves - 2 - child), own])

    inner = np.concatenate([rows["left_child"], rows["right_child"]])
    expect(np.all((inner >= -leaves) & (inner < leaves - 1)), "a child should be in its tree")
    feature = np.concatenate([rows["split_feature"], np.zeros(leaves, dtype=np.int64)])
    return Branches(feature, joined(rows["left_child"]), joined(rows["right_child"]))


def _checked_sets(fields: Fields, rows: Rows, n_sets: int) -> Rows:
    """Return the rows about sets of categories: bounds into one row of bits, 32 to a number."""
    used = rows["threshold"][rows["decision_type"] % 2 == _CATEGORICAL]
    expect(np.all((used >= 0) & (used < n_sets) & (used == np.floor(used))), "a set of categories is missing")
    if not n_sets:
        return {}
    bounds = _integers(fields, "cat_boundaries", n_sets + 1)
    expect(bounds[0] == 0 and np.all(np.diff(bounds) > 0), "bounds of sets should rise from 0")
    words = _integers(fields, "cat_threshold", int(bounds[-1]), 2**32 - 1)
    expect(np.all(words >= 0), "sets of categories should be 32 bits each")
    return {"cat_boundaries": bounds, "cat_threshold": words}

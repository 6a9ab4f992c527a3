"""LightGBM's text of a model, understood before LightGBM reads it: it crashes where the text is damaged."""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench_plugins.learners.model_files import Branches, expect

Fields: TypeAlias = dict[str, str]

_FIXED = {"version": "v4", "num_class": "1", "num_tree_per_iteration": "1", "label_index": "0"}
_OBJECTIVES = ("binary sigmoid:1", "cross_entropy")
_OF_SPLITS: dict[str, npt.DTypeLike] = {
    **dict.fromkeys(
        ("split_feature", "decision_type", "left_child", "right_child", "internal_count"), np.int64
    ),
    **dict.fromkeys(("split_gain", "threshold", "internal_value", "internal_weight"), np.float64),
}
_OF_LEAVES: dict[str, npt.DTypeLike] = {
    "leaf_value": np.float64,
    "leaf_weight": np.float64,
    "leaf_count": np.int64,
}
#: The bit of a decision_type that says that the threshold is the number of a set of categories.
_CATEGORICAL = 1


def checked_text(text: str) -> str:
    """Return the header and trees of a model's text, written anew from what was understood; raises where nothing is.

    Sizes of trees, which LightGBM trusts as offsets, and everything behind the trees are left out.
    """
    trees, end, _ = text.partition("\nend of trees\n")
    expect(end, "its trees should have an end")
    header, *blocks = trees.split("\nTree=")
    fields = _fields(header)
    for name, value in _FIXED.items():
        expect(fields[name] == value, f"{name} should be {value}")
    expect(fields["objective"] in _OBJECTIVES, "its objective should be binary")
    n_features = int(fields["max_feature_idx"]) + 1
    for name in ("feature_names", "feature_infos"):
        expect(len(fields[name].split(" ")) == n_features, f"{name} should be {n_features} words")
    names = (*_FIXED, "max_feature_idx", "objective", "feature_names", "feature_infos")
    lines = ["tree", *(f"{name}={fields[name]}" for name in names), ""]
    for number, block in enumerate(blocks):
        lines += [f"Tree={number}", *_checked_tree(_fields(block), n_features), ""]
    return "\n".join([*lines, "", "end of trees", ""])


def _fields(block: str) -> Fields:
    return dict(line.split("=", 1) for line in block.split("\n") if "=" in line)


def _checked_tree(fields: Fields, n_features: int) -> Iterator[str]:
    """Yield the lines of one tree, each number of which was looked at."""
    leaves, sets = int(fields["num_leaves"]), int(fields["num_cat"])
    expect(leaves >= 1 and sets >= 0, "a tree should have leaves")
    expect(fields["is_linear"] == "0", "leaves should be constant")
    yield from (f"num_leaves={leaves}", f"num_cat={sets}")
    if leaves == 1:
        yield f"leaf_value={float(_row(fields['leaf_value'], np.float64, 1)[0])!r}"
    else:
        lengths = {**dict.fromkeys(_OF_SPLITS, leaves - 1), **dict.fromkeys(_OF_LEAVES, leaves)}
        kinds = {**_OF_SPLITS, **_OF_LEAVES}
        rows = {name: _row(fields[name], kinds[name], length) for name, length in lengths.items()}
        _branches(rows, leaves).check(n_features)
        yield from (f"{name}={fields[name]}" for name in rows)
        yield from _checked_sets(fields, rows, sets)
    yield from ("is_linear=0", f"shrinkage={float(fields['shrinkage'])!r}", "")


def _row(text: str, kind: npt.DTypeLike, length: int) -> npt.NDArray[Any]:
    values = np.array(text.split(), dtype=str).astype(kind)
    expect(len(values) == length, f"a row should hold {length} numbers")
    expect(np.isfinite(values).all(), "numbers should be finite")
    return values


def _branches(rows: dict[str, npt.NDArray[Any]], leaves: int) -> Branches:
    """Number splits 0, 1, ... and leaves behind them; LightGBM's own number of a leaf is -1, -2, ..."""
    own = np.arange(leaves - 1, 2 * leaves - 1)

    def joined(child: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.concatenate([np.where(child >= 0, child, leaves - 2 - child), own])

    inner = np.concatenate([rows["left_child"], rows["right_child"]])
    expect(np.all((inner >= -leaves) & (inner < leaves - 1)), "a child should be in its tree")
    feature = np.concatenate([rows["split_feature"], np.zeros(leaves, dtype=np.int64)])
    return Branches(feature, joined(rows["left_child"]), joined(rows["right_child"]))


def _checked_sets(fields: Fields, rows: dict[str, npt.NDArray[Any]], sets: int) -> Iterator[str]:
    """Yield the lines about sets of categories: bounds into one row of bits, 32 to a number."""
    used = rows["threshold"][rows["decision_type"] % 2 == _CATEGORICAL]
    expect(np.all((used >= 0) & (used < sets) & (used == np.floor(used))), "a set of categories is missing")
    if sets:
        bounds = _row(fields["cat_boundaries"], np.int64, sets + 1)
        expect(bounds[0] == 0 and np.all(np.diff(bounds) > 0), "bounds of sets should rise from 0")
        words = _row(fields["cat_threshold"], np.int64, int(bounds[-1]))
        expect(np.all((words >= 0) & (words < 2**32)), "sets of categories should be 32 bits each")
        yield from (f"{name}={fields[name]}" for name in ("cat_boundaries", "cat_threshold"))

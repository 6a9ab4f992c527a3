"""Models of the built-in learners, written to files and read back, whatever happened to the file in between."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pubench.api.plugin import Kind, Learner, Model
from pubench.api.registry import load_registry
from pubench.errors import DataError
from pubench.seeds import Seed
from pubench.types import Feature, Resources, Table, Tags
from pubench_plugins.learners.ubjson import parse, write
from pubench_plugins.learners.xgboost_ubjson import checked_model

ONE = Resources(n_threads=1)
REGISTRY = load_registry()
LEARNERS = REGISTRY.names(Kind.LEARNER)
Change = Callable[[dict[str, Any]], object]
#: Trees that grow until hardly anything is left to split.
LARGE: dict[str, dict[str, Any]] = {
    "lightgbm": {
        "depth": 16,
        "leaves": 255,
        "l2": 0.001,
        "min_hessian": 0.001,
        "min_leaf_rows": 1,
        "rows": 0.8,
    },
    "xgboost": {"depth": 16, "leaves": 255, "l2": 0.001, "min_hessian": 0.001, "boost_from_average": False},
    "catboost": {"depth": 10, "l2": 0.001, "rows": 0.8},
    "histgb": {"depth": 16, "leaves": 255, "l2": 0.001, "min_leaf_rows": 1},
}

READ = """
import sys
from pathlib import Path
import numpy as np
from pubench import Resources, Table
from pubench.api.registry import load_registry
from pubench.types import Feature

name, model, rows, found = sys.argv[1:]
values = np.load(rows)
features = tuple(Feature(f"x{j}", "categorical", tuple("abcdefgh")) if j == 3 else Feature(f"x{j}") for j in range(4))
loaded = load_registry().find(name).plugin.load(Path(model))
np.save(found, np.array([loaded.predict(Table(values, features), Resources()), [*loaded.importances(), *[0.0] * 1996]]))
"""


def draw() -> tuple[Table, np.ndarray]:
    """Rows with missing values and, last, a category; the positives need both the first feature and that."""
    generator = np.random.default_rng(8)
    values = generator.standard_normal((2000, 4))
    values[generator.random(2000) < 0.1, 1] = np.nan
    values[:, 3] = generator.integers(0, 8, 2000)
    target = (values[:, 0] > 1) | np.isin(values[:, 3], [2, 5]) & (values[:, 1] > 0)
    features = (Feature("x0"), Feature("x1"), Feature("x2"), Feature("x3", "categorical", tuple("abcdefgh")))
    return Table(values, features), target


def trained(name: str, **params: Any) -> tuple[type[Learner], Model, Table]:
    plugin: Any = REGISTRY.find(name, Kind.LEARNER).plugin
    quick = {"trees": 20, "steps": 100}
    learner = plugin(**{**{key: value for key, value in quick.items() if key in plugin.space}, **params})
    X, target = draw()
    return plugin, learner.train(learner.prepare(X, ONE), Tags(target), Seed(1), ONE), X


@pytest.mark.parametrize("name", LEARNERS)
def test_a_new_process_predicts_the_same_bit_for_bit(name: str, tmp_path: Path) -> None:
    plugin, model, X = trained(name)
    path, rows, found = tmp_path / f"model{plugin.suffix}", tmp_path / "rows.npy", tmp_path / "found.npy"
    model.save(path)
    np.save(rows, X.values)
    subprocess.run(
        [sys.executable, "-W", "error", "-c", READ, name, str(path), str(rows), str(found)], check=True
    )
    predicted, importances = np.load(found)
    np.testing.assert_array_equal(predicted, model.predict(X, ONE))
    np.testing.assert_allclose(importances[:4], model.importances(), rtol=1e-5)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_loaded_model_can_be_saved_again(name: str, tmp_path: Path) -> None:
    plugin, model, X = trained(name)
    first, second = tmp_path / f"a{plugin.suffix}", tmp_path / f"b{plugin.suffix}"
    model.save(first)
    plugin.load(first).save(second)
    np.testing.assert_array_equal(plugin.load(second).predict(X, ONE), model.predict(X, ONE))


@pytest.mark.parametrize("name", LARGE)
def test_a_large_model_comes_back(name: str, tmp_path: Path) -> None:
    plugin, model, X = trained(name, **LARGE[name])
    path = tmp_path / f"model{plugin.suffix}"
    model.save(path)
    np.testing.assert_array_equal(plugin.load(path).predict(X, ONE), model.predict(X, ONE))


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("values", [[0.0, 1.0], [1.0, 0.0], [0.3, 0.1]], ids=["hard", "turned", "soft"])
def test_a_model_without_a_split_comes_back_too(name: str, values: list[float], tmp_path: Path) -> None:
    plugin: Any = REGISTRY.find(name, Kind.LEARNER).plugin
    X = Table.from_array([[1.0, 2.0], [1.0, 3.0]])
    model = plugin().train(plugin().prepare(X, ONE), Tags(np.array(values)), Seed(0), ONE)
    path = tmp_path / f"model{plugin.suffix}"
    model.save(path)
    np.testing.assert_array_equal(plugin.load(path).predict(X, ONE), model.predict(X, ONE))


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 100, b"{}", b"[1, 2]", b"tree\n", b'{"form": 1}', b"\xff\xfe"]
)
def test_junk_is_refused_in_one_sentence(name: str, content: bytes, tmp_path: Path) -> None:
    plugin: Any = REGISTRY.find(name, Kind.LEARNER).plugin
    path = tmp_path / f"junk{plugin.suffix}"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"^.*junk.* is not an? .*\.$"):
        plugin.load(path)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_missing_file_is_refused(name: str, tmp_path: Path) -> None:
    plugin: Any = REGISTRY.find(name, Kind.LEARNER).plugin
    with pytest.raises(DataError, match="cannot be read"):
        plugin.load(tmp_path / f"none{plugin.suffix}")


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_truncated_file_is_refused(name: str, share: float, tmp_path: Path) -> None:
    plugin, model, _ = trained(name)
    path = tmp_path / f"model{plugin.suffix}"
    model.save(path)
    content = path.read_bytes()
    if plugin.suffix == ".txt":  # what stands behind the trees is not read
        content = content[: content.index(b"end of trees")]
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(DataError, match="or it is damaged"):
        plugin.load(path)


def _cycle(tree: dict[str, Any]) -> None:
    inner = next(node for node in range(1, len(tree["left"])) if tree["left"][node] != node)
    tree["left"][inner] = 0


HISTGB: dict[str, Change] = {
    "a cycle": lambda model: _cycle(model["nodes"]),
    "a child outside": lambda model: model["nodes"]["left"].__setitem__(0, 10**6),
    "a child before its parent": lambda model: model["nodes"]["right"].__setitem__(0, -1),
    "an unknown feature": lambda model: model["nodes"]["feature"].__setitem__(0, 4),
    "a negative feature": lambda model: model["nodes"]["feature"].__setitem__(0, -1),
    "a root outside": lambda model: model["roots"].__setitem__(3, 10**9),
    "a text for a number": lambda model: model["nodes"]["value"].__setitem__(0, "1"),
    "true for a number": lambda model: model["nodes"]["left"].__setitem__(0, True),
    "a fraction for a node": lambda model: model["nodes"]["left"].__setitem__(0, 1.5),
    "a huge number": lambda model: model["nodes"]["left"].__setitem__(0, 10**40),
    "a short list": lambda model: model["nodes"]["gain"].pop(),
    "no list": lambda model: model["nodes"].update(value={}),
    "no nodes": lambda model: model.pop("nodes"),
    "no features": lambda model: model.update(n_features=0),
    "NaN": lambda model: model.update(baseline=float("nan")),
}
LOGISTIC: dict[str, Change] = {
    "a short list": lambda model: model["coefficients"].pop(),
    "a scale of 0": lambda model: model["scaling"]["scale"].__setitem__(0, 0),
    "infinity": lambda model: model.update(intercept=float("inf")),
    "no scaling": lambda model: model.update(scaling=None),
    "another form": lambda model: model.update(form="pubench histgb 1"),
}


@pytest.mark.parametrize(
    ("name", "change"),
    [("histgb", change) for change in HISTGB] + [("logistic", change) for change in LOGISTIC],
)
def test_json_that_lies_is_refused(name: str, change: str, tmp_path: Path) -> None:
    plugin, model, _ = trained(name)
    path = tmp_path / "model.json"
    model.save(path)
    content = json.loads(path.read_text())
    {"histgb": HISTGB, "logistic": LOGISTIC}[name][change](content)
    path.write_text(json.dumps(content))
    with pytest.raises(DataError, match=r"model\.json is not a (model of|JSON object)"):
        plugin.load(path)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("left_child", "99 99 99"),
        ("left_child", "0"),
        ("right_child", "-99"),
        ("split_feature", "4"),
        ("split_feature", "-1"),
        ("threshold", "nan"),
        ("leaf_value", "1e999"),
        ("num_leaves", "1000000000"),
        ("num_leaves", "x"),
        ("num_cat", "7"),
        ("max_feature_idx", "2"),
        ("num_class", "3"),
        ("objective", "regression"),
        ("is_linear", "1"),
        ("shrinkage", "inf"),
        ("decision_type", "257"),
        ("decision_type", "-1"),
        ("internal_count", "9999999999"),
        ("leaf_count", "1e3"),
    ],
)
def test_lightgbm_text_that_lies_is_refused(line: str, words: str, tmp_path: Path) -> None:
    plugin, model, _ = trained("lightgbm")
    path = tmp_path / "model.txt"
    model.save(path)
    before, after = path.read_text().split(f"\n{line}=", 1)
    old, rest = after.split("\n", 1)
    new = " ".join([*words.split(), *old.split()[len(words.split()) :]])
    path.write_text(f"{before}\n{line}={new}\n{rest}")
    with pytest.raises(DataError, match="is not a LightGBM model"):
        plugin.load(path)


@pytest.mark.parametrize("line", ["split_feature", "threshold", "left_child", "leaf_value", "leaf_count"])
@pytest.mark.parametrize("word", ["0_0", "\uff10", "+0", "00", "-0"])
def test_lightgbm_reads_the_numbers_that_were_checked(line: str, word: str, tmp_path: Path) -> None:
    """Each of these words is 0 to Python; what LightGBM would make of it does not matter, as it never reads it."""
    plugin, model, X = trained("lightgbm")
    path = tmp_path / "model.txt"
    model.save(path)

    def load(first: str) -> Any:
        before, after = path.read_text().split(f"\n{line}=", 1)
        path.write_text(f"{before}\n{line}={' '.join([first, *after.split(' ')[1:]])}")
        return plugin.load(path)

    try:
        plain = load("0").predict(X, ONE)
    except DataError:
        with pytest.raises(DataError):
            load(word)
    else:
        np.testing.assert_array_equal(load(word).predict(X, ONE), plain)


def test_a_huge_number_of_features_is_refused(tmp_path: Path) -> None:
    plugin, model, _ = trained("histgb")
    path = tmp_path / "model.json"
    model.save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "n_features": 10**12}))
    with pytest.raises(DataError, match="n_features should be a whole number"):
        plugin.load(path)


@pytest.mark.parametrize("score", ["2", "-1E0", "1_0", "1E-1,1E-1", ".", "1E999", "0x1"])
def test_an_xgboost_base_score_that_lies_is_refused(score: str) -> None:
    _, model, _ = trained("xgboost")
    content = parse(bytes(model.booster.save_raw("ubj")))  # type: ignore[attr-defined]
    content["learner"]["learner_model_param"]["base_score"] = f"[{score}]"
    with pytest.raises(ValueError, match="base score"):
        checked_model(write(content))


def test_what_xgboost_does_not_need_is_left_out() -> None:
    _, model, _ = trained("xgboost")
    content = parse(bytes(model.booster.save_raw("ubj")))  # type: ignore[attr-defined]
    content["learner"]["attributes"] = {"best_iteration": "99999999999999999999"}
    content["learner"]["gradient_booster"]["gbtree_train_param"] = {"updater": "grow_nothing"}
    checked = checked_model(write(content))
    assert b"best_iteration" not in checked
    assert b"grow_nothing" not in checked
    assert checked_model(checked) == checked


@pytest.mark.parametrize(
    "value",
    [
        {
            "a": [1, "two", {"b": -3}],
            "\u00e9": [np.arange(3, dtype=np.int32), np.array([0.5], dtype=np.float32)],
        },
        [],
        {"nothing": np.array([], dtype=np.uint8)},
    ],
)
def test_ubjson_comes_back(value: Any) -> None:
    np.testing.assert_equal(parse(write(value)), value)


@pytest.mark.parametrize(
    "name", ["left_children", "right_children", "split_indices", "parents", "split_type", "categories_nodes"]
)
def test_xgboost_trees_that_lie_are_refused(name: str, tmp_path: Path) -> None:
    plugin, model, _ = trained("xgboost")
    path = tmp_path / "model.ubj"
    model.save(path)
    content = path.read_bytes()
    for found in range(content.count(name.encode())):
        start = [i for i in range(len(content)) if content.startswith(name.encode(), i)][found] + len(name)
        kind, size = content[start + 2 : start + 3], int.from_bytes(content[start + 5 : start + 13])
        if size:
            break
    first = start + 13
    width = {b"U": 1, b"l": 4, b"L": 8}[kind]
    path.write_bytes(content[:first] + b"\x7f" * width + content[first + width :])
    with pytest.raises(DataError, match="is not an XGBoost model"):
        plugin.load(path)


@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "histgb", "logistic", "mlp"])
def test_damage_is_refused_or_harmless(name: str, tmp_path: Path) -> None:
    """Some changed bytes only change a number; no change may crash, hang or raise anything but DataError."""
    plugin, model, X = trained(name)
    path = tmp_path / f"model{plugin.suffix}"
    model.save(path)
    content = path.read_bytes()
    generator = np.random.default_rng(4)
    refused = 0
    for _ in range(60):
        damaged = bytearray(content)
        for place in generator.integers(0, len(content), 3):
            damaged[place] = generator.integers(0, 256)
        path.write_bytes(damaged)
        try:
            plugin.load(path).predict(X, ONE)
        except DataError:
            refused += 1
    assert refused > 10

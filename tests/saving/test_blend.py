"""Blends: divided, through TOML, into folders and back."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pubench import load_classifier
from pubench.errors import DataError, InputError, ParameterError
from pubench.plugin_api import Kind
from pubench.registry import Registry
from pubench.saving.blend import Blend, configure_all
from pubench.saving.configuration import Configuration, Ingredient, Named, configure
from pubench.saving.models import Trained, load_model, save_model
from pubench.saving.toml import read_toml, to_toml
from pubench.seeds import Seed
from pubench.types import FloatVector, PUData, Resources

RESOURCES = Resources(n_threads=2)


def single(registry: Registry, method: str, learner: str = "logistic", **params: Any) -> Configuration:
    named = {Kind.METHOD: Named(method, params), Kind.LEARNER: Named(learner)}
    if method == "probtagging":
        named[Kind.SIMILARITY] = Named("knn")
    return configure(named, registry)


@pytest.fixture(scope="session")
def blend(registry: Registry) -> Blend:
    return Blend.of(
        [
            (2, single(registry, "probtagging", members=3)),
            (1, single(registry, "naive", "lightgbm")),
            (1, single(registry, "naive")),
        ]
    )


@pytest.fixture(scope="session")
def trained_blend(blend: Blend, data: PUData) -> Trained:
    fitted = blend.method.fit(data, blend.parts, Seed(3), RESOURCES)
    return Trained.on(data, fitted, blend, Seed(3), RESOURCES)


@pytest.fixture
def blend_folder(trained_blend: Trained, tmp_path: Path) -> Path:
    save_model(tmp_path / "model", trained_blend)
    return tmp_path / "model"


def manifest(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return content


def test_members_are_divided_and_none_goes_without(registry: Registry) -> None:
    parts = [
        (5, single(registry, "probtagging", members=50)),
        (1, single(registry, "bagging", members=2)),
        (2, single(registry, "naive")),
    ]
    divided = Blend.divided(parts)
    assert [weight for weight, _ in divided.weighted] == [5, 1, 2]
    assert [one.method.params.get("members") for one in divided.singles] == [31, 1, None]
    assert divided.singles[2] == parts[2][1]


def test_parts_of_equal_names_are_told_as_one(registry: Registry) -> None:
    parts = [
        (1, single(registry, "naive")),
        (2, single(registry, "bagging")),
        (2, single(registry, "bagging", members=5)),
    ]
    assert str(Blend.divided(parts)).startswith("blend of 4 x bagging + ")


def test_a_blend_says_what_it_is(blend: Blend) -> None:
    assert (
        str(blend) == "blend of 2 x probtagging + knn + logistic, 1 x naive + lightgbm, 1 x naive + logistic"
    )
    assert blend.tables() == {"method": {"name": "blend"}}
    written: Any = blend.to_json()
    assert written["blend"][0]["weight"] == 2
    assert written["blend"][0]["method"]["members"] == 3
    assert blend.origins[Kind.METHOD].startswith("pubench ")
    assert json.loads(json.dumps(written)) == written


def test_a_blend_that_was_cut_short_says_how_many_members_it_has(blend: Blend) -> None:
    short = blend.as_trained({"blended": [{"members": 2}, {}, {}]})
    assert [one.method.params.get("members") for one in short.singles] == [2, None, None]
    assert blend.as_trained({"blended": [{"members": 3}, {}, {}]}) == blend


def test_toml_and_back(blend: Blend, registry: Registry, tmp_path: Path) -> None:
    path = tmp_path / "best.toml"
    path.write_text(to_toml(blend, 7), encoding="utf-8")
    ingredients, seed = read_toml(path)
    assert seed == 7
    assert configure_all(ingredients, registry) == blend


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[blend]]\nweight = 1\n[blend.method]\nname = 'naive'", "has 2 to 100 tables"),
        ("blend = 3", "has 2 to 100 tables"),
        ("blend = [1, 2]", "is no table"),
        ("blend = []", "has 2 to 100 tables"),
        ("[[blend]]\n[[blend]]\nweight = 1", "must state a weight"),
        ("[[blend]]\nweight = 0\n[[blend]]\nweight = 1", "must state a weight"),
        ("[[blend]]\nweight = true\n[[blend]]\nweight = 1", "must state a weight"),
        ("[[blend]]\nweight = 1\n[blend.metod]\n[[blend]]\nweight = 1", "Did you mean 'method'"),
        ("[[blend]]\nweight = 1\n[blend.method]\n[[blend]]\nweight = 1", "must state a name"),
        ("[method]\nname = 'naive'\n[[blend]]\nweight = 1\n[[blend]]\nweight = 1", "says it all"),
    ],
)
def test_toml_that_is_none_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(text)
    with pytest.raises(DataError, match=r"c\.toml") as error:
        read_toml(tmp_path / "c.toml")
    assert message in str(error.value)


def test_parts_without_a_method_and_wild_weights_are_refused(registry: Registry) -> None:
    naive = single(registry, "naive").ingredients[0]
    with pytest.raises(ParameterError, match="needs a method"):
        configure_all([naive, Ingredient({})], registry)
    with pytest.raises(ParameterError, match="of a weight from 1 to"):
        configure_all([naive, Ingredient(naive.plugins, weight=10**9)], registry)


def test_scores_in_a_new_process_are_the_same(
    blend_folder: Path,
    data: PUData,
    trained_blend: Trained,
    scores_in_a_new_process: Callable[[Path], FloatVector],
) -> None:
    expected = trained_blend.fitted.score(data.X, RESOURCES).values
    np.testing.assert_array_equal(scores_in_a_new_process(blend_folder), expected)


def test_the_manifest_tells_all(blend_folder: Path, trained_blend: Trained, blend: Blend) -> None:
    content = manifest(blend_folder)
    assert "method" not in content
    assert [part["weight"] for part in content["blend"]] == [2, 1, 1]
    assert content["blend"][1]["learner"]["name"] == "lightgbm"
    assert {"lightgbm", "scikit-learn"} <= set(content["versions"])
    assert len(content["chosen"]["blended"]) == 3
    assert sum(content["importances"]) == pytest.approx(1)
    assert {name.split("/")[1] for name in content["files"] if name.startswith("model/")} == {
        "part-0",
        "part-1",
        "part-2",
        "ranks.json",
    }
    assert (blend_folder / "config.toml").read_text() == to_toml(blend, 3)
    assert trained_blend.evidence is not None


@pytest.mark.parametrize(
    "name", ["model/part-0/member-001.json", "model/part-1/ensemble.json", "model/ranks.json"]
)
def test_a_changed_file_is_refused(name: str, blend_folder: Path, registry: Registry) -> None:
    with (blend_folder / name).open("ab") as file:
        file.write(b" ")
    with pytest.raises(DataError, match="is not as it was saved"):
        load_model(blend_folder, registry)


@pytest.mark.parametrize(
    "junk", [None, -1, 0, 10**400, "x", [], [[]], {"self": 1}, True], ids=lambda junk: repr(junk)[:9]
)
def test_a_hostile_blend_is_refused_or_harmless(junk: Any, blend_folder: Path, registry: Registry) -> None:
    original = manifest(blend_folder)
    places: list[list[Any]] = [
        [],
        [0],
        [0, "weight"],
        [1, "method"],
        [1, "method", "params"],
        [2, "learner", "origin"],
    ]
    for place in places:
        content = {"blend": json.loads(json.dumps(original["blend"]))}
        part: Any = content
        *way, last = ["blend", *place]
        for key in way:
            part = part[key]
        part[last] = junk
        (blend_folder / "manifest.json").write_text(json.dumps(original | content))
        try:
            load_model(blend_folder, registry)
        except InputError:  # anything else would be a crash
            continue


@pytest.mark.parametrize("change", ["fewer", "more", "order"])
def test_a_blend_of_other_parts_than_its_files_is_refused(
    change: str, blend_folder: Path, registry: Registry
) -> None:
    content = manifest(blend_folder)
    first, *others = content["blend"]
    content["blend"] = {"fewer": others, "more": [first, first, *others], "order": [*others, first]}[change]
    (blend_folder / "manifest.json").write_text(json.dumps(content))
    with pytest.raises(DataError):
        load_model(blend_folder, registry)


def test_a_model_of_the_first_format_is_still_read(
    trained: Trained, registry: Registry, tmp_path: Path
) -> None:
    save_model(tmp_path / "model", trained)
    content = manifest(tmp_path / "model")
    content["format"]["version"] = [1, 0]
    (tmp_path / "model" / "manifest.json").write_text(json.dumps(content))
    assert load_model(tmp_path / "model", registry).manifest.title == "probtagging + knn + lightgbm"


def test_a_classifier_comes_back_from_it(blend_folder: Path, data: PUData, trained_blend: Trained) -> None:
    classifier = load_classifier(blend_folder)
    numeric = [feature.name for feature in data.X.features]
    assert classifier.feature_names_in_.tolist() == numeric
    np.testing.assert_array_equal(classifier.feature_importances_, trained_blend.fitted.importances())

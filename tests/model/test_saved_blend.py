"""Saved blends: what comes back is what was saved, and damaged folders are refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pubench import load_classifier
from pubench.api.registry import Registry
from pubench.configuration.configuration import Blend
from pubench.configuration.toml_file import to_toml
from pubench.errors import DataError, InputError
from pubench.model.saved import Trained, load_model, save_model
from pubench.seeds import Seed
from pubench.types import FloatVector, PUData, Resources
from tests.configuration.conftest import blend

__all__ = ["blend"]

RESOURCES = Resources(n_threads=2)


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


def test_scores_in_a_new_process_are_the_same(
    blend_folder: Path,
    data: PUData,
    trained_blend: Trained,
    scores_in_a_new_process: Callable[[Path], FloatVector],
) -> None:
    expected = trained_blend.fitted.score(data.X, RESOURCES).values
    np.testing.assert_array_equal(scores_in_a_new_process(blend_folder), expected)


def test_the_manifest_is_complete(blend_folder: Path, trained_blend: Trained, blend: Blend) -> None:
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
    positions: list[list[Any]] = [
        [],
        [0],
        [0, "weight"],
        [1, "method"],
        [1, "method", "params"],
        [2, "learner", "origin"],
    ]
    for position in positions:
        content = {"blend": json.loads(json.dumps(original["blend"]))}
        part: Any = content
        *path, last = ["blend", *position]
        for key in path:
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

"""Saved models: what is loaded is what was saved, and anything else is refused."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pubench.api.plugin import Kind
from pubench.api.registry import Registry
from pubench.configuration.configuration import PluginSpec, configure
from pubench.decision.calibration import Calibration
from pubench.decision.hidden_positives import Hidden, HiddenPositives, Withheld
from pubench.errors import DataError, InputError, UnknownPluginError
from pubench.model.saved import Trained, check_model_folder, load_model, save_model
from pubench.seeds import Seed
from pubench.types import FloatVector, PUData, Resources

RESOURCES = Resources(n_threads=2)
LEARNERS = ("catboost", "lightgbm", "logistic")


def manifest(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return content


def rewrite(folder: Path, content: Any) -> None:
    (folder / "manifest.json").write_text(json.dumps(content))


@pytest.mark.parametrize("learner", LEARNERS)
def test_scores_are_the_same_bit_for_bit(
    learner: str, data: PUData, registry: Registry, tmp_path: Path
) -> None:
    named = {Kind.METHOD: PluginSpec("naive"), Kind.LEARNER: PluginSpec(learner)}
    configuration = configure(named, registry)
    fitted = configuration.method.fit(data, configuration.parts, Seed(1), RESOURCES)
    trained = Trained.on(data, fitted, configuration, Seed(1), RESOURCES)
    save_model(tmp_path / "new" / "model", trained)
    loaded = load_model(tmp_path / "new" / "model", registry)
    np.testing.assert_array_equal(
        loaded.score(data.X, RESOURCES).values, fitted.score(data.X, RESOURCES).values
    )
    assert loaded.notices == ()
    library = {"logistic": "scikit-learn"}.get(learner, learner)
    assert library in loaded.manifest.versions


def test_scores_in_a_new_process_are_the_same(
    folder: Path, data: PUData, trained: Trained, scores_in_a_new_process: Callable[[Path], FloatVector]
) -> None:
    expected = trained.fitted.score(data.X, RESOURCES).values
    np.testing.assert_array_equal(scores_in_a_new_process(folder), expected)


def test_what_scores_mean_is_saved_with_them(
    trained: Trained, data: PUData, registry: Registry, tmp_path: Path
) -> None:
    calibration = Calibration.of(data.s, np.arange(data.X.n_rows, dtype=np.float64))
    numbers: tuple[Hidden, ...] = (HiddenPositives(90, 40, 200, "a guess"), Withheld("Classes overlap."))
    for number, hidden in enumerate(numbers):
        folder = tmp_path / str(number)
        save_model(folder, replace(trained, calibration=calibration, hidden_positives=hidden))
        loaded = load_model(folder, registry)
        assert loaded.manifest.hidden_positives == hidden
        assert loaded.calibration is not None
        assert loaded.calibration.to_json() == calibration.to_json()


def test_a_number_outside_of_its_own_range_is_refused(
    trained: Trained, registry: Registry, tmp_path: Path
) -> None:
    save_model(tmp_path / "model", replace(trained, hidden_positives=HiddenPositives(90, 40, 200, "a guess")))
    content = manifest(tmp_path / "model")
    content["hidden_positives"]["estimate"] = 728_194
    rewrite(tmp_path / "model", content)
    with pytest.raises(DataError, match="hidden_positives"):
        load_model(tmp_path / "model", registry)


def test_the_manifest_is_complete(folder: Path, trained: Trained, data: PUData) -> None:
    content = manifest(folder)
    assert content["format"] == {"name": "pubench model", "version": [1, 3]}
    assert content["learner"]["name"] == "lightgbm"
    assert content["learner"]["params"]["trees"] == 20
    assert content["method"]["origin"].startswith("pubench ")
    assert content["seed"] == 3
    assert (content["rows"], content["labelled"]) == (data.X.n_rows, data.n_labelled)
    assert content["chosen"]["k"] == trained.fitted.chosen["k"]
    assert content["expected_positives"] == trained.fitted.expected_positives
    assert content["features"][3] == {"name": "town", "kind": "categorical", "categories": ["x", "y", "z"]}
    assert sum(content["importances"]) == pytest.approx(1)
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert files == {*content["files"], "manifest.json"}


def test_thresholds_are_reached_by_their_share(folder: Path, trained: Trained, data: PUData) -> None:
    scores = trained.fitted.score(data.X, RESOURCES).values
    thresholds = manifest(folder)["thresholds"]
    for share in (0.01, 0.05, 0.1):
        assert np.mean(scores >= thresholds[f"{share:g}"]) == pytest.approx(share, abs=2.0 / len(scores))
    expected = trained.fitted.expected_positives
    assert expected is not None
    assert np.sum(scores >= thresholds["expected"]) == pytest.approx(expected, abs=2)


@pytest.mark.parametrize("name", ["model/member-002.txt", "evidence/points.npy", "config.toml"])
@pytest.mark.parametrize("damage", ["byte", "cut", "longer", "absent"])
def test_a_damaged_file_is_refused(name: str, damage: str, folder: Path, registry: Registry) -> None:
    path = folder / name
    content = path.read_bytes()
    if damage == "absent":
        path.unlink()
    else:
        flipped = content[:-1] + bytes([content[-1] ^ 1])
        path.write_bytes({"byte": flipped, "cut": content[:-1], "longer": content + b"\n"}[damage])
    with pytest.raises(DataError) as error:
        load_model(folder, registry)
    assert path.name in str(error.value)


def test_a_file_is_verified_before_a_library_opens_it(
    folder: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = registry.find("lightgbm", Kind.LEARNER).plugin
    monkeypatch.setattr(learner, "load", lambda _: pytest.fail("it was opened"))
    (folder / "model" / "member-004.txt").write_text("tree\n")
    with pytest.raises(DataError, match=r"member-004\.txt is not as it was saved"):
        load_model(folder, registry)


def test_an_additional_file_is_refused(folder: Path, registry: Registry) -> None:
    (folder / "model" / "extra.txt").write_text("x")
    with pytest.raises(DataError, match=r"contains 'model/extra\.txt', which is not part"):
        load_model(folder, registry)


@pytest.mark.parametrize("name", ["model/member-000.txt", "manifest.json", "model", "loose"])
def test_links_are_refused(name: str, folder: Path, registry: Registry, tmp_path: Path) -> None:
    path = folder / name
    if path.exists():
        path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="is a link or no regular file"):
        load_model(folder, registry)


def test_a_folder_may_be_reached_by_a_link(folder: Path, registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to(folder)
    assert load_model(tmp_path / "latest", registry).manifest.seed == 3


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/hostname", "model/../../secret.txt"])
def test_paths_that_leave_the_folder_are_never_opened(
    name: str, folder: Path, registry: Registry, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("x")
    content = manifest(folder)
    content["files"][name] = content["files"]["config.toml"]
    rewrite(folder, content)
    with pytest.raises(DataError, match="lacks the file"):
        load_model(folder, registry)


@pytest.mark.parametrize("version", [[2, 0], [0, 9], [], "1.0", ["1"], None])
def test_another_version_of_the_format_is_refused(version: Any, folder: Path, registry: Registry) -> None:
    content = manifest(folder)
    content["format"]["version"] = version
    rewrite(folder, content)
    with pytest.raises(DataError, match="version"):
        load_model(folder, registry)


def test_a_later_minor_version_is_read(folder: Path, registry: Registry) -> None:
    content = manifest(folder)
    content["format"]["version"] = [1, 7]
    content["what comes later"] = {}
    rewrite(folder, content)
    assert load_model(folder, registry).manifest.n_labelled > 0


def test_another_version_of_a_library_gives_a_notice(folder: Path, registry: Registry) -> None:
    content = manifest(folder)
    content["versions"]["lightgbm"] = "3.0.0\x1b[2J"
    rewrite(folder, content)
    (notice,) = load_model(folder, registry).notices
    assert "lightgbm 3.0.0" in notice
    assert "\x1b" not in notice


def test_an_unknown_plugin_gives_the_message_of_the_registry(folder: Path, registry: Registry) -> None:
    content = manifest(folder)
    content["learner"]["name"] = "lightgbn"
    rewrite(folder, content)
    with pytest.raises(UnknownPluginError, match="Did you mean 'lightgbm'"):
        load_model(folder, registry)


def paths_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths to all parts of a document; of long lists and lists of files the first."""
    yield path
    keys = (
        list(value)
        if isinstance(value, dict)
        else range(min(1, len(value)))
        if isinstance(value, list)
        else []
    )
    for key in keys:
        yield from paths_in(value[key], (*path, key))


@pytest.mark.parametrize("junk", [None, -1, 10**400, "x", [[]], {"self": 1}], ids=lambda junk: repr(junk)[:9])
def test_a_hostile_manifest_is_refused_or_harmless(junk: Any, folder: Path, registry: Registry) -> None:
    original = manifest(folder)
    for path in paths_in(original):
        content = json.loads(json.dumps(original))
        part = content
        for key in path[:-1]:
            part = part[key]
        if path:
            part[path[-1]] = junk
        rewrite(folder, content if path else junk)
        try:
            load_model(folder, registry)
        except InputError:  # anything else would be a crash
            continue


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"format": NaN}', "[" * 100_000], ids=lambda text: text[:9]
)
def test_a_manifest_that_is_not_an_object_is_refused(text: str, folder: Path, registry: Registry) -> None:
    (folder / "manifest.json").write_text(text)
    with pytest.raises(DataError):
        load_model(folder, registry)


def test_other_folders_are_refused(tmp_path: Path, registry: Registry) -> None:
    with pytest.raises(DataError, match="is not a folder"):
        load_model(tmp_path / "nothing", registry)
    with pytest.raises(DataError, match="is not a saved model: it has no manifest"):
        load_model(tmp_path, registry)


def test_a_saved_model_is_replaced_only_on_request(
    folder: Path, trained: Trained, registry: Registry
) -> None:
    other = replace(trained, seed=Seed(99))
    for attempt in (check_model_folder, lambda folder: save_model(folder, other)):
        with pytest.raises(DataError, match=r"holds a saved model already; .* --force"):
            attempt(folder)
    assert load_model(folder, registry).manifest.seed == 3
    save_model(folder, other, replace=True)
    assert load_model(folder, registry).manifest.seed == 99
    assert os.listdir(folder.parent) == [folder.name]  # noqa: PTH208 - hidden ones too


def test_only_a_saved_model_is_ever_replaced(tmp_path: Path, trained: Trained) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("x")
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "home")
    for name in ("home", "file", "link"):
        with pytest.raises(DataError):
            save_model(tmp_path / name, trained, replace=True)
    assert (tmp_path / "home" / "thesis.tex").read_text() == "x"
    (tmp_path / "empty").mkdir()
    save_model(tmp_path / "empty", trained)


def test_after_a_failure_only_the_old_model_is_there(
    folder: Path, trained: Trained, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object, path: Path) -> None:
        (path / "half").write_text("x")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(trained.fitted), "save", fail)
    for path in (folder, folder.parent / "new"):
        with pytest.raises(DataError, match="No space left on device"):
            save_model(path, trained, replace=True)
    assert os.listdir(folder.parent) == [folder.name]  # noqa: PTH208
    assert load_model(folder, registry).manifest.seed == 3


def test_a_copied_folder_can_be_loaded(folder: Path, registry: Registry, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "copy")
    assert load_model(tmp_path / "copy", registry).notices == ()

"""TOML that people write: tables with their text, and configurations and blends to TOML and back; invalid files are refused."""

import re
from pathlib import Path

import pytest

from pubench.api.plugin import Kind
from pubench.api.registry import Registry
from pubench.configuration.configuration import Blend, PluginSpec, configure, configure_specs
from pubench.configuration.toml_file import read_toml, read_toml_document, to_toml
from pubench.errors import DataError

ALL = {
    Kind.METHOD: PluginSpec("probtagging", {"negatives": "sampled", "ratio": 12.5}),
    Kind.SIMILARITY: PluginSpec("knn"),
    Kind.LEARNER: PluginSpec("lightgbm", {"trees": 33, "random_cuts": False}),
}


def test_tables_come_with_their_text(tmp_path: Path) -> None:
    path = tmp_path / "suite.toml"
    path.write_text('title = "grün"\n[limits]\nminutes = 5\n', encoding="utf-8")
    document, text = read_toml_document(path)
    assert document == {"title": "grün", "limits": {"minutes": 5}}
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"x = ", "is not TOML"),
        (b"x = 1\nx = 2", "is not TOML"),
        (b"\xff", "is not UTF-8 text"),
        (b"x = " + 20_000 * b"[", "is not TOML"),
        (b"#" * (2**22 + 1), "too large"),
    ],
    ids=["cut off", "twice", "bytes", "nested", "large"],
)
def test_what_is_not_toml_is_refused(content: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"^{re.escape(str(path))} .*{reason}") as caught:
        read_toml_document(path)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_toml_document(tmp_path / "missing.toml")
    with pytest.raises(DataError, match="only regular files are read"):
        read_toml_document(tmp_path)


def test_a_configuration_to_toml_and_back(registry: Registry, tmp_path: Path) -> None:
    configuration = configure(ALL, registry)
    (tmp_path / "config.toml").write_text(to_toml(configuration, 7), encoding="utf-8")
    (spec,), seed = read_toml(tmp_path / "config.toml")
    assert seed == 7
    assert configure(spec.plugins, registry).plugins == configuration.plugins
    assert spec.plugins[Kind.LEARNER].params["random_cuts"] is False


def test_a_blend_to_toml_and_back(blend: Blend, registry: Registry, tmp_path: Path) -> None:
    path = tmp_path / "best.toml"
    path.write_text(to_toml(blend, 7), encoding="utf-8")
    specs, seed = read_toml(path)
    assert seed == 7
    assert configure_specs(specs, registry) == blend


@pytest.mark.parametrize(
    "text",
    [
        "[method",
        "[metod]\nname = 'x'",
        "method = 3",
        "[method]\nmembers = 3",
        "seed = 'x'",
        "[method]\nname = 3",
    ],
)
def test_invalid_toml_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(text)
    with pytest.raises(DataError, match=r"c\.toml"):
        read_toml(tmp_path / "c.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[blend]]\nweight = 1\n[blend.method]\nname = 'naive'", "has 2 to 100 tables"),
        ("blend = 3", "has 2 to 100 tables"),
        ("blend = [1, 2]", "is not a table"),
        ("blend = []", "has 2 to 100 tables"),
        ("[[blend]]\n[[blend]]\nweight = 1", "must state a weight"),
        ("[[blend]]\nweight = 0\n[[blend]]\nweight = 1", "must state a weight"),
        ("[[blend]]\nweight = true\n[[blend]]\nweight = 1", "must state a weight"),
        ("[[blend]]\nweight = 1\n[blend.metod]\n[[blend]]\nweight = 1", "Did you mean 'method'"),
        ("[[blend]]\nweight = 1\n[blend.method]\n[[blend]]\nweight = 1", "must state a name"),
        ("[method]\nname = 'naive'\n[[blend]]\nweight = 1\n[[blend]]\nweight = 1", "and nothing else"),
    ],
)
def test_invalid_toml_of_a_blend_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(text)
    with pytest.raises(DataError, match=r"c\.toml") as error:
        read_toml(tmp_path / "c.toml")
    assert message in str(error.value)

"""Configurations: from names to plugins, and through TOML and back."""

from pathlib import Path
from typing import Any

import pytest

from pubench.errors import DataError, InputError, ParameterError
from pubench.plugin_api import Kind
from pubench.registry import Registry
from pubench.saving.configuration import Named, configure, parse_setting, typed
from pubench.saving.toml import read_toml, to_toml
from pubench.spaces import Choice, Int

ALL = {
    Kind.METHOD: Named("probtagging", {"negatives": "sampled", "ratio": 12.5}),
    Kind.SIMILARITY: Named("knn"),
    Kind.LEARNER: Named("lightgbm", {"trees": 33, "random_cuts": False}),
}


def test_toml_and_back(registry: Registry, tmp_path: Path) -> None:
    configuration = configure(ALL, registry)
    (tmp_path / "config.toml").write_text(to_toml(configuration, 7), encoding="utf-8")
    (ingredient,), seed = read_toml(tmp_path / "config.toml")
    assert seed == 7
    assert configure(ingredient.plugins, registry).plugins == configuration.plugins
    assert ingredient.plugins[Kind.LEARNER].params["random_cuts"] is False


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({Kind.METHOD: Named("naive")}, "uses no similarity"),
        ({Kind.LEARNER: Named("lightgbm", {"tree": 3})}, "has no parameter 'tree'"),
        ({Kind.LEARNER: Named("lightgbm", {"self": 3})}, "has no parameter 'self'"),
        ({Kind.LEARNER: Named("knn")}, "There is no learner 'knn'"),
    ],
)
def test_what_does_not_fit_is_refused(change: Any, message: str, registry: Registry) -> None:
    with pytest.raises(InputError, match=message):
        configure({**ALL, **change}, registry)


def test_what_is_lacking_is_named(registry: Registry) -> None:
    with pytest.raises(ParameterError, match="needs a learner"):
        configure({Kind.METHOD: Named("naive")}, registry)
    with pytest.raises(ParameterError, match="needs a method"):
        configure({Kind.LEARNER: Named("lightgbm")}, registry)


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
def test_toml_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(text)
    with pytest.raises(DataError, match=r"c\.toml"):
        read_toml(tmp_path / "c.toml")


def test_settings_are_read_as_their_parameter_has_them() -> None:
    assert parse_setting("learner.trees = 100") == (Kind.LEARNER, "trees", "100")
    assert typed("100", Int(1, 200, default=5)) == 100
    assert typed("true", Choice((True, False), default=True)) is True
    assert typed("none", Choice(("none", "cap"), default="none")) == "none"
    assert typed("1", Choice(("1", "2"), default="1")) == "1"
    assert typed("[1]", None) == "[1]"


@pytest.mark.parametrize("text", ["trees=5", "learner.trees", "lerner.trees=5", "learner.=5", "dataset.x=5"])
def test_what_is_no_setting_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="sets no parameter"):
        parse_setting(text)

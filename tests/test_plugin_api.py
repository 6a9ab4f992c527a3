"""Plugins are configurations: comparable, printable, portable."""

import copy

import pytest

from pubench.errors import ParameterError
from pubench.plugin_api import Kind, Plugin
from pubench.spaces import Choice, Int


class Toy(Plugin):
    """A toy."""

    kind = Kind.SIMILARITY
    name = "toy"
    space = {"k": Int(1, 9, default=3), "rule": Choice(("a", "b"), default="a")}


def test_parameters_fill_in_and_can_not_be_changed() -> None:
    toy = Toy(k=4)
    assert dict(toy.params) == {"k": 4, "rule": "a"}
    with pytest.raises(TypeError):
        toy.params["k"] = 5  # type: ignore[index]


def test_equal_parameters_are_equal_plugins() -> None:
    assert Toy(k=3) == Toy()
    assert hash(Toy(k=3)) == hash(Toy())
    assert Toy(k=4) != Toy()
    assert copy.deepcopy(Toy(k=4)) == Toy(k=4)
    assert repr(Toy()) == "Toy(k=3, rule='a')"


def test_the_message_names_the_plugin() -> None:
    with pytest.raises(ParameterError, match="similarity 'toy': k = 10"):
        Toy(k=10)

"""Declared parameters: what a space accepts and what it says when it does not."""

from typing import Any

import numpy as np
import pytest

from pubench.api.spaces import Choice, Float, Int, Space, as_written, check_space, resolve
from pubench.errors import ParameterError

SPACE: Space = {
    "rule": Choice(("plateau", "given"), default="plateau"),
    "k": Int(1, 200, default=18, log=True, when=("rule", "given")),
    "power": Float(0.5, 2.0, default=1.0),
}


def test_a_complete_configuration_from_before_a_parameter_keeps_its_meaning() -> None:
    space: dict[str, Any] = {
        "trees": Int(1, 100, default=50),
        "start": Choice((False, True), default=False, before=True),
    }
    assert as_written(space, {"trees": 20}) == {"trees": 20, "start": True}
    assert as_written(space, {"trees": 20, "start": False}) == {"trees": 20, "start": False}
    assert as_written(space, {}) == {}
    assert as_written({**space, "rate": Float(0, 1, default=0.5)}, {"trees": 20}) == {"trees": 20}


def test_defaults_fill_in_and_inactive_parameters_stay_out() -> None:
    assert resolve(SPACE, {}, "knn") == {"rule": "plateau", "power": 1.0}
    assert resolve(SPACE, {"rule": "given"}, "knn") == {"rule": "given", "k": 18, "power": 1.0}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"powr": 1.0}, "knn has no parameter 'powr' .*Did you mean 'power'"),
        ({"power": 3.0}, r"knn: power = 3.0 is not in its range \(0.5 to 2\)"),
        ({"power": float("nan")}, "not in its range"),
        ({"power": True}, "not in its range"),
        ({"rule": "given", "k": 2.5}, "1 to 200, log"),
        ({"rule": "guess"}, r"plateau \| given"),
        ({"k": 5}, "k only applies with rule = 'given'"),
    ],
)
def test_resolve_refuses(given: dict[str, str | float], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        resolve(SPACE, given, "knn")


def test_values_come_out_as_their_declared_type() -> None:
    assert repr(resolve(SPACE, {"power": 1}, "knn")["power"]) == "1.0"
    given: dict[str, Any] = {"rule": "given", "k": np.int64(5)}
    assert repr(resolve(SPACE, given, "knn")["k"]) == "5"


def test_true_is_no_number() -> None:
    assert not Choice((1, 2), default=1).contains(True)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Float(2.0, 1.0, default=1.0),
        lambda: Float(0.0, 1.0, default=0.5, log=True),
        lambda: Float(0.0, float("inf"), default=0.5),
        lambda: Int(1, 5, default=6),
        lambda: Int(0.5, 2.5, default=1),  # type: ignore[arg-type]
        lambda: Choice((1.0, float("inf")), default=1.0),
        lambda: Choice((), default=None),
        lambda: Choice(("a",), default="b"),
    ],
)
def test_an_impossible_declaration_is_refused(build: object) -> None:
    with pytest.raises(ParameterError):
        build()  # type: ignore[operator]


@pytest.mark.parametrize(
    "space",
    [
        {"two words": Int(1, 2, default=1)},
        {"a": Int(1, 2, default=1, when=("b", 1)), "b": Int(1, 2, default=1)},
        {"a": Int(1, 2, default=1, when=("a", 1))},
        {"a": Int(1, 2, default=1), "b": Int(1, 2, default=1, when=("a", 3))},
        {"a": Int(1, 2, default=1, derived=True), "b": Int(1, 2, default=1, when=("a", 1))},
    ],
)
def test_a_condition_names_a_value_declared_above(space: Space) -> None:
    with pytest.raises(ParameterError):
        check_space(space)


def test_dear_is_a_deprecated_alias_of_expensive() -> None:
    with pytest.warns(DeprecationWarning, match="'dear' is deprecated; write 'expensive'") as caught:
        old = Int(1, 9, default=3, dear=True)
    assert caught[0].filename == __file__
    assert old == Int(1, 9, default=3, expensive=True)
    with pytest.warns(DeprecationWarning, match="'dear'"):
        assert not Choice(("a", "b"), default="a", dear=False).expensive

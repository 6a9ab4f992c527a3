"""The parameters a plugin declares: name -> range, default and one line of meaning.

    space = {
        "k_rule": Choice(("plateau", "given"), default="plateau", help="how k is chosen"),
        "k": Int(1, 200, default=18, log=True, help="neighbours", when=("k_rule", "given")),
    }

A declaration serves three readers: `resolve` checks what a user passes, tuning turns it into a search, and
`pubench plugins info` prints it. Nothing here knows Optuna.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pubench.errors import ParameterError, suggestion

Value: TypeAlias = bool | int | float | str | None


@dataclass(frozen=True, kw_only=True)
class _Declared:
    help: str = ""
    #: (parameter, value): this parameter has a meaning only while that other one has that value.
    when: tuple[str, Value] | None = None


@dataclass(frozen=True)
class Float(_Declared):
    """A number in [low, high]; `log` says that ratios matter, not differences."""

    low: float
    high: float
    default: float
    log: bool = False

    def __post_init__(self) -> None:
        _check_range(self.low, self.high, log=self.log)
        _check_default(self, self.default)

    def contains(self, value: Value) -> bool:
        """Whether `value` may be used."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return self.low <= value <= self.high

    def describe(self) -> str:
        """Return the range in one short phrase."""
        return f"{self.low:g} to {self.high:g}{', log' if self.log else ''}"


@dataclass(frozen=True)
class Int(_Declared):
    """A whole number in [low, high]; `log` says that ratios matter, not differences."""

    low: int
    high: int
    default: int
    log: bool = False

    def __post_init__(self) -> None:
        _check_range(self.low, self.high, log=self.log)
        _check_default(self, self.default)

    def contains(self, value: Value) -> bool:
        """Whether `value` may be used."""
        return isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high

    def describe(self) -> str:
        """Return the range in one short phrase."""
        return f"{self.low} to {self.high}{', log' if self.log else ''}"


@dataclass(frozen=True)
class Choice(_Declared):
    """One of a few values."""

    values: tuple[Value, ...]
    default: Value

    def __post_init__(self) -> None:
        if not self.values:
            raise ParameterError("A choice needs at least one value.")
        _check_default(self, self.default)

    def contains(self, value: Value) -> bool:
        """Whether `value` may be used: equal and of the same type, so that 1 is not True."""
        return any(value == known and type(value) is type(known) for known in self.values)

    def describe(self) -> str:
        """Return the values in one short phrase."""
        return " | ".join(str(value) for value in self.values)


Dimension: TypeAlias = Float | Int | Choice
Space: TypeAlias = Mapping[str, Dimension]


def check_space(space: Space) -> None:
    """Raise `ParameterError` unless names are identifiers and conditions name a value declared above them.

    Looking upwards only keeps conditions free of cycles.
    """
    above: dict[str, Dimension] = {}
    for name, dimension in space.items():
        if not name.isidentifier():
            raise ParameterError(f"'{name}' can not be a parameter: its name must be a Python identifier.")
        if dimension.when is not None:
            parent, value = dimension.when
            if parent not in above or not above[parent].contains(value):
                raise ParameterError(
                    f"'{name}' depends on {parent} = {value!r}, which is not declared above it."
                )
        above[name] = dimension


def resolve(space: Space, given: Mapping[str, Value], owner: str) -> dict[str, Value]:
    """Return every parameter of `space` that applies: the given value, else the default.

    Raises:
        ParameterError: a given name is unknown, a value is out of range, or a parameter is given that does not
            apply because of its `when`. `owner` is what the message calls the plugin.
    """
    for name in given:
        if name not in space:
            known = ", ".join(space) or "none"
            hint = suggestion(name, space)
            raise ParameterError(f"{owner} has no parameter '{name}' (it has: {known}).{hint}")
    values = {name: given.get(name, dimension.default) for name, dimension in space.items()}
    for name, value in values.items():
        if not space[name].contains(value):
            raise ParameterError(
                f"{owner}: {name} = {value!r} is not in its range ({space[name].describe()})."
            )
    inactive = {name for name in space if not _applies(space, values, name)}
    for name in inactive.intersection(given):
        raise ParameterError(f"{owner}: {name} only applies with {_condition(space[name])}.")
    return {name: value for name, value in values.items() if name not in inactive}


def _applies(space: Space, values: Mapping[str, Value], name: str) -> bool:
    when = space[name].when
    return when is None or (values[when[0]] == when[1] and _applies(space, values, when[0]))


def _condition(dimension: Dimension) -> str:
    return f"{dimension.when[0]} = {dimension.when[1]!r}" if dimension.when else "anything"


def _check_range(low: float, high: float, *, log: bool) -> None:
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ParameterError(f"A range needs finite low <= high; got {low} and {high}.")
    if log and low <= 0:
        raise ParameterError(f"A logarithmic range starts above 0; got {low}.")


def _check_default(dimension: Dimension, default: Value) -> None:
    if not dimension.contains(default):
        raise ParameterError(f"The default {default!r} is not in the range ({dimension.describe()}).")

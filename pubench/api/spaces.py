"""The parameters a plugin declares: name -> range, default and one line of meaning.

    space = {
        "k_rule": Choice(("plateau", "given"), default="plateau", help="how k is chosen"),
        "k": Int(1, 200, default=18, log=True, help="neighbours", when=("k_rule", "given")),
    }

A declaration serves three readers: `resolve` checks what a user passes, tuning turns it into a search, and
`pubench plugins info` prints it. This module does not depend on Optuna.
"""

import math
import warnings
from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from numbers import Integral, Real
from typing import Any, TypeAlias

from pubench.errors import ParameterError, suggestion

Value: TypeAlias = bool | int | float | str | None


@dataclass(frozen=True, kw_only=True)
class _Declared:
    help: str = ""
    #: (parameter, value): this parameter has a meaning only while that other one has that value.
    when: tuple[str, Value] | None = None
    #: Whether a search varies it. One that only trades time for quality keeps its default unless a user sets it.
    tuned: bool = True
    #: Its value while a search compares configurations, to be quick; None: its default.
    draft: Value = None
    #: Each value of it costs a pass over all rows: on large tables a search does not vary it.
    expensive: bool = False
    #: Where it is not given, a learner derives it from the size of the data; see `Learner.derive`.
    derived: bool = False
    #: Its value in complete configurations that were written before it existed, such as those of records; None: it is no
    #: younger than the plugin. See `as_written`.
    before: Value = None
    #: Deprecated alias of `expensive`, for plugins written before 0.1.0.
    dear: InitVar[bool | None] = None

    def __post_init__(self, dear: bool | None) -> None:
        if dear is None:
            return
        warnings.warn("'dear' is deprecated; write 'expensive'.", DeprecationWarning, stacklevel=4)
        object.__setattr__(self, "expensive", dear)


@dataclass(frozen=True)
class Float(_Declared):
    """A number in [low, high]; `log` says that ratios matter, not differences."""

    low: float
    high: float
    default: float
    log: bool = False

    def __post_init__(self, dear: bool | None) -> None:
        super().__post_init__(dear)
        _check_range(self)

    def contains(self, value: object) -> bool:
        """Whether `value` may be used: any real number in the range, but no bool."""
        if not isinstance(value, Real) or isinstance(value, bool):
            return False
        try:
            return self.low <= float(value) <= self.high
        except OverflowError:  # an integer beyond all floats
            return False

    def cast(self, value: Any) -> float:
        """Return a contained value as a float."""
        return float(value)

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

    def __post_init__(self, dear: bool | None) -> None:
        super().__post_init__(dear)
        if not (isinstance(self.low, int) and isinstance(self.high, int)):
            raise ParameterError(
                f"A range of whole numbers has whole ends; got {self.low!r} and {self.high!r}."
            )
        _check_range(self)

    def contains(self, value: object) -> bool:
        """Whether `value` may be used: any integer in the range, but no bool."""
        return (
            isinstance(value, Integral)
            and not isinstance(value, bool)
            and self.low <= int(value) <= self.high
        )

    def cast(self, value: Any) -> int:
        """Return a contained value as an int."""
        return int(value)

    def describe(self) -> str:
        """Return the range in one short phrase."""
        return f"{self.low} to {self.high}{', log' if self.log else ''}"


@dataclass(frozen=True)
class Choice(_Declared):
    """One of a few values, each of which JSON can hold."""

    values: tuple[Value, ...]
    default: Value

    def __post_init__(self, dear: bool | None) -> None:
        super().__post_init__(dear)
        if not self.values:
            raise ParameterError("A choice needs at least one value.")
        for value in self.values:
            finite = not isinstance(value, float) or math.isfinite(value)
            if not (value is None or isinstance(value, bool | int | float | str)) or not finite:
                raise ParameterError(
                    f"A choice is between finite numbers, texts, true, false and None; got {value!r}."
                )
        _check_default(self)

    def contains(self, value: object) -> bool:
        """Whether `value` may be used: equal and of the same type, so that 1 is not True."""
        return any(type(value) is type(known) and value == known for known in self.values)

    def cast(self, value: Any) -> Value:
        """Return a contained value; it has the declared type already."""
        return next(known for known in self.values if known == value and type(known) is type(value))

    def describe(self) -> str:
        """Return the values in one short phrase."""
        return " | ".join(str(value) for value in self.values)


Dimension: TypeAlias = Float | Int | Choice
Space: TypeAlias = Mapping[str, Dimension]


def check_space(space: Space) -> None:
    """Raise `ParameterError` unless `space` maps identifiers to dimensions whose conditions are declared above them.

    Conditions that refer upwards cannot have cycles. Types are checked too: plugins are foreign code.
    """
    if not isinstance(space, Mapping):
        raise ParameterError(f"a space maps names to Float, Int or Choice; got {type(space).__name__}.")
    above: dict[str, Dimension] = {}
    for name, dimension in space.items():
        if not (isinstance(name, str) and name.isidentifier()):
            raise ParameterError(f"{name!r} cannot be a parameter: its name must be a Python identifier.")
        if not isinstance(dimension, Float | Int | Choice) or not isinstance(dimension.help, str):
            raise ParameterError(f"'{name}' must be a Float, Int or Choice whose help is a text.")
        _check_condition(name, dimension, above)
        above[name] = dimension


def _check_condition(name: str, dimension: Dimension, above: Space) -> None:
    if dimension.when is None:
        return
    parent, value = dimension.when
    if parent not in above or not above[parent].contains(value):
        raise ParameterError(f"'{name}' depends on {parent} = {value!r}, which is not declared above it.")
    if above[parent].derived:
        raise ParameterError(
            f"'{name}' depends on {parent}, which is derived from the data and so must stand alone."
        )


def as_written(space: Space, given: Mapping[str, Value]) -> dict[str, Value]:
    """Return a stored configuration's values, completed as they were meant when it was written.

    A stored configuration states every parameter that there was. One that lacks only parameters with a value `before` is older
    than these; one that lacks others is not complete, and gets today's defaults elsewhere.
    """
    lacks = {name: dimension.before for name, dimension in space.items() if name not in given}
    is_older = bool(lacks) and bool(given) and None not in lacks.values()
    return {**given, **lacks} if is_older else dict(given)


def resolve(space: Space, given: Mapping[str, Value], owner: str) -> dict[str, Value]:
    """Return every parameter of `space` that applies, the given value or else the default, as its declared type.

    Raises:
        ParameterError: a given name is unknown, a value is out of range, or a parameter is given that does not
            apply because of its `when`. `owner` is what the message calls the plugin.
    """
    for name in given:
        if name not in space:
            known = ", ".join(space) or "none"
            hint = suggestion(name, space)
            raise ParameterError(f"{owner} has no parameter '{name}' (it has: {known}).{hint}")
    values: dict[str, Value] = {}
    for name, dimension in space.items():
        value = given.get(name, dimension.default)
        if not dimension.contains(value):
            raise ParameterError(f"{owner}: {name} = {value!r} is not in its range ({dimension.describe()}).")
        values[name] = dimension.cast(value)
    inactive = {name for name in space if not _applies(space, values, name)}
    for name in inactive.intersection(given):
        raise ParameterError(f"{owner}: {name} only applies with {_condition(space[name])}.")
    return {name: value for name, value in values.items() if name not in inactive}


def _applies(space: Space, values: Mapping[str, Value], name: str) -> bool:
    when = space[name].when
    return when is None or (values[when[0]] == when[1] and _applies(space, values, when[0]))


def _condition(dimension: Dimension) -> str:
    return f"{dimension.when[0]} = {dimension.when[1]!r}" if dimension.when else "anything"


def _check_range(dimension: Float | Int) -> None:
    low, high = dimension.low, dimension.high
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ParameterError(f"A range needs finite low <= high; got {low} and {high}.")
    if dimension.log and low <= 0:
        raise ParameterError(f"A logarithmic range starts above 0; got {low}.")
    _check_default(dimension)


def _check_default(dimension: Dimension) -> None:
    if not dimension.contains(dimension.default):
        raise ParameterError(
            f"The default {dimension.default!r} is not in the range ({dimension.describe()})."
        )

"""Fitted columns as JSON and back. What is read may come from anywhere, so all of it is checked."""

from dataclasses import dataclass
from math import inf, isfinite
from typing import Self, get_args

import numpy as np

from pubench.embedding.columns import CategoricalColumn, Column, NumericColumn
from pubench.embedding.scalings import Affine, Ranked, Scale
from pubench.errors import DataError
from pubench.types import Feature, FeatureKind, FloatVector, Json

#: Of the form of the document; a reader refuses any other.
VERSION = 1


@dataclass(frozen=True)
class Node:
    """A part of a JSON document that is not trusted yet; each method returns it checked, or raises `DataError`."""

    value: object
    where: str

    def problem(self, wanted: str) -> DataError:
        """Return the error that says what should have been here."""
        return DataError(f"The saved embedding is damaged: {self.where} is no {wanted}; fit the model again.")

    def __getitem__(self, name: str) -> Self:
        if not isinstance(self.value, dict) or name not in self.value:
            raise self.problem(f"object with '{name}'")
        return type(self)(self.value[name], f"'{name}' in {self.where}")

    def items(self) -> list[Self]:
        """Return the elements of a list."""
        if not isinstance(self.value, list | tuple):
            raise self.problem("list")
        return [
            type(self)(item, f"element {number} of {self.where}") for number, item in enumerate(self.value)
        ]

    def text(self) -> str:
        """Return a text."""
        if not isinstance(self.value, str):
            raise self.problem("text")
        return self.value

    def flag(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            raise self.problem("true or false")
        return self.value

    def number(self) -> float:
        """Return a finite number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.problem("number")
        try:
            number = float(self.value)
        except OverflowError:  # an integer beyond all floats
            number = inf
        if not isfinite(number):
            raise self.problem("finite number")
        return number

    def positive(self) -> float:
        """Return a finite number above 0."""
        number = self.number()
        if number <= 0:
            raise self.problem("number above 0")
        return number

    def ascending(self, *, strictly: bool) -> FloatVector:
        """Return a vector of at least two finite numbers, each above the one before or, unless strictly, equal."""
        numbers = np.array([item.number() for item in self.items()], dtype=np.float64)
        rising = numbers[1:] > numbers[:-1] if strictly else numbers[1:] >= numbers[:-1]
        if len(numbers) < 2 or not rising.all():
            raise self.problem("list of ascending numbers")
        return numbers


def from_column(feature: Feature, column: Column) -> dict[str, Json]:
    """Return a fitted column as a JSON object."""
    named: dict[str, Json] = {"name": feature.name, "kind": feature.kind}
    match column:
        case CategoricalColumn(levels, has_other, flags_missing):
            return named | {"levels": list(levels), "has_other": has_other, "flags_missing": flags_missing}
        case NumericColumn(scale, fill, flags_missing):
            return named | {"scale": _from_scale(scale), "fill": fill, "flags_missing": flags_missing}
        case _:
            raise TypeError(f"{type(column).__name__} has no form in JSON.")


def to_column(node: Node) -> tuple[Feature, Column]:
    """Return the feature and the fitted column that `from_column` wrote."""
    kind = next((known for known in get_args(FeatureKind) if known == node["kind"].value), None)
    if kind is None:
        raise node["kind"].problem("kind of feature")
    feature = Feature(node["name"].text(), kind)
    flags_missing = node["flags_missing"].flag()
    if kind != "categorical":
        return feature, NumericColumn(_to_scale(node["scale"]), node["fill"].number(), flags_missing)
    levels = tuple(item.text() for item in node["levels"].items())
    if len(set(levels)) != len(levels):
        raise node["levels"].problem("list without repetition")
    return feature, CategoricalColumn(levels, node["has_other"].flag(), flags_missing)


def _from_scale(scale: Scale | None) -> Json:
    match scale:
        case None:
            return None
        case Affine():
            return dict(vars(scale))
        case Ranked(unit, knots, places):
            return {"unit": unit, "knots": knots.tolist(), "places": places.tolist()}


def _to_scale(node: Node) -> Scale | None:
    if node.value is None:
        return None
    unit = node["unit"].positive()
    if not isinstance(node.value, dict) or "knots" not in node.value:
        return Affine(unit, node["origin"].number(), node["width"].positive(), node["shift"].number())
    knots, places = node["knots"].ascending(strictly=True), node["places"].ascending(strictly=False)
    if len(knots) != len(places):
        raise node["places"].problem("list as long as the knots")
    return Ranked(unit, knots, places)

"""Parts of a saved model's manifest: JSON that may come from anywhere, so all of it is checked."""

from dataclasses import dataclass
from typing import Any, get_args

from pubench.embedding.documents import Node
from pubench.errors import DataError
from pubench.types import Feature, FeatureKind


@dataclass(frozen=True)
class Part(Node):
    """A part of a manifest that is not trusted yet; each method returns it checked, or raises `DataError`."""

    def problem(self, wanted: str) -> DataError:
        """Return the error that says what should have been here."""
        return DataError(f"The saved model is damaged: {self.where} is no {wanted}; fit the model again.")

    def whole(self, low: int = 0) -> int:
        """Return a whole number from `low` up."""
        if type(self.value) is not int or self.value < low:
            raise self.problem(f"whole number from {low} up")
        return self.value

    def mapping(self) -> dict[str, Any]:
        """Return an object, of values that are not trusted."""
        if not isinstance(self.value, dict):
            raise self.problem("object")
        return self.value

    def parts(self) -> dict[str, "Part"]:
        """Return the parts of an object."""
        return {name: self[name] for name in self.mapping()}

    def feature(self) -> Feature:
        """Return a feature."""
        kind = next((known for known in get_args(FeatureKind) if known == self["kind"].value), None)
        if kind is None:
            raise self["kind"].problem("kind of feature")
        categories = tuple(item.text() for item in self["categories"].items())
        if len(set(categories)) != len(categories) or (categories and kind != "categorical"):
            raise self["categories"].problem("list of categories")
        return Feature(self["name"].text(), kind, categories)

    def features(self) -> tuple[Feature, ...]:
        """Return features of different names, at least one."""
        features = tuple(item.feature() for item in self.items())
        if not features or len({feature.name for feature in features}) != len(features):
            raise self.problem("list of features with a name each")
        return features

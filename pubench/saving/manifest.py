"""The manifest of a saved model: all that is known of it, as JSON and back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from pubench.errors import DataError
from pubench.saving.blend import MOST_PARTS, MOST_WEIGHT
from pubench.saving.configuration import KINDS, Ingredient, Named, title_of
from pubench.saving.documents import Part
from pubench.types import Feature, Json

FORMAT = "pubench model"
#: The first number changes when older versions can not read what is written, the second when they can.
FORMAT_VERSION = (1, 1)


@dataclass(frozen=True)
class Manifest:
    """What is known of a saved model.

    Attributes:
        ingredients: the method and its parts by name; several where it is a blend.
        versions: of Python, pubench, NumPy and the libraries below the learners.
        seed: what it was trained with.
        features: what it was trained on, in order.
        n_rows, n_labelled: how many rows that were, and how many of them labelled.
        id_column: the column that named rows; None without one.
        chosen: what training decided by itself.
        expected_positives: how many rows it takes for positive; None: unknown.
        thresholds: share of the training rows -> the score that so many reach; "expected" stands for the share of
            expected positives.
        importances: how much each feature drives the score, 1 in all or all 0; None: unknown.
        classifier: what a scikit-learn classifier knows besides; None for a model that was none.
    """

    ingredients: tuple[Ingredient, ...]
    versions: Mapping[str, str]
    seed: int
    features: tuple[Feature, ...]
    n_rows: int
    n_labelled: int
    id_column: str | None = None
    chosen: Mapping[str, Json] = field(default_factory=dict)
    expected_positives: float | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)
    importances: tuple[float, ...] | None = None
    classifier: Mapping[str, Json] | None = None

    @property
    def title(self) -> str:
        """The names of its plugins."""
        return title_of(self.ingredients)

    def to_json(self) -> dict[str, Json]:
        """Return it as a JSON object; the ingredients of a blend are the list "blend"."""
        return {
            "format": {"name": FORMAT, "version": list(FORMAT_VERSION)},
            **_from_ingredients(self.ingredients),
            "versions": dict(self.versions),
            "seed": self.seed,
            "rows": self.n_rows,
            "labelled": self.n_labelled,
            "id_column": self.id_column,
            "chosen": dict(self.chosen),
            "expected_positives": self.expected_positives,
            "thresholds": dict(self.thresholds),
            "importances": None if self.importances is None else list(self.importances),
            "classifier": None if self.classifier is None else dict(self.classifier),
            "features": [
                {"name": feature.name, "kind": feature.kind, "categories": list(feature.categories)}
                for feature in self.features
            ],
        }

    @classmethod
    def from_json(cls, document: Part) -> Self:
        """Return what `to_json` wrote down; raises `DataError` for anything else."""
        features = document["features"].features()
        return cls(
            ingredients=_to_ingredients(document),
            versions={name: part.text() for name, part in document["versions"].parts().items()},
            seed=document["seed"].whole(),
            features=features,
            n_rows=document["rows"].whole(1),
            n_labelled=document["labelled"].whole(1),
            id_column=_maybe(document["id_column"], Part.text),
            chosen=document["chosen"].mapping(),
            expected_positives=_maybe(document["expected_positives"], Part.number),
            thresholds={name: part.number() for name, part in document["thresholds"].parts().items()},
            importances=_maybe(document["importances"], lambda part: _importances(part, len(features))),
            classifier=_maybe(document["classifier"], Part.mapping),
        )


def _from_ingredients(ingredients: tuple[Ingredient, ...]) -> dict[str, Json]:
    if len(ingredients) == 1:
        return _from_ingredient(ingredients[0])
    return {"blend": [{"weight": one.weight, **_from_ingredient(one)} for one in ingredients]}


def _from_ingredient(ingredient: Ingredient) -> dict[str, Json]:
    return {
        str(kind): {
            "name": named.name,
            "params": dict(named.params),
            "origin": ingredient.origins.get(kind, ""),
        }
        for kind, named in ingredient.plugins.items()
    }


def _to_ingredients(document: Part) -> tuple[Ingredient, ...]:
    if "blend" not in document.mapping():
        return (_to_ingredient(document),)
    parts = document["blend"].items()
    if not 2 <= len(parts) <= MOST_PARTS:
        raise document["blend"].problem(f"list of 2 to {MOST_PARTS} parts")
    return tuple(_to_ingredient(part, _weight(part["weight"])) for part in parts)


def _to_ingredient(document: Part, weight: int = 1) -> Ingredient:
    plugins = {kind: document[kind] for kind in KINDS if kind in document.mapping()}
    return Ingredient(
        {kind: Named(part["name"].text(), part["params"].mapping()) for kind, part in plugins.items()},
        {kind: part["origin"].text() for kind, part in plugins.items()},
        weight,
    )


def _weight(part: Part) -> int:
    if part.whole(1) > MOST_WEIGHT:
        raise part.problem(f"weight, at most {MOST_WEIGHT}")
    return part.whole(1)


def check_format(document: Part) -> None:
    """Raise `DataError` unless this version of pubench reads documents of that format."""
    name, version = document["format"]["name"].text(), document["format"]["version"].items()
    if name != FORMAT:
        raise document["format"]["name"].problem(f"'{FORMAT}'")
    if not version or version[0].whole() != FORMAT_VERSION[0]:
        raise DataError(
            f"The model was saved in version {'.'.join(str(part.value) for part in version)} of the format, and this "
            f"pubench reads version {FORMAT_VERSION[0]}; use the pubench that saved it, or fit the model again."
        )


def _maybe(part: Part, read: Any) -> Any:
    return None if part.value is None else read(part)


def _importances(part: Part, count: int) -> tuple[float, ...]:
    shares = tuple(item.number() for item in part.items())
    if len(shares) != count or min(shares) < 0:
        raise part.problem("share for each feature")
    return shares

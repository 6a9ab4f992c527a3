"""The manifest of a saved model: all that is known of it, as JSON and back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from pubench.errors import DataError
from pubench.plugin_api import Kind
from pubench.saving.configuration import KINDS, Named
from pubench.saving.documents import Part
from pubench.types import Feature, Json

FORMAT = "pubench model"
#: The first number changes when older versions can not read what is written, the second when they can.
FORMAT_VERSION = (1, 0)


@dataclass(frozen=True)
class Manifest:
    """What is known of a saved model.

    Attributes:
        plugins: names and parameters of the method and its parts.
        origins: the packages and versions that these came from, where known.
        versions: of Python, pubench, NumPy and the libraries below the learner.
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

    plugins: Mapping[Kind, Named]
    origins: Mapping[Kind, str]
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

    def to_json(self) -> dict[str, Json]:
        """Return it as a JSON object."""
        plugins: dict[str, Json] = {
            str(kind): {
                "name": named.name,
                "params": dict(named.params),
                "origin": self.origins.get(kind, ""),
            }
            for kind, named in self.plugins.items()
        }
        return {
            "format": {"name": FORMAT, "version": list(FORMAT_VERSION)},
            **plugins,
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
        plugins = {kind: document[kind] for kind in KINDS if kind in document.mapping()}
        return cls(
            plugins={
                kind: Named(part["name"].text(), part["params"].mapping()) for kind, part in plugins.items()
            },
            origins={kind: part["origin"].text() for kind, part in plugins.items()},
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

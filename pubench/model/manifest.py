"""The manifest of a saved model: everything that is known about it, as JSON and for a notebook, and the files that it lists.

Models may come from anywhere: all of this is checked before any library opens a file.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from pubench.configuration.configuration import (
    KINDS,
    MAX_PARTS,
    MAX_WEIGHT,
    ConfigurationSpec,
    PluginSpec,
    title_of,
)
from pubench.decision.hidden_positives import Hidden, HiddenPositives, Withheld
from pubench.errors import DataError, ParameterError, shown
from pubench.html.markup import Markup, element, join
from pubench.html.numbers import count, percent
from pubench.html.parts import largest, table
from pubench.system.files import checksum, compare_files
from pubench.system.foreign_files import files_in
from pubench.system.json_documents import Node, read_json
from pubench.types import Feature, Json

FORMAT = "pubench model"
#: The first number changes when older versions of pubench cannot read the format, the second when they can.
FORMAT_VERSION = (1, 3)
MANIFEST = "manifest.json"
_N_IMPORTANCES = 10


@dataclass(frozen=True)
class Manifest:
    """What is known about a saved model.

    Attributes:
        specs: the method and its parts by name; several for a blend.
        versions: versions of Python, pubench, NumPy and the libraries that the learners use.
        seed: the seed it was trained with.
        features: the features it was trained on, in order.
        n_rows, n_labelled: number of training rows, and of labelled ones among them.
        id_column: the column of row ids; None without one.
        chosen: what training decided, such as k or the number of members.
        expected_positives: expected number of training rows that are tagged positive, labelled ones included, a property of the
            method and not an estimate of how many are positive; None: unknown.
        hidden_positives: estimated number of positives among the unlabeled training rows, or why it is withheld; None in models
            without scores of their training rows, and in those of older versions.
        thresholds: share of the training rows -> the score that this share reaches; "expected" is the share of the
            expected positives.
        importances: importance of each feature, summing to 1, or all 0; None: unknown.
        classifier: the additional state of a scikit-learn classifier; None for other models.
    """

    specs: tuple[ConfigurationSpec, ...]
    versions: Mapping[str, str]
    seed: int
    features: tuple[Feature, ...]
    n_rows: int
    n_labelled: int
    id_column: str | None = None
    chosen: Mapping[str, Json] = field(default_factory=dict)
    expected_positives: float | None = None
    hidden_positives: Hidden | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)
    importances: tuple[float, ...] | None = None
    classifier: Mapping[str, Json] | None = None

    @property
    def title(self) -> str:
        """The names of its plugins."""
        return title_of(self.specs)

    def to_json(self) -> dict[str, Json]:
        """Return a JSON object; the parts of a blend are the list "blend"."""
        return {
            "format": {"name": FORMAT, "version": list(FORMAT_VERSION)},
            **_specs_to_json(self.specs),
            "versions": dict(self.versions),
            "seed": self.seed,
            "rows": self.n_rows,
            "labelled": self.n_labelled,
            "id_column": self.id_column,
            "chosen": dict(self.chosen),
            "expected_positives": self.expected_positives,
            "hidden_positives": None if self.hidden_positives is None else asdict(self.hidden_positives),
            "thresholds": dict(self.thresholds),
            "importances": None if self.importances is None else list(self.importances),
            "classifier": None if self.classifier is None else dict(self.classifier),
            "features": [
                {"name": feature.name, "kind": feature.kind, "categories": list(feature.categories)}
                for feature in self.features
            ],
        }

    @classmethod
    def from_json(cls, document: Node) -> Self:
        """Return the manifest that `to_json` wrote; raises `DataError` for anything else."""
        features = document["features"].features()
        return cls(
            specs=_specs_from_json(document),
            versions={name: part.text() for name, part in document["versions"].members().items()},
            seed=document["seed"].integer(),
            features=features,
            n_rows=document["rows"].integer(1),
            n_labelled=document["labelled"].integer(1),
            id_column=_optional(document["id_column"], Node.text),
            chosen=document["chosen"].mapping(),
            expected_positives=_optional(document["expected_positives"], Node.number),
            hidden_positives=_optional(document.find("hidden_positives"), _hidden),
            thresholds={name: part.number() for name, part in document["thresholds"].members().items()},
            importances=_optional(document["importances"], lambda part: _importances(part, len(features))),
            classifier=_optional(document["classifier"], Node.mapping),
        )


def _specs_to_json(specs: tuple[ConfigurationSpec, ...]) -> dict[str, Json]:
    if len(specs) == 1:
        return _spec_to_json(specs[0])
    return {"blend": [{"weight": spec.weight, **_spec_to_json(spec)} for spec in specs]}


def _spec_to_json(spec: ConfigurationSpec) -> dict[str, Json]:
    return {
        str(kind): {
            "name": plugin.name,
            "params": dict(plugin.params),
            "origin": spec.origins.get(kind, ""),
        }
        for kind, plugin in spec.plugins.items()
    }


def _specs_from_json(document: Node) -> tuple[ConfigurationSpec, ...]:
    if "blend" not in document.mapping():
        return (_spec_from_json(document),)
    parts = document["blend"].items()
    if not 2 <= len(parts) <= MAX_PARTS:
        raise document["blend"].error(f"list of 2 to {MAX_PARTS} parts")
    return tuple(_spec_from_json(part, _weight(part["weight"])) for part in parts)


def _spec_from_json(document: Node, weight: int = 1) -> ConfigurationSpec:
    plugins = {kind: document[kind] for kind in KINDS if kind in document.mapping()}
    return ConfigurationSpec(
        {kind: PluginSpec(part["name"].text(), part["params"].mapping()) for kind, part in plugins.items()},
        {kind: part["origin"].text() for kind, part in plugins.items()},
        weight,
    )


def _weight(part: Node) -> int:
    if part.integer(1) > MAX_WEIGHT:
        raise part.error(f"weight, at most {MAX_WEIGHT}")
    return part.integer(1)


def check_format(document: Node) -> None:
    """Raise `DataError` unless this version of pubench can read the format of the document."""
    name, version = document["format"]["name"].text(), document["format"]["version"].items()
    if name != FORMAT:
        raise document["format"]["name"].error(f"'{FORMAT}'")
    if not version or version[0].integer() != FORMAT_VERSION[0]:
        raise DataError(
            f"The model was saved in version {'.'.join(str(part.value) for part in version)} of the format, and this "
            f"pubench reads version {FORMAT_VERSION[0]}; use the pubench that saved it, or fit the model again."
        )


def _optional(part: Node, read: Any) -> Any:
    return None if part.value is None else read(part)


def _hidden(part: Node) -> Hidden:
    if "reason" in part:
        return Withheld(part["reason"].text())
    estimate, low, high = (part[name].number() for name in ("estimate", "low", "high"))
    try:
        return HiddenPositives(estimate, low, high, part["source"].text())
    except ParameterError as error:
        raise part.error("number within its range") from error


def _importances(part: Node, count: int) -> tuple[float, ...]:
    shares = tuple(item.number() for item in part.items())
    if len(shares) != count or min(shares) < 0:
        raise part.error("share for each feature")
    return shares


def is_model(folder: Path) -> bool:
    """Whether the manifest of a folder says that it is a saved model; it may still be damaged."""
    try:
        document = Node(read_json(folder / MANIFEST), MANIFEST)
        return document["format"]["name"].value == FORMAT
    except DataError:
        return False


def listed_files(folder: Path) -> dict[str, Path]:
    """Return the files of a saved model by name; raises `DataError` if it has no manifest."""
    files = files_in(folder)
    if MANIFEST not in files:
        raise DataError(f"{folder} is not a saved model: it has no {MANIFEST}.")
    return files


def described(files: Mapping[str, Path]) -> dict[str, Json]:
    """Return size and SHA-256 of each file."""
    return {name: _describe(path) for name, path in files.items()}


def _describe(path: Path) -> dict[str, int | str]:
    return {"bytes": path.stat().st_size, "sha256": checksum(path)}


def check_files(folder: Path, files: Mapping[str, Path], listed: Node) -> None:
    """Raise `DataError` unless exactly the listed files are there, each as it was written."""
    expected: dict[str, dict[str, int | str]] = {
        name: {"bytes": entry["bytes"].integer(), "sha256": entry["sha256"].text()}
        for name, entry in listed.members().items()
    }
    differences = compare_files(files, expected, _describe)
    for name in differences.missing:
        raise DataError(f"{folder} lacks the file '{shown(name)}' of the saved model; copy it whole.")
    for name in differences.unexpected:
        raise DataError(
            f"{folder} contains '{shown(name)}', which is not part of the saved model; remove it."
        )
    for name in differences.changed:
        raise DataError(
            f"{files[name]} is not as it was saved: it is damaged or was changed; copy the saved model again."
        )


def model_html(manifest: Manifest) -> Markup:
    """Return what is known about a model, and its most important features, as HTML that needs no style sheet."""
    facts = {
        "rows": f"{count(manifest.n_rows)}, {count(manifest.n_labelled)} of them labelled",
        "features": count(len(manifest.features)),
        "seed": str(manifest.seed),
    }
    if manifest.expected_positives is not None:
        facts["positives expected"] = count(round(manifest.expected_positives))
    return join(
        element("p", element("strong", manifest.title)),
        table(("", ""), facts.items(), "Training", number_columns=()),
        _importance_table(manifest),
    )


def _importance_table(manifest: Manifest) -> Markup | None:
    if manifest.importances is None or not any(manifest.importances):
        return None
    names = [feature.name for feature in manifest.features]
    shares = largest(dict(zip(names, manifest.importances, strict=True)), _N_IMPORTANCES)
    rows = [(name, percent(share)) for name, share in shares]
    return table(("feature", "importance"), rows, "The most important features")

"""Saves trained models and loads them again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from pubench.errors import DataError, one_line
from pubench.json_files import read_json, write_json
from pubench.method_api import FittedMethod
from pubench.saving.blend import configure_all
from pubench.saving.configuration import Configuration, Ingredient
from pubench.saving.documents import Part
from pubench.saving.evidence import Evidence
from pubench.saving.folders import check_target, checksums, files_in, new_folder, verify
from pubench.saving.manifest import FORMAT, Manifest, check_format
from pubench.saving.toml import to_toml
from pubench.saving.versions import versions_of
from pubench.seeds import Seed
from pubench.types import Feature, Json, PUData, Resources, Scores, Table

if TYPE_CHECKING:
    from pubench.registry import Registry

_MANIFEST, _CONFIG, _MODEL, _EVIDENCE = "manifest.json", "config.toml", "model", "evidence"
#: The shares of training rows whose scores are kept, estimated on at most so many rows.
_SHARES = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1)
_REFERENCE_ROWS = 100_000


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained model and where it comes from: what `save_model` writes.

    Attributes:
        fitted: the model.
        configuration: the plugins that it was made of.
        seed: what it was trained with.
        features: what it was trained on.
        n_rows, n_labelled: how many rows that were, and how many of them labelled.
        id_column: the column that named rows; None without one.
        thresholds: see `Manifest`.
        evidence: the labelled positives; None: left out.
        classifier: see `Manifest`.
    """

    fitted: FittedMethod
    configuration: Configuration
    seed: Seed
    features: tuple[Feature, ...]
    n_rows: int
    n_labelled: int
    id_column: str | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)
    evidence: Evidence | None = None
    classifier: Mapping[str, Json] | None = None

    @classmethod
    def on(
        cls,
        data: PUData,
        fitted: FittedMethod,
        configuration: Configuration,
        seed: Seed,
        resources: Resources,
        *,
        ids: Sequence[Any] | npt.NDArray[Any] | None = None,
    ) -> Self:
        """Describe a model that was fitted on `data`; its thresholds and evidence are taken from there."""
        return cls(
            fitted,
            configuration,
            seed,
            data.X.features,
            data.X.n_rows,
            data.n_labelled,
            thresholds=thresholds_of(fitted, data.X, resources),
            evidence=Evidence.of(data, ids),
        )


def thresholds_of(fitted: FittedMethod, X: Table, resources: Resources) -> dict[str, float]:
    """Return the scores that some shares of the rows reach; see `Manifest`."""
    step = -(-X.n_rows // _REFERENCE_ROWS)
    scores = fitted.score(X.take(np.arange(0, X.n_rows, step)), resources).values
    shares = {f"{share:g}": share for share in _SHARES}
    if fitted.expected_positives is not None:
        shares["expected"] = min(1.0, fitted.expected_positives / X.n_rows)
    return {name: float(np.quantile(scores, 1 - share, method="lower")) for name, share in shares.items()}


def is_model(folder: Path) -> bool:
    """Whether a folder says of itself that it is a saved model; it may be damaged."""
    try:
        document = Part(read_json(folder / _MANIFEST), _MANIFEST)
        return document["format"]["name"].value == FORMAT
    except DataError:
        return False


def find_model(folder: Path) -> Path:
    """Return where the model of a run is: the folder itself, or the one that `pubench tune` left in it."""
    inside = folder / _MODEL
    return inside if not (folder / _MANIFEST).exists() and (inside / _MANIFEST).exists() else folder


def check_place(folder: Path, *, replace: bool = False) -> None:
    """Raise `DataError` if no model can be saved there: best asked before training."""
    check_target(folder, replace=replace, is_ours=is_model)


def save_model(folder: Path, trained: Trained, *, replace: bool = False) -> Manifest:
    """Write a model into a new folder, which appears whole or not at all; missing folders above it are made.

    Args:
        folder: where.
        trained: the model.
        replace: take the place of a saved model that is there.

    Raises:
        DataError: something else is there, or it can not be written.
    """
    manifest = _manifest(trained)
    with new_folder(folder, replace=replace, is_ours=is_model) as place:
        (place / _MODEL).mkdir()
        trained.fitted.save(place / _MODEL)
        if trained.evidence is not None:
            (place / _EVIDENCE).mkdir()
            trained.evidence.save(place / _EVIDENCE)
        (place / _CONFIG).write_text(to_toml(trained.configuration, trained.seed.root), encoding="utf-8")
        write_json(place / _MANIFEST, {**manifest.to_json(), "files": checksums(files_in(place))})
    return manifest


def _manifest(trained: Trained) -> Manifest:
    importances = trained.fitted.importances()
    return Manifest(
        ingredients=trained.configuration.ingredients,
        versions=versions_of(*trained.configuration.trainers),
        seed=trained.seed.root,
        features=trained.features,
        n_rows=trained.n_rows,
        n_labelled=trained.n_labelled,
        id_column=trained.id_column,
        chosen=trained.fitted.chosen,
        expected_positives=trained.fitted.expected_positives,
        thresholds=trained.thresholds,
        importances=None if importances is None else tuple(importances.tolist()),
        classifier=trained.classifier,
    )


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A model that was read from a folder; it scores as it did when it was saved, bit for bit.

    Attributes:
        fitted: the model.
        manifest: what is known of it.
        evidence: the labelled positives it was trained on; None if they were left out.
        notices: what a person should know, a sentence each.
    """

    fitted: FittedMethod
    manifest: Manifest
    evidence: Evidence | None
    notices: tuple[str, ...]

    def score(self, X: Table, resources: Resources) -> Scores:
        """Return a score per row of `X`, which has the features of the manifest; see `pubench.data.schema`."""
        return self.fitted.score(X, resources)


def load_model(folder: Path, registry: "Registry") -> SavedModel:
    """Read a saved model, which may come from anywhere.

    Every file is compared with its size and SHA-256 before any library opens it; links, missing files and files that
    do not belong there are refused. Nothing in the folder is run.

    Raises:
        DataError: it is no saved model, is damaged, or was saved in another version of the format.
        PluginError: a plugin that it was made with is not here.
    """
    if not folder.is_dir():
        raise DataError(f"{folder} is no folder; name one that 'pubench fit' or 'pubench tune' wrote.")
    files = _files(folder)
    document = Part(read_json(files.pop(_MANIFEST)), _MANIFEST)
    check_format(document)
    verify(folder, files, document["files"])
    manifest = Manifest.from_json(document)
    configuration = configure_all(manifest.ingredients, registry)
    evidence = (
        Evidence.load(folder / _EVIDENCE) if any(name.startswith(_EVIDENCE) for name in files) else None
    )
    _check_evidence(evidence, manifest)
    return SavedModel(
        fitted=configuration.method.load(folder / _MODEL, configuration.parts),
        manifest=manifest,
        evidence=evidence,
        notices=_notices(manifest, configuration),
    )


def _files(folder: Path) -> dict[str, Path]:
    try:
        files = files_in(folder)
    except OSError as error:
        raise DataError(f"{folder} can not be read: {error.strerror or error}.") from error
    if _MANIFEST not in files:
        raise DataError(f"{folder} is no saved model: it holds no {_MANIFEST}.")
    return files


def _check_evidence(evidence: Evidence | None, manifest: Manifest) -> None:
    if evidence is None:
        return
    schema = tuple(replace(feature, categories=()) for feature in manifest.features)
    if evidence.embedding.schema != schema or len(evidence.names) != manifest.n_labelled:
        raise DataError("The evidence of the saved model belongs to another one; fit the model again.")


def _notices(manifest: Manifest, configuration: Configuration) -> tuple[str, ...]:
    here = versions_of(*configuration.trainers)
    changed = [
        f"{name} {saved} (here {here.get(name) or 'none'})"
        for name, saved in manifest.versions.items()
        if name not in ("python", "numpy") and here.get(name) != saved
    ]
    own = f"pubench {manifest.versions.get('pubench')}"  # said already
    for saved, found in zip(manifest.ingredients, configuration.ingredients, strict=True):
        changed += _other_origins(saved, found, own)
    if not changed:
        return ()
    told = ", ".join(dict.fromkeys(changed))
    return (one_line(f"The model was saved with {told}; its scores may differ from those it had then."),)


def _other_origins(saved: Ingredient, found: Ingredient, own: str) -> list[str]:
    return [
        f"{kind} '{saved.plugins[kind].name}' of {origin} (here {found.origins.get(kind)})"
        for kind, origin in saved.origins.items()
        if origin not in ("", own, found.origins.get(kind))
    ]

"""Saves trained models and loads them again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from pubench.api.method import FittedMethod
from pubench.configuration.configuration import Configuration, ConfigurationSpec, configure_specs
from pubench.configuration.toml_file import to_toml
from pubench.decision.calibration import Calibration
from pubench.decision.hidden_positives import Hidden, estimate_hidden
from pubench.errors import DataError, one_line
from pubench.model.evidence import Evidence
from pubench.model.manifest import (
    MANIFEST,
    Manifest,
    check_files,
    check_format,
    described,
    is_model,
    listed_files,
    model_html,
)
from pubench.model.training_rows import HonestScores, OwnRows, honest_scores
from pubench.record.environment import versions_of
from pubench.seeds import Seed
from pubench.system.files import check_writable, write_folder
from pubench.system.foreign_files import files_in
from pubench.system.json_documents import Node, read_json, write_json
from pubench.types import Feature, FloatVector, Json, PUData, Resources, Scores, Table

if TYPE_CHECKING:
    from pubench.api.registry import Registry

_CONFIG, _MODEL, _EVIDENCE = "config.toml", "model", "evidence"
_OWN_ROWS, _CALIBRATION = "own-rows", "calibration.json"
#: The shares of training rows whose score thresholds are saved.
_SHARES = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1)
#: Thresholds are estimated on at most this number of rows.
_MAX_THRESHOLD_ROWS = 100_000


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained model and how it was made: what `save_model` writes.

    Attributes:
        fitted: the model.
        configuration: the plugins that it was made with.
        seed: the seed it was trained with.
        features: the features it was trained on.
        n_rows, n_labelled: number of training rows, and of labelled ones among them.
        id_column: the column of row ids; None without one.
        thresholds: see `Manifest`.
        evidence: the labelled positives; None: left out.
        own_rows: the training rows' scores by models that were not trained on them; None: left out.
        calibration: what scores mean; None: without scores of the training rows it is unknown.
        hidden_positives: see `Manifest`.
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
    own_rows: OwnRows | None = None
    calibration: Calibration | None = None
    hidden_positives: Hidden | None = None
    classifier: Mapping[str, Json] | None = None

    @classmethod
    def on(  # noqa: PLR0913 - what is expensive to compute is passed on
        cls,
        data: PUData,
        fitted: FittedMethod,
        configuration: Configuration,
        seed: Seed,
        resources: Resources,
        *,
        ids: Sequence[Any] | npt.NDArray[Any] | None = None,
        own_scores: FloatVector | None = None,
        hidden: Hidden | None = None,
    ) -> Self:
        """Describe a model that was fitted on `data`; thresholds and evidence are computed from these rows.

        `own_scores` are those of `data` by models that were not trained on them; see `pubench.crossfit.cross_fit`. The number
        of hidden positives is estimated from them, unless it is known to be `hidden`.
        """
        if hidden is None and own_scores is not None:
            hidden = estimate_hidden(data.s, own_scores, seed.child("hidden positives"))
        return cls(
            fitted,
            configuration,
            seed,
            data.X.features,
            data.X.n_rows,
            data.n_labelled,
            thresholds=thresholds_of(fitted, data.X, resources, own_scores),
            evidence=Evidence.of(data, ids),
            own_rows=None if own_scores is None else OwnRows.of(data.X, own_scores, data.s),
            calibration=None if own_scores is None else Calibration.of(data.s, own_scores),
            hidden_positives=hidden,
        )


def thresholds_of(
    fitted: FittedMethod, X: Table, resources: Resources, own_scores: FloatVector | None = None
) -> dict[str, float]:
    """Return the scores that certain shares of the rows reach, from `own_scores` where there are any; see `Manifest`."""
    step = -(-X.n_rows // _MAX_THRESHOLD_ROWS)
    rows = np.arange(0, X.n_rows, step)
    scores = fitted.score(X.take(rows), resources).values if own_scores is None else own_scores[rows]
    shares = {f"{share:g}": share for share in _SHARES}
    if fitted.expected_positives is not None:
        shares["expected"] = min(1.0, fitted.expected_positives / X.n_rows)
    return {name: float(np.quantile(scores, 1 - share, method="lower")) for name, share in shares.items()}


def find_model(folder: Path) -> Path:
    """Return the model folder of a run: the folder itself, or the one that `pubench tune` wrote inside it."""
    inside = folder / _MODEL
    return inside if not (folder / MANIFEST).exists() and (inside / MANIFEST).exists() else folder


def check_model_folder(folder: Path, *, replace: bool = False) -> None:
    """Raise `DataError` if no model can be saved there; to be called before training."""
    check_writable(folder, partial(_check_replaceable, replace))


def _check_replaceable(replace: bool, folder: Path) -> None:
    if not is_model(folder):
        raise DataError(f"{folder} holds something else than a saved model; choose another folder.")
    if not replace:
        raise DataError(f"{folder} holds a saved model already; choose another folder, or give --force.")


def save_model(folder: Path, trained: Trained, *, replace: bool = False) -> Manifest:
    """Write a model into a new folder, which appears whole or not at all; missing parent folders are created.

    Args:
        folder: the folder to create.
        trained: the model.
        replace: replace a saved model that is there.

    Raises:
        DataError: the folder has other content, or cannot be written.
    """
    manifest = _manifest(trained)
    with write_folder(folder, partial(_check_replaceable, replace)) as new:
        (new / _MODEL).mkdir()
        trained.fitted.save(new / _MODEL)
        if trained.evidence is not None:
            (new / _EVIDENCE).mkdir()
            trained.evidence.save(new / _EVIDENCE)
        if trained.own_rows is not None:
            (new / _OWN_ROWS).mkdir()
            trained.own_rows.save(new / _OWN_ROWS)
        if trained.calibration is not None:
            write_json(new / _CALIBRATION, trained.calibration.to_json())
        (new / _CONFIG).write_text(to_toml(trained.configuration, trained.seed.root), encoding="utf-8")
        write_json(new / MANIFEST, {**manifest.to_json(), "files": described(files_in(new))})
    return manifest


def _manifest(trained: Trained) -> Manifest:
    importances = trained.fitted.importances()
    return Manifest(
        specs=trained.configuration.specs,
        versions=versions_of(*trained.configuration.trainers),
        seed=trained.seed.root,
        features=trained.features,
        n_rows=trained.n_rows,
        n_labelled=trained.n_labelled,
        id_column=trained.id_column,
        chosen=trained.fitted.chosen,
        expected_positives=trained.fitted.expected_positives,
        hidden_positives=trained.hidden_positives,
        thresholds=trained.thresholds,
        importances=None if importances is None else tuple(importances.tolist()),
        classifier=trained.classifier,
    )


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A model that was read from a folder; its scores are those it gave when it was saved, bit for bit.

    Attributes:
        fitted: the model.
        manifest: what is known about it.
        evidence: the labelled positives it was trained on; None if they were left out.
        own_rows: scores of the rows it was trained on; None in models that were saved without.
        calibration: what scores mean; None in models that were saved without.
        notices: notices for the user, a sentence each.
    """

    fitted: FittedMethod
    manifest: Manifest
    evidence: Evidence | None
    notices: tuple[str, ...]
    own_rows: OwnRows | None = None
    calibration: Calibration | None = None

    def score(self, X: Table, resources: Resources) -> Scores:
        """Return the model's own score per row of `X`, which has the features of the manifest; see `pubench.data.new_rows`."""
        return self.fitted.score(X, resources)

    def honest_scores(self, X: Table, resources: Resources) -> HonestScores:
        """Return a score per row of `X`: of rows that the model was trained on by models that were not."""
        return honest_scores(self.fitted, self.own_rows, X, resources)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return model_html(self.manifest)


def load_model(folder: Path, registry: "Registry") -> SavedModel:
    """Read a saved model, which may come from anywhere.

    The size and SHA-256 of every file are verified before any library opens it; links, missing files and additional
    files are refused. No code in the folder is run.

    Raises:
        DataError: it is not a saved model, is damaged, or was saved in another version of the format.
        PluginError: a plugin that it was made with is not installed.
    """
    if not folder.is_dir():
        raise DataError(f"{folder} is not a folder; name one that 'pubench fit' or 'pubench tune' wrote.")
    files = listed_files(folder)
    document = Node(read_json(files.pop(MANIFEST)), MANIFEST)
    check_format(document)
    check_files(folder, files, document["files"])
    manifest = Manifest.from_json(document)
    configuration = configure_specs(manifest.specs, registry)
    evidence = (
        Evidence.load(folder / _EVIDENCE) if any(name.startswith(_EVIDENCE) for name in files) else None
    )
    _check_evidence(evidence, manifest)
    return SavedModel(
        fitted=configuration.method.load(folder / _MODEL, configuration.parts),
        manifest=manifest,
        evidence=evidence,
        notices=_notices(manifest, configuration),
        own_rows=OwnRows.load(folder / _OWN_ROWS)
        if any(name.startswith(_OWN_ROWS) for name in files)
        else None,
        calibration=Calibration.from_json(read_json(folder / _CALIBRATION))
        if _CALIBRATION in files
        else None,
    )


def _check_evidence(evidence: Evidence | None, manifest: Manifest) -> None:
    if evidence is None:
        return
    schema = tuple(replace(feature, categories=()) for feature in manifest.features)
    if evidence.embedding.schema != schema or len(evidence.names) != manifest.n_labelled:
        raise DataError("The evidence in the saved model belongs to another model; fit the model again.")


def _notices(manifest: Manifest, configuration: Configuration) -> tuple[str, ...]:
    installed = versions_of(*configuration.trainers)
    changed = [
        f"{name} {saved} (here {installed.get(name) or 'none'})"
        for name, saved in manifest.versions.items()
        if name not in ("python", "numpy") and installed.get(name) != saved
    ]
    own = f"pubench {manifest.versions.get('pubench')}"  # already listed as a version
    for saved, current in zip(manifest.specs, configuration.specs, strict=True):
        changed += _changed_origins(saved, current, own)
    if not changed:
        return ()
    changes = ", ".join(dict.fromkeys(changed))
    return (one_line(f"The model was saved with {changes}; its scores may differ from those it gave then."),)


def _changed_origins(saved: ConfigurationSpec, current: ConfigurationSpec, own: str) -> list[str]:
    return [
        f"{kind} '{saved.plugins[kind].name}' of {origin} (here {current.origins.get(kind)})"
        for kind, origin in saved.origins.items()
        if origin not in ("", own, current.origins.get(kind))
    ]

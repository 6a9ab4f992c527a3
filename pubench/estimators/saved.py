"""A classifier that comes back from the folder it was saved in."""

from pathlib import Path
from typing import Any

import numpy as np

from pubench.errors import DataError
from pubench.estimators.classifier import PUClassifier
from pubench.estimators.parts import known_plugins
from pubench.saving.blend import configure_all
from pubench.saving.manifest import Manifest
from pubench.saving.models import SavedModel, find_model, load_model


def load_classifier(folder: str | Path) -> PUClassifier:
    """Return a fitted classifier from a folder that `save`, `pubench fit` or `pubench tune` wrote.

    It scores as the saved one did, bit for bit. The folder may come from anywhere: every file is verified before it is
    opened, and nothing in it is run. What the training rows alone know, such as `credibility_`, is not there any more.

    Raises:
        DataError: it is no saved model, or it is damaged.
        PluginError: a plugin that it was made with is not here.
    """
    saved = load_model(find_model(Path(folder)), known_plugins())
    manifest = saved.manifest
    configuration = configure_all(manifest.ingredients, known_plugins())
    classifier = PUClassifier(
        configuration.method,
        configuration.parts.learner or "lightgbm",
        configuration.parts.similarity or "knn",
        random_state=manifest.seed,
    )
    classes, threshold, unit, named = _known(saved)
    classifier.fitted_, classifier.features_ = saved.fitted, manifest.features
    classifier.classes_, classifier.threshold_, classifier.device_ = classes, threshold, "cpu"
    classifier._related, classifier._unit = None, unit  # noqa: SLF001 - of the same package
    classifier.n_features_in_ = len(manifest.features)
    if named:
        classifier.feature_names_in_ = np.array([feature.name for feature in manifest.features], dtype=object)
    return classifier


def _known(saved: SavedModel) -> tuple[Any, float, float | None, bool]:
    """Return classes, threshold, unit of scores, and whether features have names."""
    written = saved.manifest.classifier
    if written is None:  # by a command: labels were 0 and 1, columns have names
        return np.array([0, 1]), _expected(saved.manifest), None, True
    classes, threshold, unit = written.get("classes"), written.get("threshold"), written.get("unit")
    plain = isinstance(classes, list) and all(type(value) in (bool, int, float, str) for value in classes)
    numbers = type(threshold) in (int, float) and (unit is None or type(unit) in (int, float))
    if not plain or len(classes) != 2 or not numbers:  # type: ignore[arg-type]
        raise DataError("The saved model is damaged: its classes or its threshold are none; fit it again.")
    return np.array(classes), float(threshold), unit, bool(written.get("named"))  # type: ignore[arg-type,return-value]


def _expected(manifest: Manifest) -> float:
    if not manifest.thresholds:
        raise DataError("The saved model has no threshold; fit it again.")
    return manifest.thresholds.get("expected", min(manifest.thresholds.values()))

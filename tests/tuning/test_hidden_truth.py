"""A whole tune beside a truth that raises when anybody looks at it."""

import threading
from pathlib import Path

import numpy as np
import pytest

from pubench.data.sources import Opened, Wanted
from pubench.dataset_api import Dataset
from pubench.keeping import machine_cache, say_nothing
from pubench.plugin_api import Kind
from pubench.registry import Registry, load_registry
from pubench.truth import Truth
from pubench.tuner import tuning
from pubench.tuner.orders import TuneOrder
from pubench.tuning.run import Watcher
from pubench.types import PUData, Resources


class TouchedError(Exception):
    """Somebody looked at the truth."""


class Untouchable(Truth):
    """Raises at whatever is asked of it."""

    def __init__(self) -> None:
        """Hold nothing."""

    def __getattribute__(self, name: str) -> object:
        if name.startswith("__"):
            return super().__getattribute__(name)
        raise TouchedError(name)


def test_a_whole_tune_does_not_touch_the_truth(
    data: PUData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = Dataset(data.X, observed=np.array(data.s))
    object.__setattr__(dataset, "truth", Untouchable())
    with pytest.raises(TouchedError):
        _ = dataset.truth.y  # type: ignore[union-attr]

    def opened(wanted: Wanted, registry: Registry) -> Opened:  # noqa: ARG001 - the signature of `open_dataset`
        return Opened("sealed", dataset, None, "planted")

    monkeypatch.setattr(tuning, "open_dataset", opened)
    names = {
        Kind.METHOD: ["probtagging", "elkan-weighted"],
        Kind.LEARNER: ["logistic", "lightgbm"],
        Kind.SIMILARITY: ["knn"],
    }
    order = TuneOrder(Wanted("sealed"), out=tmp_path / "run", names=names, trials=4)
    resources = Resources(keep=machine_cache(say_nothing))
    tuned = tuning.tune(order, load_registry(), resources, Watcher(), threading.Event())
    assert len(tuned.found.trials) == 4
    assert tuned.found.outcome.contenders["tuned"].interval.estimate > 0.6
    assert (tmp_path / "run" / "model" / "manifest.json").exists()

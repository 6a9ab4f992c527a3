"""XGBoost."""

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from pubench import (
    Float,
    FloatVector,
    IndexVector,
    Int,
    Learner,
    Model,
    Resources,
    Seed,
    Table,
    Tags,
    Takes,
)
from pubench_plugins.learners.model_files import check_columns, reading, shares
from pubench_plugins.learners.threads import by_rows
from pubench_plugins.learners.xgboost_ubjson import check_model

if TYPE_CHECKING:
    import xgboost

_BINS = 64  # as good as 256 on all sets of benchmarks/learner_defaults.py, and 10% faster


@dataclass(frozen=True, eq=False)
class Binned:
    """Rows in bins, for trainings side by side. Labels live inside a matrix, so each one at work has its own.

    A matrix of all rows goes back to `idle` after a training: there are as many as were ever at work at once. Setting
    its labels takes 1 ms at 200,000 x 30, making it 500 ms.
    """

    X: Table
    cuts: "xgboost.QuantileDMatrix"
    idle: "list[xgboost.QuantileDMatrix]" = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    @contextmanager
    def tagged(self, tags: Tags, n_threads: int) -> Iterator["xgboost.QuantileDMatrix"]:
        """Lend a matrix with these tags.

        Rows of weight 0 stay in a matrix of all rows: their gradients and hessians are 0, so no sum, no leaf and no
        start sees them. Where they are the most, a matrix without them is made: that is cheap then, and trains faster.
        """
        rows = tags.counted
        if 2 * len(rows) < self.X.n_rows:
            yield _label(self._matrix(self.X.take(rows), n_threads), tags, rows)
            return
        data = self._borrow(n_threads)
        try:
            yield _label(data, tags, np.arange(self.X.n_rows))
        finally:
            with self.lock:
                self.idle.append(data)

    def _borrow(self, n_threads: int) -> "xgboost.QuantileDMatrix":
        with self.lock:
            if self.idle:
                return self.idle.pop()
        return self._matrix(self.X, n_threads)

    def _matrix(self, X: Table, n_threads: int) -> "xgboost.QuantileDMatrix":
        with self.lock:  # XGBoost does not promise that cuts can be read by two at once
            return _binned(X, n_threads, self.cuts)


def _binned(
    X: Table, n_threads: int, cuts: "xgboost.QuantileDMatrix | None" = None
) -> "xgboost.QuantileDMatrix":
    import xgboost  # noqa: PLC0415 - heavy imports happen when used

    types = ["c" if feature.kind == "categorical" else "q" for feature in X.features]
    return xgboost.QuantileDMatrix(
        X.values, feature_types=types, enable_categorical=True, max_bin=_BINS, nthread=n_threads, ref=cuts
    )


def _label(data: "xgboost.QuantileDMatrix", tags: Tags, rows: IndexVector) -> "xgboost.QuantileDMatrix":
    data.set_label(tags.positive[rows])
    data.set_weight(np.ones(len(rows)) if tags.weight is None else tags.weight[rows])
    return data


@dataclass(frozen=True)
class XGBoostModel(Model):
    """An XGBoost booster that keeps to one thread: parts of the rows are predicted side by side."""

    booster: "xgboost.Booster"

    @classmethod
    def from_bytes(cls, data: bytes | bytearray) -> "XGBoostModel":
        """Return a model without what training left in memory; the same for a trained and a loaded one."""
        import xgboost  # noqa: PLC0415

        booster = xgboost.Booster()
        booster.load_model(bytearray(data))
        booster.set_param(
            {"nthread": 1}
        )  # the number belongs to a booster, and this one may serve many threads
        return cls(booster)

    def predict(self, X: Table, resources: Resources) -> FloatVector:
        """Return the booster's probabilities."""
        check_columns(X, self.booster.num_features())
        found = by_rows(self.booster.inplace_predict, X, resources.n_threads)
        return np.asarray(found, dtype=np.float64)

    def importances(self) -> FloatVector:
        """Return each feature's share of the gain of all splits."""
        gain = self.booster.get_score(importance_type="total_gain")
        return shares([gain.get(f"f{j}", 0.0) for j in range(self.booster.num_features())])

    def save(self, path: Path) -> None:
        """Write XGBoost's universal binary JSON."""
        path.write_bytes(self.booster.save_raw("ubj"))


class XGBoost(Learner):
    """Gradient-boosted trees by XGBoost, shallow for few positives; runs on CUDA too."""

    name = "xgboost"
    takes = Takes(missing=True, categorical=True)
    supports_cuda = True
    suffix = ".ubj"
    # At few positives a row's hessian is about its chance to be positive: penalties are counted in positives.
    space = {
        "trees": Int(20, 500, default=60, log=True, help="boosting rounds"),
        "learning_rate": Float(0.02, 0.5, default=0.15, log=True, help="shrinkage of each tree"),
        "depth": Int(1, 8, default=3, help="depth of trees"),
        "l2": Float(0.3, 300.0, default=10.0, log=True, help="L2 penalty on leaf values, in positives"),
        "min_hessian": Float(
            0.01, 30.0, default=1.0, log=True, help="expected positives that a leaf must hold"
        ),
        "features": Float(0.1, 1.0, default=0.5, log=True, help="share of features per split"),
    }

    def prepare(self, X: Table, resources: Resources) -> Binned:
        """Bin the rows once; the first training takes over the matrix that this makes."""
        cuts = _binned(X, resources.n_threads)
        return Binned(X, cuts, [cuts])

    def train(self, prepared: Binned, tags: Tags, seed: Seed, resources: Resources) -> XGBoostModel:
        """Boost from the average, at its best where l2 is large against a row's hessian; see `space`."""
        import xgboost  # noqa: PLC0415

        params = {
            "objective": "binary:logistic",
            "learning_rate": self.params["learning_rate"],
            "max_bin": _BINS,
            "max_depth": self.params["depth"],
            "min_child_weight": self.params["min_hessian"],
            "reg_lambda": self.params["l2"],
            "colsample_bynode": self.params["features"],
            "device": resources.device,
            "nthread": resources.n_threads,
            "seed": seed.integer(),
            "verbosity": 0,
        }
        with prepared.tagged(tags, resources.n_threads) as data:
            booster = xgboost.train(params, data, num_boost_round=self.params["trees"])
        return XGBoostModel.from_bytes(booster.save_raw("ubj"))

    @classmethod
    def load(cls, path: Path) -> XGBoostModel:
        """Read XGBoost's universal binary JSON after a look at every tree."""
        import xgboost  # noqa: PLC0415

        with reading(path, "an XGBoost model", xgboost.core.XGBoostError):
            data = path.read_bytes()
            check_model(data)
            return XGBoostModel.from_bytes(data)

    @classmethod
    def cuda_problem(cls) -> str | None:
        """Try a tree on CUDA and ask where it ran: XGBoost falls back to the CPU by itself."""
        import xgboost  # noqa: PLC0415

        if not xgboost.build_info().get("USE_CUDA"):
            return "this build of xgboost has no CUDA"
        data = xgboost.DMatrix(np.arange(40.0).reshape(-1, 1), label=np.arange(40) % 2)
        try:
            with warnings.catch_warnings(action="ignore"):  # it warns of the very thing that is asked here
                booster = xgboost.train({"device": "cuda", "verbosity": 0}, data, num_boost_round=1)
        except xgboost.core.XGBoostError as error:
            return str(error).partition("\n")[0]
        device = json.loads(booster.save_config())["learner"]["generic_param"]["device"]
        return None if device.startswith("cuda") else "no GPU found"

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
    Choice,
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
from pubench_plugins.learners.intercept import intercept
from pubench_plugins.learners.model_files import check_columns, reading, shares
from pubench_plugins.learners.thread_limits import by_rows
from pubench_plugins.learners.xgboost_ubjson import checked_model

if TYPE_CHECKING:
    import xgboost

_BINS = 64  # as good as 256 on all sets of benchmarks/learner_defaults.py, and 10% faster


@dataclass(frozen=True, eq=False)
class XGBoostBins:
    """Rows in bins, for trainings side by side. Labels are part of a matrix, so each training has its own.

    A matrix of all rows goes back to `idle` after a training: there are as many as the largest number of parallel trainings. Setting
    its labels takes 1 ms at 200,000 x 30, making it 500 ms.
    """

    X: Table
    cuts: "xgboost.QuantileDMatrix"
    idle: "list[xgboost.QuantileDMatrix]" = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    @contextmanager
    def tagged(self, tags: Tags, n_threads: int) -> Iterator["xgboost.QuantileDMatrix"]:
        """Yield a matrix with these tags.

        Rows of weight 0 stay in a matrix of all rows: their gradients and hessians are 0, so they have no
        influence. Where they are the majority, a matrix without them is made: that is cheap then, and trains faster.
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
        with self.lock:  # XGBoost does not guarantee that cuts can be read by two threads at once
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
    """An XGBoost booster with one thread: parts of the rows are predicted in parallel."""

    booster: "xgboost.Booster"

    @classmethod
    def from_bytes(cls, data: bytes | bytearray) -> "XGBoostModel":
        """Return a model without the buffers of its training; the same for a trained and a loaded one."""
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
    """Gradient-boosted trees by XGBoost, by default shallow for few positives; runs on CUDA too.

    Where trees start from one half, the intercept is corrected afterwards, so that it predicts P(positive).
    """

    name = "xgboost"
    takes = Takes(missing=True, categorical=True)
    supports_cuda = True
    suffix = ".ubj"
    # At few positives a row's hessian is about its chance to be positive: penalties are counted in positives. Starting from
    # the average suits a large `l2`, starting from one half a small one; see `space` of LightGBM.
    space = {
        "trees": Int(20, 500, default=60, log=True, help="boosting rounds"),
        "learning_rate": Float(0.02, 0.5, default=0.15, log=True, help="shrinkage of each tree"),
        "depth": Int(1, 16, default=3, help="depth of trees"),
        "leaves": Int(2, 256, default=256, log=True, help="most leaves of a tree, within its depth"),
        "l2": Float(0.001, 300.0, default=10.0, log=True, help="L2 penalty on leaf values, in positives"),
        "min_hessian": Float(
            0.001, 30.0, default=1.0, log=True, help="expected positives that a leaf must hold"
        ),
        "features": Float(0.1, 1.0, default=0.5, log=True, help="share of features per split"),
        "tree_features": Float(
            0.3, 1.0, default=1.0, help="share of features per tree, from which splits draw"
        ),
        "rows": Float(0.3, 1.0, default=1.0, help="share of rows per tree"),
        "boost_from_average": Choice(
            (False, True), default=True, help="start from the share of positives, not from one half"
        ),
    }

    def prepare(self, X: Table, resources: Resources) -> XGBoostBins:
        """Bin the rows once; the first training uses the same matrix."""
        cuts = _binned(X, resources.n_threads)
        return XGBoostBins(X, cuts, [cuts])

    def train(self, prepared: XGBoostBins, tags: Tags, seed: Seed, resources: Resources) -> XGBoostModel:
        """Boost on a matrix that holds these tags."""
        import xgboost  # noqa: PLC0415

        depth, leaves = self.params["depth"], self.params["leaves"]
        params = {
            "objective": "binary:logistic",
            "learning_rate": self.params["learning_rate"],
            "max_bin": _BINS,
            "max_depth": depth,
            **({"grow_policy": "lossguide", "max_leaves": leaves} if leaves < 2**depth else {}),
            "min_child_weight": self.params["min_hessian"],
            "reg_lambda": self.params["l2"],
            "colsample_bynode": self.params["features"],
            "colsample_bytree": self.params["tree_features"],
            "subsample": self.params["rows"],
            **({} if self.params["boost_from_average"] else {"base_score": 0.5}),
            "device": resources.device,
            "nthread": resources.n_threads,
            "seed": seed.integer(),
            "verbosity": 0,
        }
        with prepared.tagged(tags, resources.n_threads) as data:
            booster = xgboost.train(params, data, num_boost_round=self.params["trees"])
            if not self.params["boost_from_average"]:
                booster.set_param({"base_score": _base_score(booster, data)})
        return XGBoostModel.from_bytes(booster.save_raw("ubj"))

    @classmethod
    def load(cls, path: Path) -> XGBoostModel:
        """Read XGBoost's universal binary JSON after a check of every tree."""
        import xgboost  # noqa: PLC0415

        with reading(path, "an XGBoost model", xgboost.core.XGBoostError):
            return XGBoostModel.from_bytes(checked_model(path.read_bytes()))

    @classmethod
    def cuda_problem(cls) -> str | None:
        """Train a tree on CUDA and read its device: XGBoost falls back to the CPU by itself."""
        import xgboost  # noqa: PLC0415

        if not xgboost.build_info().get("USE_CUDA"):
            return "this build of xgboost has no CUDA"
        data = xgboost.DMatrix(np.arange(40.0).reshape(-1, 1), label=np.arange(40) % 2)
        try:
            with warnings.catch_warnings(action="ignore"):  # it warns of a missing GPU, which is tested here
                booster = xgboost.train({"device": "cuda", "verbosity": 0}, data, num_boost_round=1)
        except xgboost.core.XGBoostError as error:
            return str(error).partition("\n")[0]
        device = json.loads(booster.save_config())["learner"]["generic_param"]["device"]
        return None if device.startswith("cuda") else "no GPU found"


def _base_score(booster: "xgboost.Booster", data: "xgboost.QuantileDMatrix") -> float:
    """Return the base score at which a booster that started from one half predicts the share of positives.

    XGBoost holds the scores of its training rows: no tree is walked.
    """
    from scipy.special import expit  # noqa: PLC0415

    raw = np.asarray(booster.predict(data, output_margin=True), dtype=np.float64)
    labels, weight = (part.astype(np.float64) for part in (data.get_label(), data.get_weight()))
    # XGBoost stores a float32, which has to lie between 0 and 1.
    return float(np.clip(expit(intercept(raw, labels, weight)), 1e-30, 1 - 1e-7))

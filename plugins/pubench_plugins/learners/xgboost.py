"""XGBoost."""

import json
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pubench import Float, FloatVector, Int, Learner, Model, Resources, Seed, Table, Tags, Takes

if TYPE_CHECKING:
    import xgboost


@dataclass(frozen=True)
class Binned:
    """Rows and their quantile cuts; each training makes its own matrix from them, because labels live inside."""

    X: Table
    cuts: "xgboost.QuantileDMatrix"


def _feature_types(X: Table) -> list[str]:
    return ["c" if feature.kind == "categorical" else "q" for feature in X.features]


@dataclass(frozen=True)
class XGBoostModel(Model):
    """An XGBoost booster."""

    booster: "xgboost.Booster"

    def predict(self, X: Table, resources: Resources) -> FloatVector:
        """Return the booster's probabilities."""
        import xgboost  # noqa: PLC0415 - heavy imports happen when used

        types = _feature_types(X)
        matrix = xgboost.DMatrix(
            X.values, feature_types=types, enable_categorical=True, nthread=resources.n_threads
        )
        return np.asarray(self.booster.predict(matrix), dtype=np.float64)


class XGBoost(Learner):
    """Gradient-boosted trees by XGBoost, shallow for few positives; runs on CUDA too."""

    name = "xgboost"
    takes = Takes(missing=True, categorical=True)
    supports_cuda = True
    space = {
        "trees": Int(20, 1000, default=100, log=True, help="boosting rounds"),
        "learning_rate": Float(0.01, 0.5, default=0.1, log=True, help="shrinkage of each tree"),
        "depth": Int(1, 10, default=3, help="depth of trees"),
        "min_child_weight": Float(0.01, 100.0, default=1.0, log=True, help="hessian a leaf must hold"),
        "l2": Float(0.01, 100.0, default=1.0, log=True, help="L2 penalty on leaf values"),
        "features": Float(0.3, 1.0, default=1.0, help="share of features per tree"),
    }

    def prepare(self, X: Table, resources: Resources) -> Binned:
        """Find the quantile cuts once."""
        import xgboost  # noqa: PLC0415

        threads = resources.n_threads
        cuts = xgboost.QuantileDMatrix(
            X.values, feature_types=_feature_types(X), enable_categorical=True, nthread=threads
        )
        return Binned(X, cuts)

    def train(self, prepared: Binned, tags: Tags, seed: Seed, resources: Resources) -> XGBoostModel:
        """Boost on the rows that count."""
        import xgboost  # noqa: PLC0415

        rows = tags.counted
        data = xgboost.QuantileDMatrix(
            prepared.X.values[rows],
            label=tags.positive[rows],
            weight=None if tags.weight is None else tags.weight[rows],
            feature_types=_feature_types(prepared.X),
            enable_categorical=True,
            nthread=resources.n_threads,
            ref=prepared.cuts,
        )
        params = {
            "objective": "binary:logistic",
            "base_score": 0.5,  # from the average, at 1:1000, first hessians are too small to split on
            "learning_rate": self.params["learning_rate"],
            "max_depth": self.params["depth"],
            "min_child_weight": self.params["min_child_weight"],
            "reg_lambda": self.params["l2"],
            "colsample_bytree": self.params["features"],
            "device": resources.device,
            "nthread": resources.n_threads,
            "seed": seed.integer(),
            "verbosity": 0,
        }
        return XGBoostModel(xgboost.train(params, data, num_boost_round=self.params["trees"]))

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

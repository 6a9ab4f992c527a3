"""LightGBM."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pubench import Float, FloatVector, Int, Learner, Model, Resources, Seed, Table, Tags, Takes

if TYPE_CHECKING:
    import lightgbm


@dataclass(frozen=True)
class LightGBMModel(Model):
    """A LightGBM booster."""

    booster: "lightgbm.Booster"

    def predict(self, X: Table, resources: Resources) -> FloatVector:
        """Return the booster's probabilities."""
        return np.asarray(self.booster.predict(X.values, num_threads=resources.n_threads), dtype=np.float64)


class LightGBM(Learner):
    """Gradient-boosted trees by LightGBM, small and regularised for few positives."""

    name = "lightgbm"
    takes = Takes(missing=True, categorical=True)
    supports_cuda = True
    space = {
        "trees": Int(20, 1000, default=100, log=True, help="boosting rounds"),
        "learning_rate": Float(0.01, 0.3, default=0.1, log=True, help="shrinkage of each tree"),
        "leaves": Int(3, 127, default=15, log=True, help="leaves per tree"),
        "min_leaf_rows": Int(5, 500, default=20, log=True, help="rows a leaf must hold"),
        "l2": Float(0.01, 100.0, default=10.0, log=True, help="L2 penalty on leaf values"),
        "features": Float(0.3, 1.0, default=1.0, help="share of features per tree"),
    }

    def prepare(self, X: Table, resources: Resources) -> "lightgbm.Dataset":
        """Bin the rows once."""
        import lightgbm  # noqa: PLC0415 - heavy imports happen when used

        categorical = [j for j, feature in enumerate(X.features) if feature.kind == "categorical"]
        params = {"num_threads": resources.n_threads, "feature_pre_filter": False, "verbose": -1}
        placeholder = np.zeros(X.n_rows)  # LightGBM makes no copy of a data set without labels
        return lightgbm.Dataset(
            X.values, placeholder, categorical_feature=categorical, params=params
        ).construct()

    def train(
        self, prepared: "lightgbm.Dataset", tags: Tags, seed: Seed, resources: Resources
    ) -> LightGBMModel:
        """Boost on a copy of the binned rows that count, so that trainings can share `prepared`."""
        import lightgbm  # noqa: PLC0415

        rows = tags.counted
        # LightGBM asks for a list in its types; it takes an array, and a list of a million rows is slow.
        data = prepared.subset(rows).construct().set_label(tags.positive[rows])  # type: ignore[arg-type]
        if tags.weight is not None:
            data.set_weight(tags.weight[rows])
        params = {
            "objective": "binary",
            # At 1:1000 a start from the average makes first gradients so small that trees barely split.
            "boost_from_average": False,
            "learning_rate": self.params["learning_rate"],
            "num_leaves": self.params["leaves"],
            "min_data_in_leaf": self.params["min_leaf_rows"],
            "lambda_l2": self.params["l2"],
            "feature_fraction": self.params["features"],
            "device_type": resources.device,
            "num_threads": resources.n_threads,
            "seed": seed.integer(),
            "deterministic": True,
            "force_row_wise": True,
            "feature_pre_filter": False,
            "verbose": -1,
        }
        return LightGBMModel(lightgbm.train(params, data, num_boost_round=self.params["trees"]))

    @classmethod
    def cuda_problem(cls) -> str | None:
        """Try a tree on CUDA: only a build with CUDA has it, and only a GPU runs it."""
        import lightgbm  # noqa: PLC0415

        data = lightgbm.Dataset(np.arange(40.0).reshape(-1, 1), np.arange(40) % 2, params={"verbose": -1})
        try:
            lightgbm.train(
                {"device_type": "cuda", "objective": "binary", "verbose": -1}, data, num_boost_round=1
            )
        except lightgbm.basic.LightGBMError as error:
            return str(error).partition(".")[0]
        return None

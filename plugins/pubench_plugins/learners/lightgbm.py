"""LightGBM."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pubench import Choice, Float, FloatVector, Int, Learner, Model, Resources, Seed, Table, Tags, Takes
from pubench_plugins.learners.lightgbm_text import checked_text
from pubench_plugins.learners.model_files import check_columns, reading, shares
from pubench_plugins.learners.threads import SameThreads

if TYPE_CHECKING:
    import lightgbm


#: LightGBM has one number of threads per process.
_THREADS = SameThreads()


@dataclass(frozen=True)
class LightGBMModel(Model):
    """A LightGBM booster."""

    booster: "lightgbm.Booster"

    def predict(self, X: Table, resources: Resources) -> FloatVector:
        """Return the booster's probabilities."""
        check_columns(X, self.booster.num_feature())
        with _THREADS.using(resources.n_threads):
            found = self.booster.predict(X.values, num_threads=resources.n_threads)
        return np.asarray(found, dtype=np.float64)

    def importances(self) -> FloatVector:
        """Return each feature's share of the gain of all splits."""
        return shares(self.booster.feature_importance("gain"))

    def save(self, path: Path) -> None:
        """Write LightGBM's text."""
        path.write_text(self.booster.model_to_string(), encoding="utf-8")


class LightGBM(Learner):
    """Gradient-boosted trees by LightGBM, shallow and cut at random, for few positives."""

    name = "lightgbm"
    takes = Takes(missing=True, categorical=True)
    supports_cuda = True
    suffix = ".txt"
    # At few positives a row's hessian is about its chance to be positive: penalties are counted in positives. A fifth more
    # trees at a smaller rate were no better: AUC .0003 +- .0003 higher on the sets of benchmarks/learner_defaults.py.
    space = {
        "trees": Int(20, 500, default=50, log=True, help="boosting rounds"),
        "learning_rate": Float(0.02, 0.5, default=0.17, log=True, help="shrinkage of each tree"),
        "depth": Int(1, 8, default=3, help="depth of trees"),
        "l2": Float(0.3, 300.0, default=10.0, log=True, help="L2 penalty on leaf values, in positives"),
        "min_hessian": Float(
            0.01, 30.0, default=0.5, log=True, help="expected positives that a leaf must hold"
        ),
        "random_cuts": Choice((True, False), default=True, help="try one random cut per feature, not all"),
        "features": Float(0.3, 1.0, default=1.0, help="share of features per tree"),
    }

    def prepare(self, X: Table, resources: Resources) -> "lightgbm.Dataset":
        """Bin the rows once, at most 127 bins per feature: as good as 255 here, and histograms are faster."""
        import lightgbm  # noqa: PLC0415 - heavy imports happen when used

        categorical = [j for j, feature in enumerate(X.features) if feature.kind == "categorical"]
        params = {
            "max_bin": 127,
            "num_threads": resources.n_threads,
            "feature_pre_filter": False,
            "verbose": -1,
        }
        placeholder = np.zeros(X.n_rows)  # LightGBM takes no rows from a data set without labels
        with _THREADS.using(resources.n_threads):
            return lightgbm.Dataset(
                X.values, placeholder, categorical_feature=categorical, params=params
            ).construct()

    def train(
        self, prepared: "lightgbm.Dataset", tags: Tags, seed: Seed, resources: Resources
    ) -> LightGBMModel:
        """Boost on a copy of the bins of the rows that count: 10 ms for 200,000 x 30, binning takes 1.5 s."""
        import lightgbm  # noqa: PLC0415

        rows = tags.counted
        data = prepared.subset([])
        # Not passed to `subset`, which would sort them as Python objects: four times the cost of the copy.
        data.used_indices = rows.astype(np.int32)  # type: ignore[assignment]
        # Else the number of threads it was prepared with would become that of everybody.
        data.params = {**(prepared.params or {}), "num_threads": resources.n_threads}
        params = self._booster_params(seed, resources)
        with _THREADS.using(resources.n_threads):
            data.construct().set_label(tags.positive[rows])
            if tags.weight is not None:
                data.set_weight(tags.weight[rows])
            return LightGBMModel(lightgbm.train(params, data, num_boost_round=self.params["trees"]))

    def _booster_params(self, seed: Seed, resources: Resources) -> dict[str, object]:
        return {
            # For tags of 0 and 1 the same loss as "binary", the same trees, and 5% faster; soft tags need it.
            "objective": "cross_entropy",
            "learning_rate": self.params["learning_rate"],
            "max_depth": self.params["depth"],
            "num_leaves": 2 ** self.params["depth"],
            "min_data_in_leaf": 5,
            "min_sum_hessian_in_leaf": self.params["min_hessian"],
            "lambda_l2": self.params["l2"],
            "feature_fraction": self.params["features"],
            "extra_trees": self.params["random_cuts"],
            "device_type": resources.device,
            "num_threads": resources.n_threads,
            "seed": seed.integer(),
            "deterministic": True,
            # The same sums for any number of threads by column; by row one thread takes a fifth less time.
            "force_col_wise": resources.n_threads > 1,
            "force_row_wise": resources.n_threads == 1,
            "feature_pre_filter": False,
            "verbose": -1,
        }

    @classmethod
    def load(cls, path: Path) -> LightGBMModel:
        """Read LightGBM's text, tree by tree."""
        import lightgbm  # noqa: PLC0415

        with reading(path, "a LightGBM model", lightgbm.basic.LightGBMError):
            text = checked_text(path.read_text(encoding="utf-8"))
            return LightGBMModel(lightgbm.Booster(model_str=text))

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

"""CatBoost."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pubench import (
    Float,
    FloatVector,
    Int,
    Learner,
    Model,
    NotApplicableError,
    Resources,
    Seed,
    Table,
    Tags,
    Takes,
)
from pubench_plugins.learners.intercept import intercept
from pubench_plugins.learners.model_files import check_columns, expect, reading, shares

if TYPE_CHECKING:
    import catboost


@dataclass(frozen=True)
class CatBoostModel(Model):
    """A CatBoost model."""

    model: "catboost.CatBoost"
    n_features: int

    def predict(self, X: Table, resources: Resources) -> FloatVector:
        """Return the model's probabilities."""
        check_columns(X, self.n_features)
        both = self.model.predict(X.values, prediction_type="Probability", thread_count=resources.n_threads)
        return np.asarray(both[:, 1], dtype=np.float64)

    def importances(self) -> FloatVector:
        """Return each feature's share of how much predictions change with it."""
        return shares(self.model.get_feature_importance(type="PredictionValuesChange", thread_count=1))

    def save(self, path: Path) -> None:
        """Write CatBoost's binary form."""
        self.model.save_model(str(path), format="cbm")


class CatBoost(Learner):
    """Gradient-boosted oblivious trees by CatBoost, by default few and shallow for few positives; runs on CUDA too.

    CatBoost chooses splits by the number of rows on either side, not by their hessians. With one positive in a thousand
    its trees chase single positives, unless both classes weigh the same: measured on simulated interactions, AUC .65
    without weights and .84 with them. The odds are corrected afterwards, so that it predicts P(positive).
    """

    name = "catboost"
    takes = Takes(missing=True)
    supports_cuda = True
    suffix = ".cbm"
    space = {
        "trees": Int(20, 500, default=60, log=True, help="boosting rounds"),
        "learning_rate": Float(0.02, 0.5, default=0.15, log=True, help="shrinkage of each tree"),
        "depth": Int(1, 10, default=3, help="depth of trees, all of whose leaves are equally deep"),
        "l2": Float(0.001, 100.0, default=5.0, log=True, help="L2 penalty on leaf values, in positives"),
        "random_strength": Float(0.01, 10.0, default=1.0, log=True, help="noise added to split scores"),
        "rows": Float(0.3, 1.0, default=1.0, help="share of rows per tree"),
    }

    def prepare(self, X: Table, resources: Resources) -> "catboost.Pool":
        """Bin the rows once, each as a negative and, n_rows further on, as a positive one.

        A pool's labels cannot be changed, but a slice of a binned pool is binned and takes 15 ms at 200,000 x 30,
        where binning takes a second: so a training gets its labels by selecting one of the two copies of each row.
        """
        import catboost  # noqa: PLC0415 - heavy imports happen when used

        twice = np.concatenate([X.values, X.values]).astype(np.float32, copy=False)
        pool = catboost.Pool(twice, np.repeat([0, 1], X.n_rows), thread_count=resources.n_threads)
        try:
            pool.quantize(
                border_count=128
            )  # what its GPU trainings use; half the time of 254 and no worse here
        except catboost.CatBoostError as error:
            raise NotApplicableError(
                "CatBoost needs a feature that varies; all of them are constant."
            ) from error
        return pool

    def train(self, prepared: "catboost.Pool", tags: Tags, seed: Seed, resources: Resources) -> CatBoostModel:
        """Boost with classes of equal weight on the rows that count, those with a soft tag as two."""
        import catboost  # noqa: PLC0415

        examples = tags.examples()
        weight = np.ones(len(examples.rows)) if examples.weight is None else examples.weight
        ratio = float(weight[~examples.positive].sum() / weight[examples.positive].sum())
        weight = np.where(examples.positive, ratio * weight, weight)
        data = prepared.slice(examples.rows + examples.positive * (prepared.num_row() // 2))
        data.set_weight(weight)
        params = {
            "loss_function": "Logloss",
            "boost_from_average": False,  # with equal weights the average is where it starts anyway
            "boosting_type": "Plain",
            **_bootstrap(self.params["rows"]),
            "leaf_estimation_iterations": 1,  # its ten steps per leaf double the time of training
            "iterations": self.params["trees"],
            "learning_rate": self.params["learning_rate"],
            "depth": self.params["depth"],
            "l2_leaf_reg": self.params["l2"]
            * ratio
            / float(weight.mean()),  # CatBoost multiplies by the mean
            "random_strength": self.params["random_strength"],
            "task_type": "GPU" if resources.device == "cuda" else "CPU",
            "thread_count": resources.n_threads,
            "random_seed": seed.integer(),
            "allow_writing_files": False,
            "logging_level": "Silent",
            # Each saves an eighth of the time: no shuffling of rows, of use for categories only, and no loss reports.
            "has_time": True,
            "metric_period": self.params["trees"],
        }
        model = catboost.train(data, params)
        raw = model.predict(data, prediction_type="RawFormulaVal", thread_count=resources.n_threads)
        scale, bias = model.get_scale_and_bias()
        model.set_scale_and_bias(
            scale, bias + intercept(np.asarray(raw), examples.positive.astype(np.float64), examples.weight)
        )
        return CatBoostModel(model, prepared.num_col())

    @classmethod
    def load(cls, path: Path) -> CatBoostModel:
        """Read CatBoost's binary form, which CatBoost itself verifies; but see `model_files` for its limits."""
        import catboost  # noqa: PLC0415

        model = catboost.CatBoost()
        with reading(path, "a CatBoost model", catboost.CatBoostError):
            content = path.read_bytes()
            # "CBM1", then the number of bytes that follow: CatBoost trusts that number and may read past the end.
            expect(len(content) >= 8 + int.from_bytes(content[4:8], "little"), "it ends too early")
            model.load_model(blob=content)
            expect(model.get_all_params().get("loss_function") == "Logloss", "its loss should be Logloss")
            loaded = CatBoostModel(model, len(model.feature_names_))
            # Some damage is only detected by a prediction.
            loaded.predict(Table.from_array(np.zeros((1, loaded.n_features))), Resources())
        return loaded

    @classmethod
    def cuda_problem(cls) -> str | None:
        """Return None if CatBoost detects a GPU."""
        from catboost.utils import get_gpu_device_count  # noqa: PLC0415

        return None if get_gpu_device_count() else "no GPU found"


def _bootstrap(rows: float) -> dict[str, object]:
    """Return what CatBoost needs to train each tree on this share of the rows; it refuses to draw all of them."""
    return {"bootstrap_type": "Bernoulli", "subsample": rows} if rows < 1 else {"bootstrap_type": "No"}

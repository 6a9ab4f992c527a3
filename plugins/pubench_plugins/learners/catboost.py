"""CatBoost."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pubench import Float, FloatVector, Int, Learner, Model, Resources, Seed, Table, Tags, Takes

if TYPE_CHECKING:
    import catboost


@dataclass(frozen=True)
class CatBoostModel(Model):
    """A CatBoost model."""

    model: "catboost.CatBoost"

    def predict(self, X: Table, resources: Resources) -> FloatVector:
        """Return the model's probabilities."""
        both = self.model.predict(X.values, prediction_type="Probability", thread_count=resources.n_threads)
        return np.asarray(both[:, 1], dtype=np.float64)


class CatBoost(Learner):
    """Gradient-boosted oblivious trees by CatBoost; runs on CUDA too."""

    name = "catboost"
    takes = Takes(missing=True)
    supports_cuda = True
    space = {
        "trees": Int(20, 1000, default=200, log=True, help="boosting rounds"),
        "learning_rate": Float(0.01, 0.3, default=0.1, log=True, help="shrinkage of each tree"),
        "depth": Int(1, 10, default=4, help="depth of trees"),
        "l2": Float(0.1, 100.0, default=10.0, log=True, help="L2 penalty on leaf values"),
        "random_strength": Float(0.01, 10.0, default=1.0, log=True, help="noise added to split scores"),
    }

    def prepare(self, X: Table, resources: Resources) -> Table:  # noqa: ARG002 - the contract's signature
        """Keep the rows: CatBoost stores labels with the bins, so each training bins for itself."""
        return X

    def train(self, prepared: Table, tags: Tags, seed: Seed, resources: Resources) -> CatBoostModel:
        """Boost on the rows that count."""
        import catboost  # noqa: PLC0415 - heavy imports happen when used

        rows = tags.counted
        weight = None if tags.weight is None else tags.weight[rows]
        data = catboost.Pool(
            prepared.values[rows],
            label=tags.positive[rows].astype(np.int8),
            weight=weight,
            thread_count=resources.n_threads,
        )
        params = {
            "loss_function": "Logloss",
            "boost_from_average": False,  # as in the other learners: the average is no start at 1:1000
            "iterations": self.params["trees"],
            "learning_rate": self.params["learning_rate"],
            "depth": self.params["depth"],
            "l2_leaf_reg": self.params["l2"],
            "random_strength": self.params["random_strength"],
            "task_type": "GPU" if resources.device == "cuda" else "CPU",
            "thread_count": resources.n_threads,
            "random_seed": seed.integer(),
            "allow_writing_files": False,
            "logging_level": "Silent",
        }
        return CatBoostModel(catboost.train(data, params))

    @classmethod
    def cuda_problem(cls) -> str | None:
        """Ask CatBoost how many GPUs it sees."""
        from catboost.utils import get_gpu_device_count  # noqa: PLC0415

        return None if get_gpu_device_count() else "no GPU found"

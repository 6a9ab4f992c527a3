"""scikit-learn's histogram gradient boosting."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pubench import Float, FloatVector, Int, Learner, Model, Resources, Seed, Table, Tags, Takes

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingClassifier


@dataclass(frozen=True)
class HistGBModel(Model):
    """A fitted scikit-learn classifier."""

    classifier: "HistGradientBoostingClassifier"

    def predict(self, X: Table, resources: Resources) -> FloatVector:
        """Return the classifier's probabilities."""
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 - heavy imports happen when used

        with threadpool_limits(resources.n_threads):
            return np.asarray(self.classifier.predict_proba(X.values)[:, 1], dtype=np.float64)


class HistGB(Learner):
    """scikit-learn's histogram gradient boosting, with positives and the rest weighing the same."""

    name = "histgb"
    takes = Takes(missing=True)
    space = {
        "trees": Int(20, 1000, default=100, log=True, help="boosting rounds"),
        "learning_rate": Float(0.01, 0.3, default=0.1, log=True, help="shrinkage of each tree"),
        "leaves": Int(3, 127, default=8, log=True, help="leaves per tree"),
        "min_leaf_rows": Int(5, 500, default=20, log=True, help="rows a leaf must hold"),
        "l2": Float(0.01, 1000.0, default=10.0, log=True, help="L2 penalty on leaf values"),
    }

    def prepare(self, X: Table, resources: Resources) -> Table:  # noqa: ARG002 - the contract's signature
        """Keep the rows: scikit-learn offers no binned form to share."""
        return X

    def train(self, prepared: Table, tags: Tags, seed: Seed, resources: Resources) -> HistGBModel:
        """Boost on the rows that count."""
        from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415
        from threadpoolctl import threadpool_limits  # noqa: PLC0415

        rows = tags.counted
        classifier = HistGradientBoostingClassifier(
            max_iter=self.params["trees"],
            learning_rate=self.params["learning_rate"],
            max_leaf_nodes=self.params["leaves"],
            min_samples_leaf=self.params["min_leaf_rows"],
            l2_regularization=self.params["l2"],
            # It can only start from the average; balanced weights move that to 1/2.
            class_weight="balanced",
            early_stopping=False,
            random_state=seed.integer(),
        )
        weight = None if tags.weight is None else tags.weight[rows]
        with threadpool_limits(resources.n_threads):
            classifier.fit(prepared.values[rows], tags.positive[rows], sample_weight=weight)
        return HistGBModel(classifier)

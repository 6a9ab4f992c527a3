"""Logistic regression."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pubench import Float, FloatVector, Learner, Model, Resources, Seed, Table, Tags, Takes

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import Pipeline


@dataclass(frozen=True)
class Scaled:
    """Imputed and standardised rows, and the steps that made them so."""

    steps: "Pipeline"
    values: npt.NDArray[np.float64]


@dataclass(frozen=True)
class LogisticModel(Model):
    """A fitted logistic regression and the steps before it."""

    steps: "Pipeline"
    regression: "LogisticRegression"

    def predict(self, X: Table, resources: Resources) -> FloatVector:
        """Return the regression's probabilities."""
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 - heavy imports happen when used

        with threadpool_limits(resources.n_threads):
            values = self.steps.transform(X.values)
            return np.asarray(self.regression.predict_proba(values)[:, 1], dtype=np.float64)


class Logistic(Learner):
    """Logistic regression on standardised features; missing values become the median and a flag."""

    name = "logistic"
    takes = Takes(missing=True)
    space = {"c": Float(1e-4, 100.0, default=1.0, log=True, help="inverse strength of the L2 penalty")}

    def prepare(self, X: Table, resources: Resources) -> Scaled:
        """Impute and standardise once."""
        from sklearn.impute import SimpleImputer  # noqa: PLC0415
        from sklearn.pipeline import make_pipeline  # noqa: PLC0415
        from sklearn.preprocessing import StandardScaler  # noqa: PLC0415
        from threadpoolctl import threadpool_limits  # noqa: PLC0415

        imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
        steps = make_pipeline(imputer, StandardScaler())
        with threadpool_limits(resources.n_threads):
            return Scaled(steps, steps.fit_transform(X.values.astype(np.float64)))

    def train(self, prepared: Scaled, tags: Tags, seed: Seed, resources: Resources) -> LogisticModel:  # noqa: ARG002
        """Fit on the rows that count; nothing is drawn at random."""
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
        from threadpoolctl import threadpool_limits  # noqa: PLC0415

        rows = tags.counted
        weight = None if tags.weight is None else tags.weight[rows]
        regression = LogisticRegression(C=self.params["c"], max_iter=1000)
        with threadpool_limits(resources.n_threads):
            regression.fit(prepared.values[rows], tags.positive[rows], sample_weight=weight)
        return LogisticModel(prepared.steps, regression)

"""Logistic regression."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pubench import (
    DataSize,
    Float,
    FloatVector,
    Learner,
    Model,
    Resources,
    Seed,
    Table,
    Tags,
    Takes,
    blas_threads,
    write_json,
)
from pubench_plugins.learners.model_files import (
    check_columns,
    expect,
    floats,
    read_form,
    reading,
    shares,
)
from pubench_plugins.learners.thread_limits import by_rows

_FORM = "pubench logistic 1"


@dataclass(frozen=True, eq=False)
class Standardisation:
    """Standardisation of filled values and of missing-value flags; all arrays have the shape (n_features,).

    Attributes:
        fill: the value used for a missing one, the feature's median.
        centre, scale: mean and standard deviation of the filled values.
        missing_centre, missing_scale: the same of a flag that is 1 where a value is missing, else 0.
    """

    fill: FloatVector
    centre: FloatVector
    scale: FloatVector
    missing_centre: FloatVector
    missing_scale: FloatVector

    def apply(self, values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the scaled values and, after them, the scaled flags of all features: twice as many columns."""
        missing = np.isnan(values)
        filled = np.where(missing, self.fill, values)
        flags = (missing - self.missing_centre) / self.missing_scale
        return np.concatenate([(filled - self.centre) / self.scale, flags], axis=1)


@dataclass(frozen=True, eq=False)
class StandardisedRows:
    """Scaled rows, without flags that never vary, and how they were made.

    Attributes:
        scaling: of the rows.
        columns: the columns of `Standardisation.apply` that are used.
        values: shape (n_rows, n_columns).
    """

    scaling: Standardisation
    columns: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LogisticModel(Model):
    """A linear score of scaled features.

    Attributes:
        scaling: of the features.
        coefficients: shape (2 n_features,): of the features, then of their flags.
        intercept: the logarithm of the odds of an average row.
    """

    scaling: Standardisation
    coefficients: FloatVector
    intercept: float

    def predict(self, X: Table, resources: Resources) -> FloatVector:
        """Return the probabilities."""
        from scipy.special import expit  # noqa: PLC0415 - heavy imports happen when used

        check_columns(X, len(self.scaling.fill))

        def predict(values: npt.NDArray[Any]) -> FloatVector:
            # Not `@`: BLAS has threads of its own, and adds in another order for another number of rows.
            return np.asarray(np.einsum("ij,j->i", self.scaling.apply(values), self.coefficients))

        return np.asarray(expit(by_rows(predict, X, resources.n_threads) + self.intercept), dtype=np.float64)

    def importances(self) -> FloatVector:
        """Return each feature's share of the coefficients' sizes, its flag's included."""
        return shares(np.abs(self.coefficients).reshape(2, -1).sum(axis=0))

    def save(self, path: Path) -> None:
        """Write the numbers as JSON."""
        scaling = {
            field.name: getattr(self.scaling, field.name).tolist() for field in fields(Standardisation)
        }
        content = {"coefficients": self.coefficients.tolist(), "intercept": self.intercept}
        write_json(path, {"form": _FORM, "scaling": scaling, **content})


class Logistic(Learner):
    """Logistic regression on standardised features; missing values become the median and a flag."""

    name = "logistic"
    takes = Takes(missing=True)
    suffix = ".json"
    space = {
        "c": Float(
            1e-5,
            10.0,
            default=0.01,
            log=True,
            derived=True,
            help="inverse strength of the L2 penalty; as a derived default 0.5 / number of features",
        )
    }

    def derive(self, size: DataSize) -> Mapping[str, float]:
        """Return the penalty under which the log-odds of standardised features vary alike, however many these are."""
        return {"c": min(max(0.5 / size.n_features, 1e-5), 10.0)}

    def prepare(self, X: Table, resources: Resources) -> StandardisedRows:  # noqa: ARG002 - the contract's signature
        """Fill and standardise once."""
        missing = np.isnan(X.values)
        fill = np.array([_median(column) for column in X.values.T])
        filled = np.where(missing, fill, X.values)
        scaling = Standardisation(fill, *_spread(filled), *_spread(missing))
        columns = np.flatnonzero(np.concatenate([np.ones(X.n_features, dtype=bool), missing.any(axis=0)]))
        return StandardisedRows(scaling, columns, scaling.apply(X.values)[:, columns])

    def train(
        self,
        prepared: StandardisedRows,
        tags: Tags,
        seed: Seed,  # noqa: ARG002 - the contract's signature
        resources: Resources,
    ) -> LogisticModel:
        """Fit on the rows that count, those with a soft tag as two; nothing is drawn at random."""
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

        examples = tags.examples()
        every = len(examples.rows) == len(prepared.values) and tags.are_hard
        values = prepared.values if every else prepared.values[examples.rows]
        regression = LogisticRegression(C=self.params["c"], max_iter=1000)
        with blas_threads(resources.n_threads):
            regression.fit(values, examples.positive, sample_weight=examples.weight)
        coefficients = np.zeros(2 * len(prepared.scaling.fill))
        coefficients[prepared.columns] = regression.coef_[0]
        return LogisticModel(prepared.scaling, coefficients, float(regression.intercept_[0]))

    @classmethod
    def load(cls, path: Path) -> LogisticModel:
        """Read the numbers."""
        with reading(path, "a model of logistic"):
            content = read_form(path, _FORM)
            size = len(content["scaling"]["fill"])
            scaling = Standardisation(
                **{
                    field.name: floats(content["scaling"][field.name], size)
                    for field in fields(Standardisation)
                }
            )
            expect(
                np.all(scaling.scale > 0) and np.all(scaling.missing_scale > 0), "scales should be above 0"
            )
            coefficients = floats(content["coefficients"], 2 * size)
            return LogisticModel(scaling, coefficients, float(floats([content["intercept"]], 1)[0]))


def _median(column: npt.NDArray[Any]) -> float:
    known = column[~np.isnan(column)]
    return float(np.median(known)) if len(known) else 0.0


def _spread(values: npt.NDArray[Any]) -> tuple[FloatVector, FloatVector]:
    deviation = values.std(axis=0, dtype=np.float64)
    return values.mean(axis=0, dtype=np.float64), np.where(deviation > 0, deviation, 1.0)

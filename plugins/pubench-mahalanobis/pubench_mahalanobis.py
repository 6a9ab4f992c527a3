"""mahalanobis, a similarity for pubench: the whitened distance to the labelled positives nearby.

    value(x) = exp(-d(x)^2 / 2h^2),   d(x)^2 = the r-th smallest (x - p)' S^-1 (x - p) over labelled p

S is the covariance of all rows, shrunk towards a multiple of the identity: redundant features count once,
where Euclidean distances count them twice. With a rank r above 1 several labelled rows must be near: else a
single one in a dense region would attract all tags to its neighbours. The width h is such that the values of
all unlabeled rows sum to a given number per labelled row: a Gaussian has no natural width, and half of the
table might be tagged positive.

Only distances to labelled rows are needed, so the work grows with rows x labelled rows, not with rows x rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from pubench import (
    Affinity,
    FittedSimilarity,
    Float,
    FloatVector,
    Int,
    PUData,
    Resources,
    Seed,
    Similarity,
    Table,
    blas_threads,
    hookimpl,
)

pubench_api = 1

Matrix: TypeAlias = npt.NDArray[np.float64]

#: Rows for which distances are computed together: all at once may not fit into memory.
BLOCK = 1024
#: Halvings of an interval, enough for more digits than a float has.
HALVINGS = 100


@dataclass(frozen=True, eq=False)
class Positives:
    """The labelled rows, to which distances are measured.

    Attributes:
        whitening: shape (n_features, n_features); makes Mahalanobis distances of Euclidean ones.
        rows: shape (n_labelled, n_features), whitened.
        rank: the distance to the labelled row of this rank counts, 1 for the nearest.
    """

    whitening: Matrix
    rows: Matrix
    rank: int

    @classmethod
    def of(cls, data: PUData, shrinkage: float, rank: int) -> "Positives":
        """Take the labelled rows of `data`, and the covariance of all."""
        rows = data.X.values.astype(np.float64)
        covariance = np.atleast_2d(np.cov(rows, rowvar=False))
        size = float(np.trace(covariance)) / len(covariance) or 1.0
        shrunk = (1 - shrinkage) * covariance + shrinkage * size * np.eye(len(covariance))
        whitening = np.linalg.inv(np.linalg.cholesky(shrunk)).T
        return cls(whitening, rows[data.s] @ whitening, min(rank, data.n_labelled))

    def squares(self, X: Table, resources: Resources) -> FloatVector:
        """Return the squared distance of each row of `X` to the labelled one of the rank: shape (n_rows,)."""
        found = np.empty(X.n_rows)
        lengths = np.einsum("ij,ij->i", self.rows, self.rows)
        for start in range(0, X.n_rows, BLOCK):
            rows = X.values[start : start + BLOCK].astype(np.float64) @ self.whitening
            distances = np.einsum("ij,ij->i", rows, rows)[:, None] + lengths - 2 * rows @ self.rows.T
            found[start : start + BLOCK] = np.partition(distances, self.rank - 1, axis=1)[:, self.rank - 1]
            resources.progress(min(1.0, (start + BLOCK) / X.n_rows))
        return np.maximum(found, 0.0)  # rounding may leave a little less than 0


def width_for(squares: FloatVector, total: float) -> float:
    """Return the width at which exp(-squares / 2 width^2) sums to `total`, or the nearest that is possible.

    The sum rises with the width, from the number of rows at distance 0 to that of all.
    """
    low, high = 0.0, float(np.sqrt(squares.max())) or 1.0
    while np.exp(-squares / (2 * high**2)).sum() < min(total, 0.99 * len(squares)):
        high *= 2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = middle > 0 and np.exp(-squares / (2 * middle**2)).sum() >= total
        low, high = (low, middle) if enough else (middle, high)
        if low == high:
            break
    return high


@dataclass(frozen=True, eq=False)
class FittedMahalanobis(FittedSimilarity):
    """The labelled rows, the width, and the values of a table.

    Attributes:
        positives: the labelled rows.
        width: h.
        fitted: the values of the rows of the table.
    """

    positives: Positives
    width: float
    fitted: Affinity

    @property
    def affinity(self) -> Affinity:
        """One value per row of the table, 0 for labelled ones."""
        return self.fitted

    def score_new(self, X: Table, resources: Resources) -> Affinity:
        """Return one value per row of `X`, rows that were not fitted on."""
        with blas_threads(resources.n_threads):
            squares = self.positives.squares(X, resources)
        return Affinity(np.exp(-squares / (2 * self.width**2)))

    @property
    def chosen(self) -> Mapping[str, float]:
        """The width, in standard deviations of the whitened features."""
        return {"width": self.width}


class Mahalanobis(Similarity):
    """A Gaussian of the Mahalanobis distance to the labelled positives nearby."""

    name = "mahalanobis"
    space = {
        "rank": Int(1, 50, default=10, log=True, help="the distance to the labelled row of this rank counts"),
        "shrinkage": Float(
            0.001, 1.0, default=0.5, log=True, help="of the covariance; 1: Euclidean distances"
        ),
        "expected": Float(0.1, 10.0, default=1.0, log=True, help="expected tags per labelled row"),
    }

    def fit(self, data: PUData, seed: Seed, resources: Resources) -> FittedMahalanobis:  # noqa: ARG002 - nothing is drawn
        """Whiten, measure, and find the width."""
        with blas_threads(resources.n_threads):
            positives = Positives.of(data, self.params["shrinkage"], self.params["rank"])
            squares = positives.squares(data.X, resources)
        width = width_for(squares[~data.s], self.params["expected"] * data.n_labelled)
        values = np.where(data.s, 0.0, np.exp(-squares / (2 * width**2)))
        return FittedMahalanobis(positives, width, Affinity(values))


@hookimpl
def pubench_register_similarities(register: Callable[[type[Similarity]], None]) -> None:
    """Add the similarity."""
    register(Mahalanobis)

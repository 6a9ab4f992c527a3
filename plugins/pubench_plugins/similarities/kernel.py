"""A Gaussian kernel: the share of labelled positives in the mass around a row.

    value(x) = sum over labelled p of K(x, p) / sum over all other rows u of K(x, u),   K(x, u) = exp(-|x - u|^2 / 2h^2)

The upper sum is exact. The lower one has too many pairs at a million rows: it is estimated first, and made exact where
that matters. A uniform sample of the unlabeled rows, weighted up, represents all. In the bulk, where thousands of rows
share the mass, that is precise. But an outlying row, as positives are, has a handful of neighbours, which a
sample misses: rows whose value is uncertain are summed again, over everything. The labelled positives are part of both
sums, so a value lies in [0, 1] whatever the error of the estimate.

|x|^2 cancels in the ratio, so all is done with the logarithms x'u - |u|^2/2 (in units of h): nothing underflows. A row
far from all others gets its value from the nearest of them. Value 0 instead never found more hidden positives on nine
data sets, and with narrow bandwidths fewer: on creditcard 24 for 101.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench import (
    Affinity,
    FittedSimilarity,
    Float,
    FloatVector,
    IndexVector,
    PUData,
    Resources,
    Seed,
    Similarity,
    Table,
)

Matrix: TypeAlias = npt.NDArray[Any]

#: Number of unlabeled rows in the sample for the first estimate.
SAMPLE = 4096
#: A row is summed again if its error may be above the first number; the second is the largest number of such rows of a fit.
TOLERANCE, AGAIN = 0.001, 8192
#: Number of rows in the sample for the median distance.
MEDIAN_ROWS = 2000
#: Rows and columns of a block of kernel values: small enough for the cache, large enough for BLAS.
ROWS, COLUMNS = 512, 1024
#: The logarithm of 0; finite, because the difference of two infinities is NaN.
LOG_ZERO = np.float32(-1e30)


@dataclass(frozen=True, eq=False)
class Mass:
    """The fitted rows, over which kernel values are summed.

    Attributes:
        values: the fitted table, not a copy.
        labelled, unlabeled, sample: row numbers, ascending; `sample` is a part of `unlabeled`.
        centre: shape (n_features,); products of centred rows lose fewer digits.
        bandwidth: h.
    """

    values: Matrix
    labelled: IndexVector
    unlabeled: IndexVector
    sample: IndexVector
    centre: Matrix
    bandwidth: float

    def estimate(self, X: Matrix, own: IndexVector) -> Matrix:
        """Return the value of each row of `X` and the error to expect of it: shape (n_rows, 2).

        `own` is the number of each row in the fitted table, where it is left out, or -1 for a new row.
        """
        queries = self._scaled(X)
        nearest, labelled = self._log_sums(queries, own, self.labelled)
        top, sampled = self._log_sums(queries, own, self.sample)
        if len(self.sample) == len(self.unlabeled):
            return np.column_stack([_share(labelled, sampled), np.zeros(len(X))])
        weight = np.log((len(self.unlabeled) - (own >= 0)) / (len(self.sample) - np.isin(own, self.sample)))
        value = _share(labelled, sampled + weight)
        # A sum over a sample has a variance of at most its greatest term times itself, and rows that the sample misses
        # may be as near as the nearest positive.
        spread = weight + np.logaddexp(top + sampled, 2 * nearest) / 2
        return np.column_stack([value, value * _share(spread, np.logaddexp(labelled, sampled + weight))])

    def exact(self, X: Matrix, own: IndexVector) -> FloatVector:
        """Return the value of each row of `X` by sums over all rows."""
        queries = self._scaled(X)
        _, labelled = self._log_sums(queries, own, self.labelled)
        _, unlabeled = self._log_sums(queries, own, self.unlabeled)
        return _share(labelled, unlabeled)

    def _scaled(self, values: Matrix) -> npt.NDArray[np.float32]:
        return ((values - self.centre) / self.bandwidth).astype(np.float32, copy=False)

    def _log_sums(
        self, queries: npt.NDArray[np.float32], own: IndexVector, rows: IndexVector
    ) -> tuple[FloatVector, FloatVector]:
        """Return, per query, the logarithms of its greatest kernel value and of their sum over `rows`.

        Both lack the same summand, -|query|^2/2.
        """
        position = np.searchsorted(rows, own)
        position[np.take(rows, position, mode="clip") != own] = -1
        top, total = np.full(len(queries), LOG_ZERO), np.zeros(len(queries))
        for start in range(0, len(rows), COLUMNS):
            points = self._scaled(self.values[rows[start : start + COLUMNS]])
            terms = queries @ points.T
            terms -= np.einsum("ij,ij->i", points, points) / 2
            itself = np.flatnonzero((position >= start) & (position < start + COLUMNS))
            terms[itself, position[itself] - start] = LOG_ZERO
            before, top = top, np.maximum(top, terms.max(axis=1))
            terms -= top[:, None]
            total = total * np.exp(np.float64(before - top)) + np.exp(terms, out=terms).sum(axis=1)
        return top.astype(np.float64), np.log(total) + top


def _share(part: FloatVector, rest: FloatVector) -> FloatVector:
    """Return part / (part + rest) from the logarithms of both."""
    return np.asarray(np.exp(-np.logaddexp(0, rest - part)))


def _blockwise(
    work: Callable[[IndexVector], Matrix], rows: IndexVector, resources: Resources, begin: float
) -> Matrix:
    """Return what `work` returns for the row numbers `rows`, in order, and report progress from `begin` on, as half of the work.

    Blocks are the same whatever the number of threads is, and so are results.
    """
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - heavy imports happen when used

    blocks = [rows[start : start + ROWS] for start in range(0, max(1, len(rows)), ROWS)]
    results: list[Matrix] = []
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(resources.n_threads) as pool:
        try:
            for result in pool.map(work, blocks):
                results.append(result)
                resources.progress(begin + len(results) / len(blocks) / 2)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return np.concatenate(results)


@dataclass(frozen=True, eq=False)
class FittedKernel(FittedSimilarity):
    """Kernel values of the fitted rows, and the rows to which new rows are compared.

    Attributes:
        mass: the fitted rows.
        limit: a row whose estimate may be wrong by more is summed exactly, new rows too: so the value of a new row
            depends on that row alone.
        again: number of fitted rows that were summed exactly.
        fitted: the values of the fitted rows.
    """

    mass: Mass
    limit: float
    again: int
    fitted: Affinity

    @property
    def affinity(self) -> Affinity:
        """One value per fitted row, 0 for labelled ones."""
        return self.fitted

    def score_new(self, X: Table, resources: Resources) -> Affinity:
        """Return the share of labelled positives in the mass of the fitted rows around each row of `X`."""

        def new(part: IndexVector) -> IndexVector:
            return np.full(len(part), -1)

        estimates = _blockwise(
            lambda part: self.mass.estimate(X.values[part], new(part)), np.arange(X.n_rows), resources, 0.0
        )
        values, errors = estimates.T
        uncertain = np.flatnonzero(errors > self.limit)
        values[uncertain] = _blockwise(
            lambda part: self.mass.exact(X.values[part], new(part)), uncertain, resources, 0.5
        )
        return Affinity(values)

    @property
    def chosen(self) -> Mapping[str, float]:
        """The bandwidth, in the units of the embedded features, and the number of rows that were summed exactly."""
        return {"bandwidth": self.mass.bandwidth, "summed_exactly": self.again}


class Kernel(Similarity):
    """Gaussian kernel: the share of labelled positives in the mass around a row."""

    name = "kernel"
    space = {
        # In many dimensions distances differ little: at the median itself every row gets the labelled share.
        "factor": Float(
            0.05, 2.0, default=0.25, log=True, help="bandwidth, in median distances between rows"
        ),
    }

    def fit(self, data: PUData, seed: Seed, resources: Resources) -> FittedKernel:
        """Estimate the value of each unlabeled row, and sum exactly where the estimate is uncertain."""
        values, unlabeled = data.X.values, np.flatnonzero(~data.s)
        sample = np.sort(seed.child("sample").generator().permutation(unlabeled)[:SAMPLE])
        bandwidth = self.params["factor"] * _median_distance(values, seed.child("median"))
        centre = values[sample].mean(axis=0)
        mass = Mass(values, np.flatnonzero(data.s), unlabeled, sample, centre, bandwidth)
        estimates = _blockwise(lambda rows: mass.estimate(values[rows], rows), unlabeled, resources, 0.0)
        limit = _limit(estimates[:, 1])
        uncertain = estimates[:, 1] > limit
        affinity = np.zeros(len(values))
        affinity[unlabeled] = estimates[:, 0]
        affinity[unlabeled[uncertain]] = _blockwise(
            lambda rows: mass.exact(values[rows], rows), unlabeled[uncertain], resources, 0.5
        )
        return FittedKernel(mass, limit, int(uncertain.sum()), Affinity(affinity))


def _limit(errors: FloatVector) -> float:
    """Return the largest tolerated error: `TOLERANCE`, or more where too many rows exceed that."""
    if len(errors) <= AGAIN:
        return TOLERANCE
    return max(TOLERANCE, float(np.partition(errors, -AGAIN - 1)[-AGAIN - 1]))


def _median_distance(values: Matrix, seed: Seed) -> float:
    """Return the median distance between rows of a sample that differ; 1 where none do."""
    rows = values[seed.generator().permutation(len(values))[:MEDIAN_ROWS]].astype(np.float64)
    rows -= rows.mean(axis=0)
    squares = np.einsum("ij,ij->i", rows, rows)
    distances = squares[:, None] + squares - 2 * rows @ rows.T
    # Equal rows are left out, else a table of many duplicates has no width at all; rounding errors are not distances.
    apart = distances[distances > 1e-9 * squares.max()]
    return float(np.sqrt(np.median(apart))) if len(apart) else 1.0

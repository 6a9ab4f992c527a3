"""Cross-validation of PU-AUC: one pass over the rows for the moments of each fold, one for the scores of all penalties."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TypeVar

import numpy as np

from pubench import (
    FloatVector,
    IndexVector,
    NotApplicableError,
    PUData,
    Resources,
    Seed,
    blas_threads,
    stratified_folds,
)
from pubench_plugins.methods.pu_auc_risk import Basis, Matrix, Moments, pu_auc_quadratic, pu_auc_risk

Result = TypeVar("Result")

#: Penalties to choose from, the strongest first: it wins ties.
PENALTIES = tuple(np.logspace(1, -3, 10).tolist())
_FOLDS = 5
#: Each training part needs two labelled rows: R_PP is about pairs of them.
_FEWEST_LABELLED = 3
#: Number of values of phi that a thread holds at a time.
_BLOCK_VALUES = 2**20


@dataclass(frozen=True, eq=False)
class PUFold:
    """Row numbers of a part of the table, the labelled ones and the others; at least one of each."""

    labelled: IndexVector
    unlabeled: IndexVector


@dataclass(frozen=True, eq=False)
class FoldMoments:
    """What a part of the table contributes to the risk."""

    labelled: Moments
    unlabeled: Moments

    def __add__(self, other: "FoldMoments") -> "FoldMoments":
        return FoldMoments(self.labelled + other.labelled, self.unlabeled + other.unlabeled)

    def minimisers(self, prior: float, penalties: Sequence[float]) -> Matrix:
        """Return the solution for each penalty: shape (n_penalties, n_functions)."""
        return pu_auc_quadratic(self.labelled, self.unlabeled, prior).minimisers(penalties)


@dataclass(frozen=True, eq=False)
class PenaltyCandidate:
    """One basis and penalty, with its cross-validated risk.

    Attributes:
        basis: the functions.
        penalty: lambda.
        risk: the mean over folds of the 0-1 risk.
        moments: of all rows, for the final solution.
    """

    basis: Basis
    penalty: float
    risk: float
    moments: FoldMoments


@dataclass(frozen=True, eq=False)
class Validation:
    """A table in folds.

    Attributes:
        values: shape (n_rows, n_features), the embedded rows.
        folds: disjoint parts that make up all rows.
        prior: the share of positives among unlabeled rows.
    """

    values: Matrix
    folds: Sequence[PUFold]
    prior: float

    @classmethod
    def of(cls, data: PUData, prior: float, seed: Seed) -> "Validation":
        """Divide embedded rows into five folds, or as many as there are labelled rows if that is less.

        Raises:
            NotApplicableError: fewer than three labelled rows, or two unlabeled ones.
        """
        unlabeled = data.X.n_rows - data.n_labelled
        if data.n_labelled < _FEWEST_LABELLED or unlabeled < 2:
            raise NotApplicableError(
                f"pu-auc needs {_FEWEST_LABELLED} labelled and 2 unlabeled rows at least; "
                f"there are {data.n_labelled} and {unlabeled}."
            )
        splits = stratified_folds(data.s, min(_FOLDS, data.n_labelled, unlabeled), seed)
        parts = [PUFold(rows[data.s[rows]], rows[~data.s[rows]]) for rows in (split.test for split in splits)]
        return cls(data.X.values, parts, prior)

    def candidates(self, bases: Sequence[Basis], resources: Resources) -> Iterator[PenaltyCandidate]:
        """Yield every basis with every penalty, with its cross-validated risk.

        Folds are computed in parallel, each by one thread: results do not depend on the number of threads.
        """
        for number, basis in enumerate(bases):
            part = resources.part(number / len(bases), (number + 1) / len(bases))
            yield from self._validated(basis, part)

    def _validated(self, basis: Basis, resources: Resources) -> Iterator[PenaltyCandidate]:
        numbers = range(len(self.folds))
        moments = _side_by_side(lambda fold: self._moments(fold, basis), numbers, resources.part(0.0, 0.5))

        def risks(fold: int) -> FloatVector:
            others = reduce(add, moments[:fold] + moments[fold + 1 :])
            return self._risks(fold, basis, others.minimisers(self.prior, PENALTIES))

        means = np.mean(_side_by_side(risks, numbers, resources.part(0.5, 1.0)), axis=0)
        for penalty, risk in zip(PENALTIES, means.tolist(), strict=True):
            yield PenaltyCandidate(basis, penalty, risk, reduce(add, moments))

    def _moments(self, fold: int, basis: Basis) -> FoldMoments:
        size = basis.size(self.values.shape[1])

        def total(rows: IndexVector) -> Moments:
            return sum((Moments.of(phi) for phi in self._phi(rows, basis)), start=Moments.none(size))

        return FoldMoments(total(self.folds[fold].labelled), total(self.folds[fold].unlabeled))

    def _risks(self, fold: int, basis: Basis, weights: Matrix) -> FloatVector:
        """Return the risk on the rows of a fold of each row of `weights`."""

        def scores(rows: IndexVector) -> Matrix:
            return np.concatenate([phi @ weights.T for phi in self._phi(rows, basis)])

        labelled, unlabeled = scores(self.folds[fold].labelled), scores(self.folds[fold].unlabeled)
        found = [pu_auc_risk(*pair, self.prior) for pair in zip(labelled.T, unlabeled.T, strict=True)]
        return np.array(found)

    def _phi(self, rows: IndexVector, basis: Basis) -> Iterator[Matrix]:
        step = max(1, _BLOCK_VALUES // basis.size(self.values.shape[1]))
        for start in range(0, len(rows), step):
            yield basis(self.values[rows[start : start + step]])


def _side_by_side(work: Callable[[int], Result], tasks: Sequence[int], resources: Resources) -> list[Result]:
    """Return `work` of each task, in order."""
    results: list[Result] = []
    with blas_threads(1), ThreadPoolExecutor(resources.n_threads) as pool:
        try:
            for result in pool.map(work, tasks):
                results.append(result)
                resources.progress(len(results) / len(tasks))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return results

"""The mathematics of PU-AUC: basis functions, their moments, the closed form, and the risk that validation uses.

Sakai, Niu and Sugiyama 2018, "Semi-supervised AUC optimization based on positive-unlabeled learning". For
g(x) = w' phi(x) and the squared loss of a pair, l(m) = (1 - m)^2, the risk of ranking positives above negatives is

    R = (R_PU - th R_PP) / (1 - th)

where th is the share of positives among unlabeled rows, R_PU the mean loss of g(p) - g(u) over labelled and unlabeled
rows, and R_PP that of g(p) - g(q) over pairs of different labelled rows. R is quadratic in w, and all that it needs of the
rows are the means and the second moments of phi.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench import FloatVector

Matrix: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Basis:
    """The functions phi whose weighted sum is the score.

    Attributes:
        centres: shape (n_centres, n_features), float64: of Gaussian functions; None: the features themselves.
        sigma: the width of the Gaussians; 1 without them.
    """

    centres: Matrix | None = None
    sigma: float = 1.0

    def __call__(self, values: Matrix) -> Matrix:
        """Return phi of each row of `values`: shape (n_rows, n_functions), float64.

        exp(-|x - c|^2 / (2 sigma^2)) for each centre c, or x.
        """
        X = values.astype(np.float64)
        if self.centres is None:
            return X
        squares = X @ (-2 * self.centres.T)
        squares += np.einsum("ij,ij->i", X, X)[:, None]
        squares += np.einsum("ij,ij->i", self.centres, self.centres)
        np.maximum(squares, 0, out=squares)  # rounding can put a row that is a centre below 0
        squares /= -2 * self.sigma**2
        return np.asarray(np.exp(squares, out=squares))

    def size(self, n_features: int) -> int:
        """Return the number of functions."""
        return n_features if self.centres is None else len(self.centres)


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over rows, in float64; the sums of several parts of a table can be added.

    Attributes:
        count: the number of rows.
        first: shape (n_functions,): the sum of phi.
        second: shape (n_functions, n_functions): the sum of phi phi'.
    """

    count: int
    first: FloatVector
    second: Matrix

    @classmethod
    def none(cls, size: int) -> Self:
        """Return the moments of no rows."""
        return cls(0, np.zeros(size), np.zeros((size, size)))

    @classmethod
    def of(cls, phi: Matrix) -> Self:
        """Return the moments of a block of rows."""
        return cls(len(phi), phi.sum(axis=0), phi.T @ phi)

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(self.count + other.count, self.first + other.first, self.second + other.second)

    @property
    def mean(self) -> FloatVector:
        """The mean of phi: m."""
        return self.first / self.count

    @property
    def mean_square(self) -> Matrix:
        """The mean of phi phi': H."""
        return self.second / self.count


@dataclass(frozen=True, eq=False)
class Quadratic:
    """The risk as a function of w: w'Kw - 2 r'w + 1.

    Attributes:
        curvature: K, shape (n_functions, n_functions), symmetric.
        slope: r, shape (n_functions,).
    """

    curvature: Matrix
    slope: FloatVector

    def minimisers(self, penalties: Sequence[float]) -> Matrix:
        """Return the w that minimises the risk + lambda w'w for each penalty lambda: shape (n_penalties, n_functions).

        w = (K + lambda I)^-1 r, by one decomposition for all penalties. K estimates a mean of squares, which is never
        negative, but as a difference of two estimates it can be, with few labelled rows or a large prior: what is
        negative counts as 0, else the closed form would be a saddle.
        """
        values, vectors = np.linalg.eigh(self.curvature)
        along = self.slope @ vectors
        return np.stack([vectors @ (along / (np.maximum(values, 0) + penalty)) for penalty in penalties])


def pu_auc_quadratic(labelled: Moments, unlabeled: Moments, prior: float) -> Quadratic:
    """Return the risk from the moments of at least two labelled rows and of unlabeled ones.

    K_pu = H_P - m_P m_U' - m_U m_P' + H_U,  K_pp = 2 (H_P - m_P m_P') n_P / (n_P - 1), whose factor leaves out the pairs
    of a row with itself; K = (K_pu - th K_pp) / (1 - th) and r = (m_P - m_U) / (1 - th).
    """
    cross = np.outer(labelled.mean, unlabeled.mean)
    mixed = labelled.mean_square - cross - cross.T + unlabeled.mean_square
    spread = labelled.mean_square - np.outer(labelled.mean, labelled.mean)
    among = 2 * spread * labelled.count / (labelled.count - 1)
    return Quadratic((mixed - prior * among) / (1 - prior), (labelled.mean - unlabeled.mean) / (1 - prior))


def pu_auc_risk(labelled: FloatVector, unlabeled: FloatVector, prior: float) -> float:
    """Return the PU-AUC risk of scores by the 0-1 loss, ties half: (L_PU - th L_PP) / (1 - th), in O(n log n).

    L_PP is 1/2 for any scores: of two different labelled rows one is above the other, or they tie. With the pairs of a
    row with itself, as (sum over all pairs / (n_P (n_P - 1)) - 1 / (2 (n_P - 1))), it is the same.
    """
    ordered = np.sort(unlabeled)
    above = len(ordered) - np.searchsorted(ordered, labelled, side="left")
    strictly_above = len(ordered) - np.searchsorted(ordered, labelled, side="right")
    lost = float(np.mean(above + strictly_above)) / (2 * len(ordered))
    return (lost - prior / 2) / (1 - prior)

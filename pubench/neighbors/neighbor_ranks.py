"""The result of a search: the ranks of labelled positives among the nearest rows of each row."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pubench.errors import DataError, ParameterError
from pubench.types import Arrays, FloatVector, IndexVector, read_only


@dataclass(frozen=True, eq=False)
class PositiveNeighbors:
    """The ranks of labelled positives among the `k_max` nearest rows of each row, in a compact form.

    The entries of row r, in `ranks` and in `positives`, are at `starts[r]:starts[r + 1]`, by rank. Most rows have
    none.

    Attributes:
        starts: shape (n_rows + 1,), int64.
        ranks: shape (n_entries,), int32, from 1 to `k_max`; 1 is the nearest row.
        positives: shape (n_entries,), int64; the row number of the labelled positive that has this rank.
        k_max: number of neighbours that were searched; less than requested where there are fewer rows.
    """

    starts: IndexVector
    ranks: npt.NDArray[np.int32]
    positives: IndexVector
    k_max: int

    def __post_init__(self) -> None:
        for name in ("starts", "ranks", "positives"):
            values = np.asarray(getattr(self, name))
            if values.ndim != 1 or values.dtype.kind not in "iu":
                raise DataError(f"The {name} of neighbours must be a vector of whole numbers.")
            object.__setattr__(self, name, read_only(values))
        starts, ranks = self.starts, self.ranks
        fits = len(starts) > 0 and starts[0] == 0 and starts[-1] == len(ranks) == len(self.positives)
        if not fits or np.any(np.diff(starts) < 0):
            raise DataError("The entries of neighbours do not fit their starts.")
        inside = np.ones(len(ranks), dtype=np.bool_)
        inside[starts[:-1][starts[:-1] < len(ranks)]] = False
        ascending = np.diff(ranks, prepend=0) > 0
        if np.any(ranks < 1) or np.any(ranks > self.k_max) or not np.all(ascending[inside]):
            raise DataError(f"Ranks of neighbours lie in 1..{self.k_max} and ascend within a row.")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.starts) - 1

    def of(self, row: int) -> tuple[npt.NDArray[np.int32], IndexVector]:
        """Return (ranks, positives) of one row: its labelled neighbours, nearest first.

        Raises:
            ParameterError: there is no such row.
        """
        if not 0 <= row < self.n_rows:
            raise ParameterError(f"Rows are counted from 0 to {self.n_rows - 1}; got {row}.")
        entries = slice(self.starts[row], self.starts[row + 1])
        return self.ranks[entries], self.positives[entries]

    def credibility(self, k: int) -> FloatVector:
        """Return Cred_k, the share of labelled positives among the k nearest rows: shape (n_rows,), in [0, 1].

        0 for rows that were not searched around, such as the labelled ones.

        Raises:
            ParameterError: k is not in 1..k_max.
        """
        if not 1 <= k <= self.k_max:
            raise ParameterError(
                f"k is a whole number from 1 to {self.k_max}, the neighbours searched; got {k}."
            )
        # Sums of 0 and 1 below 2**53 are exact, so that the share is the nearest float64 to the true one.
        counted = np.concatenate([[0], np.cumsum(self.ranks <= k)])
        return np.asarray((counted[self.starts[1:]] - counted[self.starts[:-1]]) / k, dtype=np.float64)

    def expected_positives(self) -> FloatVector:
        """Return E_k for k = 1..k_max, the sum of Cred_k over all rows: shape (k_max,)."""
        at_rank = np.bincount(self.ranks, minlength=self.k_max + 1)[1:]
        return np.asarray(np.cumsum(at_rank) / np.arange(1, self.k_max + 1), dtype=np.float64)

    def to_arrays(self) -> Arrays:
        """Return everything as arrays, for a cache."""
        return {
            "starts": self.starts,
            "ranks": self.ranks,
            "positives": self.positives,
            "k_max": np.asarray(self.k_max),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> "PositiveNeighbors":
        """Return the neighbours that `to_arrays` wrote.

        Raises:
            DataError: the arrays hold something else.
        """
        missing = {"starts", "ranks", "positives", "k_max"}.difference(arrays)
        if missing:
            raise DataError(f"Neighbours lack {', '.join(sorted(missing))}.")
        return cls(arrays["starts"], arrays["ranks"], arrays["positives"], int(arrays["k_max"]))

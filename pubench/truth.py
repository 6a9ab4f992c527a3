"""The sealed truth: which rows really are positive.

This is a module of its own so that "label-free" is a fact of the import graph. Nothing that trains, tunes or
selects can reach it, directly or through others; `pyproject.toml` states that and a test checks it.
"""

from dataclasses import dataclass

import numpy as np

from pubench.errors import DataError
from pubench.types import BoolVector, IndexVector, read_only


@dataclass(frozen=True, eq=False, repr=False)
class Truth:
    """True labels, opened by evaluation alone.

    Attributes:
        y: shape (n_rows,), bool: True for a positive row. Not shown by `repr`, so that no log carries it.
    """

    y: BoolVector

    def __post_init__(self) -> None:
        y = np.asarray(self.y, dtype=np.bool_)
        if y.ndim != 1:
            raise DataError(f"True labels must be one-dimensional; they have shape {y.shape}.")
        object.__setattr__(self, "y", read_only(y))

    def __repr__(self) -> str:
        return "Truth(sealed)"

    def take(self, rows: IndexVector) -> "Truth":
        """Return the truth of the given rows, in the given order."""
        return Truth(self.y[rows])

"""The sealed truth: the true labels.

It is a module of its own so that "label-free" is a fact of the import graph: nothing that trains, tunes or selects
can import it, directly or through others. `pyproject.toml` states that and a test checks it.
"""

from dataclasses import dataclass

from pubench.types import BoolVector, IndexVector, as_labels


@dataclass(frozen=True, eq=False, repr=False)
class Truth:
    """True labels, which only evaluation reads.

    Attributes:
        y: shape (n_rows,), bool: True for a positive row. Not shown by `repr`, so that no log contains it.
    """

    y: BoolVector

    def __post_init__(self) -> None:
        object.__setattr__(self, "y", as_labels(self.y, "Truth"))

    def __repr__(self) -> str:
        return "Truth(sealed)"

    def take(self, rows: IndexVector) -> "Truth":
        """Return the truth of the given rows, in the given order."""
        return Truth(self.y[rows])

"""The columns of a file of scores: the score, what it means, and why."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pubench.decision.hidden_positives import Hidden, HiddenPositives
from pubench.model.saved import SavedModel
from pubench.model.scored_rows import ScoredRows

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, eq=False)
class PredictColumns:
    """What is written for each row.

    Attributes:
        model: that has scored the rows.
        hidden: number of hidden positives among its training rows; without it there are no probabilities.
        id: the name of the column of row ids; None: row numbers.
        evidence: number of nearest labelled positives to name.
        ranked: the rows are the best ones, best first.
    """

    model: SavedModel
    hidden: Hidden
    id: str | None
    evidence: int
    ranked: bool

    def of(self, rows: ScoredRows) -> "pyarrow.Table":
        """Return the columns of these rows."""
        import pyarrow  # noqa: PLC0415 - heavy imports happen when used

        columns = {"score": pyarrow.array(rows.scores), **self._meaning(rows)}
        if self.ranked:
            columns["rank"] = pyarrow.array(np.arange(1, len(rows.scores) + 1))
        columns |= self._evidence(rows)
        name = self.id
        if name is None or rows.ids is None:
            return pyarrow.table({"row": pyarrow.array(rows.rows), **columns})
        return pyarrow.table({"id" if name in columns else name: rows.ids, **columns})

    def _meaning(self, rows: ScoredRows) -> dict[str, "pyarrow.Array"]:
        import pyarrow  # noqa: PLC0415 - heavy imports happen when used

        calibration = self.model.calibration
        if calibration is None:
            return {}
        columns = {"share": pyarrow.array(calibration.shares(rows.scores))}
        if isinstance(self.hidden, HiddenPositives):
            columns["probability"] = pyarrow.array(calibration.probabilities(rows.scores, self.hidden))
        return columns

    def _evidence(self, rows: ScoredRows) -> dict[str, "pyarrow.Array"]:
        import pyarrow  # noqa: PLC0415 - heavy imports happen when used

        columns: dict[str, pyarrow.Array] = {}
        if self.evidence and self.model.evidence is not None:
            nearest = self.model.evidence.nearest(rows.X, self.evidence)
            for number in range(nearest.positives.shape[1]):
                names = self.model.evidence.names_of(nearest.positives[:, number])
                columns[f"nearest_{number + 1}"] = pyarrow.array(names)
                columns[f"distance_{number + 1}"] = pyarrow.array(nearest.distances[:, number])
        return columns

"""The final models on the holdout, rows that the search never saw."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from pubench.api.method import FittedMethod
from pubench.configuration.configuration import Configuration
from pubench.metrics.comparison import AULComparison, compare_aul
from pubench.metrics.intervals import AULInterval
from pubench.types import BoolVector, FloatVector, PUData

TUNED = "tuned"
DEFAULT = "default"


@dataclass(frozen=True, eq=False)
class Contender:
    """A configuration that was trained on all rows of the search and judged on the holdout.

    Attributes:
        configuration: in full, not as a draft.
        fitted: the model.
        scores: of the rows of the holdout.
        interval: of its AUL_PU on the holdout.
        seconds: time that training took.
        is_cut: it has fewer members than its configuration asked for, because the time ran out.
    """

    configuration: Configuration
    fitted: FittedMethod
    scores: FloatVector
    interval: AULInterval
    seconds: float
    is_cut: bool = False


@dataclass(frozen=True, eq=False)
class ShippedModel:
    """The model that a run leaves: the tuned configuration on all rows, or its twin on the rows of the search.

    Attributes:
        configuration: that gives this model again.
        fitted: the model.
        data: the rows that it was trained on.
        own_scores: of these rows, by models that were not trained on them; None with fewer than two labelled rows.
        seconds: time that training and these scores took.
    """

    configuration: Configuration
    fitted: FittedMethod
    data: PUData
    own_scores: FloatVector | None
    seconds: float


@dataclass(frozen=True, eq=False)
class HoldoutResult:
    """The final models on the holdout.

    Attributes:
        contenders: by name, `tuned` first.
        comparisons: of the tuned model with each of the others, by name; without those of an equal configuration.
        n_labelled: number of labelled rows in the holdout.
    """

    contenders: Mapping[str, Contender]
    comparisons: Mapping[str, AULComparison]
    n_labelled: int

    @classmethod
    def of(cls, contenders: Mapping[str, Contender], s: BoolVector) -> Self:
        """Compare the tuned contender with each of the others; those of an equal configuration are left out.

        Args:
            contenders: by name, `tuned` among them; two of an equal configuration are one object.
            s: which rows of the holdout are labelled.
        """
        tuned = contenders[TUNED]
        comparisons = {
            name: compare_aul(s, tuned.scores, contender.scores)
            for name, contender in contenders.items()
            if contender is not tuned
        }
        return cls(contenders, comparisons, int(s.sum()))

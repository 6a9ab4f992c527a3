"""The objective of the search: AUL_PU of a configuration on held-out folds, from PU labels alone."""

from collections.abc import Sequence

import numpy as np

from pubench.crossfit.folds import InnerFold
from pubench.metrics.aul import aul_from_auc_pu
from pubench.types import FloatVector


def fold_aul(placements: FloatVector, fold: InnerFold) -> float:
    """Return AUL_PU on all held-out rows of a fold, whose unlabeled rows are represented by a sample."""
    return aul_from_auc_pu(float(placements.mean()), fold.labelled_share)


def mean_aul(placements: Sequence[FloatVector], folds: Sequence[InnerFold]) -> float:
    """Return the mean AUL_PU over the first folds, as many as there are placements."""
    return float(np.mean([fold_aul(p, fold) for p, fold in zip(placements, folds, strict=False)]))

"""Which features a model's ranking rests on, measured without negatives: permutation importance on AUL_PU.

A column is shuffled among the rows, which keeps its distribution and breaks what it says of them; the drop in AUL_PU is
what the model had from it (Breiman 2001). Features that say the same share it: each alone may be dropped at no cost.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from pubench.metrics.comparison import AULComparison, compare_aul
from pubench.metrics.label_free import aul_pu_score
from pubench.seeds import Seed
from pubench.types import IndexVector, PUData, Resources, Scores, Table

#: What is explained: a fitted method's `score`, say.
Score: TypeAlias = Callable[[Table, Resources], Scores]

#: The standard error of AUL_PU is set by the labelled rows: more unlabeled ones than these cost time and tell nothing.
_UNLABELED_PER_LABELLED = 20
_LEAST_ROWS = 20_000


@dataclass(frozen=True)
class PermutationImportance:
    """What one feature is worth: AUL_PU as it is minus AUL_PU with the feature shuffled, and how sure that is."""

    feature: str
    drop: AULComparison


@dataclass(frozen=True)
class Explanation:
    """What a ranking rests on.

    Attributes:
        aul_pu: of the rows that were looked at, as they are.
        n_rows, n_labelled: how many these were.
        features: in the order of the table.
    """

    aul_pu: float
    n_rows: int
    n_labelled: int
    features: tuple[PermutationImportance, ...]


def permutation_importance(
    score: Score, data: PUData, seed: Seed, resources: Resources, *, confidence: float = 0.95
) -> Explanation:
    """Measure what each feature is worth to a model on rows with PU labels, best rows that it was not trained on.

    All labelled rows and a draw of the others are looked at: 20 per labelled one, and at least 20,000 rows in all. A
    feature's shuffle depends on its name and the seed alone.
    """
    sample = data.take(sampled_rows(data, seed.child("rows")))
    X, s = sample.X, sample.s
    as_it_is = score(X, resources).values
    found = []
    for number, feature in enumerate(X.features):
        order = seed.child("feature", feature.name).generator().permutation(X.n_rows)
        shuffled = score(_shuffled(X, number, order), resources).values
        found.append(PermutationImportance(feature.name, compare_aul(s, as_it_is, shuffled, confidence)))
        resources.progress((number + 1) / X.n_features)
    return Explanation(aul_pu_score(s, as_it_is), X.n_rows, sample.n_labelled, tuple(found))


def sampled_rows(data: PUData, seed: Seed) -> IndexVector:
    """Return all labelled rows and a draw of the others, ascending."""
    labelled, others = np.flatnonzero(data.s), np.flatnonzero(~data.s)
    count = max(_UNLABELED_PER_LABELLED * len(labelled), _LEAST_ROWS - len(labelled))
    drawn = seed.generator().permutation(others)[:count]
    return np.sort(np.concatenate([labelled, drawn]))


def _shuffled(X: Table, column: int, order: IndexVector) -> Table:
    values = X.values.copy()
    values[:, column] = X.values[order, column]
    return Table(values, X.features)

"""Which features a model's ranking depends on, measured without negatives: permutation importance on AUL_PU.

A column is shuffled among the rows, which keeps its distribution but removes its information; the drop in AUL_PU is the
feature's importance (Breiman 2001). Redundant features cover for each other: shuffling one of them may cost nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from pubench.data.label_columns import parse_labels
from pubench.data.new_rows import encode_as
from pubench.data.table_file import open_table
from pubench.metrics.aul import aul_pu_score
from pubench.metrics.comparison import AULComparison, compare_aul
from pubench.seeds import Seed
from pubench.types import Feature, IndexVector, PUData, Resources, Scores, Table

#: The function that is explained, such as the `score` of a fitted method.
ScoreFunction: TypeAlias = Callable[[Table, Resources], Scores]

#: The labelled rows set the standard error of AUL_PU: more unlabeled rows than these cost time and add no precision.
_UNLABELED_PER_LABELLED = 20
_MIN_ROWS = 20_000


@dataclass(frozen=True)
class PermutationImportance:
    """AUL_PU minus AUL_PU with one feature shuffled, with its interval."""

    feature: str
    drop: AULComparison


@dataclass(frozen=True)
class Explanation:
    """The permutation importance of all features.

    Attributes:
        aul_pu: AUL_PU of the sampled rows, nothing shuffled.
        n_rows, n_labelled: number of sampled rows, and of labelled ones among them.
        features: in the order of the table.
    """

    aul_pu: float
    n_rows: int
    n_labelled: int
    features: tuple[PermutationImportance, ...]


def read_labelled(
    path: Path, label: str, positive: str | None, features: tuple[Feature, ...]
) -> tuple[PUData, tuple[str, ...]]:
    """Return the rows of a file with the given features and its label, and notices about them.

    Raises:
        DataError: one sentence that names the file, column or row at fault.
    """
    columns = open_table(path).read([label, *(feature.name for feature in features)])
    X, notices = encode_as(columns, features)
    return PUData(X, parse_labels(columns[label], label, positive)), notices


def permutation_importance(
    score: ScoreFunction, data: PUData, seed: Seed, resources: Resources, *, confidence: float = 0.95
) -> Explanation:
    """Measure the importance of each feature to a model on rows with PU labels, best rows that it was not trained on.

    All labelled rows and a sample of the others are used: 20 per labelled row, and at least 20,000 rows in total. The
    shuffle of a feature depends only on its name and the seed.
    """
    sample = data.take(sampled_rows(data, seed.child("rows")))
    X, s = sample.X, sample.s
    baseline = score(X, resources).values
    importances = []
    for number, feature in enumerate(X.features):
        order = seed.child("feature", feature.name).generator().permutation(X.n_rows)
        shuffled = score(_shuffled(X, number, order), resources).values
        importances.append(
            PermutationImportance(feature.name, compare_aul(s, baseline, shuffled, confidence))
        )
        resources.progress((number + 1) / X.n_features)
    return Explanation(aul_pu_score(s, baseline), X.n_rows, sample.n_labelled, tuple(importances))


def sampled_rows(data: PUData, seed: Seed) -> IndexVector:
    """Return the numbers of all labelled rows and of a sample of the others, ascending."""
    labelled, others = np.flatnonzero(data.s), np.flatnonzero(~data.s)
    count = max(_UNLABELED_PER_LABELLED * len(labelled), _MIN_ROWS - len(labelled))
    drawn = seed.generator().permutation(others)[:count]
    return np.sort(np.concatenate([labelled, drawn]))


def _shuffled(X: Table, column: int, order: IndexVector) -> Table:
    values = X.values.copy()
    values[:, column] = X.values[order, column]
    return Table(values, X.features)

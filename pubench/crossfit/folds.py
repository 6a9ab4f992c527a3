"""The folds on which configurations are compared, the same ones for a whole study.

The labelled positives determine the standard error of AUL_PU. So a trial trains and scores on all labelled rows and on a
sample of the unlabeled ones; similarities are still computed on all rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pubench.data.splits import stratified_folds
from pubench.seeds import Seed
from pubench.types import BoolVector, IndexVector, Split

#: The power of the number of rows that a training takes: a part of it is the same for any number.
GROWTH = 0.8


@dataclass(frozen=True)
class FoldPlan:
    """How configurations are compared.

    Attributes:
        folds: number of folds per repeat, at most.
        repeats: number of times that the rows are divided into folds.
        train_unlabeled: maximum number of unlabeled rows that a trial trains on.
        test_per_labelled: number of unlabeled rows per labelled one that a trial is judged on.
        test_unlabeled: minimum number of unlabeled rows that a trial is judged on.
    """

    folds: int = 5
    repeats: int = 1
    train_unlabeled: int = 30_000
    test_per_labelled: int = 20
    test_unlabeled: int = 20_000


@dataclass(frozen=True, eq=False)
class InnerFold:
    """One fold of the data that a study sees.

    Attributes:
        number: from 0.
        rows: all rows that may be trained on, ascending; similarities are computed on these.
        sample: positions in `rows` that a trial trains on, ascending.
        test: the rows that a trial is judged on, ascending, disjoint from `rows`.
        labelled_share: share of labelled rows among all held-out rows, before sampling.
    """

    number: int
    rows: IndexVector
    sample: IndexVector
    test: IndexVector
    labelled_share: float

    @property
    def is_sampled(self) -> bool:
        """Whether a trial trains on fewer rows than there are."""
        return len(self.sample) < len(self.rows)

    def seconds_for(self, n_rows: float, seconds: float) -> float:
        """Return about how long a training on `n_rows` rows takes that took `seconds` on the sample."""
        return seconds * float(np.power(n_rows / max(1, len(self.sample)), GROWTH))


def inner_folds(s: BoolVector, plan: FoldPlan, seed: Seed) -> tuple[InnerFold, ...]:
    """Return the folds of rows with these labels; fold i depends on `s`, the plan and the seed alone.

    There are fewer folds than planned where there are fewer labelled, or unlabeled, rows: every fold tests one of each.

    Raises:
        DataError: fewer than two labelled, or two unlabeled, rows.
    """
    n_labelled = int(s.sum())
    folds = min(plan.folds, max(2, min(n_labelled, len(s) - n_labelled)))
    splits = stratified_folds(s, folds, seed, plan.repeats)
    return tuple(_inner_folds(s, splits, plan, seed))


def _inner_folds(s: BoolVector, splits: tuple[Split, ...], plan: FoldPlan, seed: Seed) -> Iterator[InnerFold]:
    for number, split in enumerate(splits):
        labelled = int(s[split.test].sum())
        test_unlabeled = max(plan.test_unlabeled, plan.test_per_labelled * labelled)
        test = _sampled(s[split.test], test_unlabeled, seed.child("test", number))
        sample = _sampled(s[split.train], plan.train_unlabeled, seed.child("train", number))
        share = labelled / len(split.test)
        yield InnerFold(number, split.train, sample, split.test[test], share)


def _sampled(s: BoolVector, max_unlabeled: int, seed: Seed) -> IndexVector:
    """Return the positions of all labelled rows and of at most `max_unlabeled` others, ascending."""
    others = np.flatnonzero(~s)
    if len(others) > max_unlabeled:
        others = seed.generator().choice(others, max_unlabeled, replace=False, shuffle=False)
    return np.sort(np.concatenate([np.flatnonzero(s), others]))

"""The folds within which configurations are compared, made once for a whole study.

The standard error of AUL_PU is set by the labelled positives. So a trial trains and scores on all labelled rows and on a
sample of the unlabeled ones; similarities are still taken from all rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pubench.data.splits import stratified_folds
from pubench.seeds import Seed
from pubench.types import BoolVector, IndexVector, Split


@dataclass(frozen=True)
class Plan:
    """How configurations are compared.

    Attributes:
        folds: per repeat.
        repeats: of the folding.
        train_unlabeled: a trial trains on at most so many unlabeled rows.
        test_per_labelled: it is judged on so many unlabeled rows per labelled one, and on no fewer than
            `test_unlabeled`.
        test_unlabeled: see above.
    """

    folds: int = 3
    repeats: int = 1
    train_unlabeled: int = 30_000
    test_per_labelled: int = 20
    test_unlabeled: int = 20_000


@dataclass(frozen=True, eq=False)
class InnerFold:
    """One fold of the data that a study sees.

    Attributes:
        number: its number, from 0.
        rows: all rows that may be trained on, ascending; similarities are taken from these.
        sample: which of `rows` a trial trains on: positions, ascending.
        test: the rows it is judged on, ascending, disjoint from `rows`.
        labelled_share: of labelled rows among all rows held out, before sampling.
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


def inner_folds(s: BoolVector, plan: Plan, seed: Seed) -> tuple[InnerFold, ...]:
    """Return the folds of rows with these labels; fold i is the same whatever is asked of the others."""
    splits = stratified_folds(s, plan.folds, seed, plan.repeats)
    return tuple(_inner_folds(s, splits, plan, seed))


def _inner_folds(s: BoolVector, splits: tuple[Split, ...], plan: Plan, seed: Seed) -> Iterator[InnerFold]:
    for number, split in enumerate(splits):
        labelled = int(s[split.test].sum())
        wanted = max(plan.test_unlabeled, plan.test_per_labelled * labelled)
        test = _sampled(s[split.test], wanted, seed.child("test", number))
        sample = _sampled(s[split.train], plan.train_unlabeled, seed.child("train", number))
        share = labelled / len(split.test)
        yield InnerFold(number, split.train, sample, split.test[test], share)


def _sampled(s: BoolVector, unlabeled: int, seed: Seed) -> IndexVector:
    """Return the places of all labelled rows and of at most so many others, ascending."""
    others = np.flatnonzero(~s)
    if len(others) > unlabeled:
        others = seed.generator().choice(others, unlabeled, replace=False, shuffle=False)
    return np.sort(np.concatenate([np.flatnonzero(s), others]))

"""Splits of PU data, stratified by the observed labels; the truth is not used."""

import numpy as np

from pubench.errors import DataError, ParameterError
from pubench.seeds import Seed
from pubench.types import BoolVector, IndexVector, Split


def stratified_folds(s: BoolVector, folds: int, seed: Seed, repeats: int = 1) -> tuple[Split, ...]:
    """Return `folds` x `repeats` splits; within a repeat every row is in exactly one test set.

    The numbers of labelled and of unlabeled rows differ by at most one between folds. Repeat r is the same whatever
    the number of repeats.

    Raises:
        ParameterError: fewer than 2 folds or 1 repeat.
        DataError: fewer labelled, or unlabeled, rows than folds.
    """
    if folds < 2 or repeats < 1:
        raise ParameterError(f"At least 2 folds and 1 repeat are needed; got {folds} and {repeats}.")
    for name, count in (("labelled positives", int(s.sum())), ("unlabeled rows", int((~s).sum()))):
        if count < folds:
            raise DataError(f"{folds} folds need as many {name}; there are {count}.")
    return tuple(
        split
        for repeat in range(repeats)
        for split in _one_repeat(s, folds, seed.child("folds", folds, repeat))
    )


def holdout(s: BoolVector, share: float, seed: Seed) -> Split:
    """Return one split with about `share` of the labelled and of the unlabeled rows to test on, at least one of each.

    Raises:
        ParameterError: `share` is not between 0 and 1.
        DataError: fewer than two labelled or two unlabeled rows.
    """
    if not 0 < share < 1:
        raise ParameterError(f"A holdout is a share between 0 and 1; got {share:g}.")
    tested = np.zeros(len(s), dtype=np.bool_)
    for name, rows in _kinds(s):
        if len(rows) < 2:
            raise DataError(f"A holdout needs at least two rows of each kind; there are {len(rows)} {name}.")
        count = min(max(1, round(share * len(rows))), len(rows) - 1)
        tested[seed.child("holdout", name).generator().permutation(rows)[:count]] = True
    return Split(np.flatnonzero(~tested), np.flatnonzero(tested))


def _one_repeat(s: BoolVector, folds: int, seed: Seed) -> list[Split]:
    fold = np.empty(len(s), dtype=np.int64)
    for name, rows in _kinds(s):
        fold[seed.child(name).generator().permutation(rows)] = np.arange(len(rows)) % folds
    return [Split(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(folds)]


def _kinds(s: BoolVector) -> list[tuple[str, IndexVector]]:
    return [("labelled", np.flatnonzero(s)), ("unlabeled", np.flatnonzero(~s))]

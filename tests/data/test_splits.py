"""Folds and holdouts: each row once, strata even, streams independent."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubench.data.splits import holdout, stratified_folds
from pubench.errors import DataError, ParameterError
from pubench.seeds import Seed


def labels(labelled: int, unlabeled: int) -> np.ndarray:
    return np.random.default_rng(labelled).permutation(np.arange(labelled + unlabeled) < labelled)


@given(st.integers(2, 6), st.integers(6, 40), st.integers(6, 60), st.integers(1, 3))
def test_every_row_is_tested_once_and_strata_are_even(
    folds: int, labelled: int, unlabeled: int, repeats: int
) -> None:
    s = labels(labelled, unlabeled)
    splits = stratified_folds(s, folds, Seed(0), repeats)
    assert len(splits) == folds * repeats
    for repeat in range(repeats):
        tested = [split.test for split in splits[repeat * folds : (repeat + 1) * folds]]
        np.testing.assert_array_equal(np.sort(np.concatenate(tested)), np.arange(len(s)))
        counts = [int(s[test].sum()) for test in tested]
        assert max(counts) - min(counts) <= 1
    for split in splits:
        assert len(split.train) + len(split.test) == len(s)


def test_a_repeat_does_not_depend_on_how_many_there_are() -> None:
    s = labels(20, 80)
    one, three = stratified_folds(s, 4, Seed(1)), stratified_folds(s, 4, Seed(1), repeats=3)
    for single, among in zip(one, three, strict=False):
        np.testing.assert_array_equal(single.test, among.test)
    assert (three[0].test != three[4].test).any()


@pytest.mark.parametrize(("labelled", "unlabeled"), [(2, 50), (50, 2)])
def test_too_few_rows_of_a_kind_are_refused(labelled: int, unlabeled: int) -> None:
    with pytest.raises(DataError, match="3 folds need as many"):
        stratified_folds(labels(labelled, unlabeled), 3, Seed(0))


@pytest.mark.parametrize(("folds", "repeats"), [(1, 1), (3, 0)])
def test_impossible_numbers_are_refused(folds: int, repeats: int) -> None:
    with pytest.raises(ParameterError, match="At least 2 folds"):
        stratified_folds(labels(9, 9), folds, Seed(0), repeats)


@given(st.integers(2, 30), st.integers(2, 60), st.floats(0.01, 0.99))
def test_a_holdout_has_both_kinds_on_both_sides(labelled: int, unlabeled: int, share: float) -> None:
    s = labels(labelled, unlabeled)
    split = holdout(s, share, Seed(5))
    for rows in (split.train, split.test):
        assert s[rows].any()
        assert not s[rows].all()
    assert abs(s[split.test].sum() - share * labelled) <= 1


def test_an_impossible_holdout_is_refused() -> None:
    with pytest.raises(ParameterError, match="between 0 and 1"):
        holdout(labels(5, 5), 1.0, Seed(0))
    with pytest.raises(DataError, match="1 labelled"):
        holdout(labels(1, 5), 0.5, Seed(0))

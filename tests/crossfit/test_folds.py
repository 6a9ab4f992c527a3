"""Folds within which configurations are compared."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubench.crossfit.folds import FoldPlan, inner_folds
from pubench.errors import DataError
from pubench.seeds import Seed


@settings(max_examples=40)
@given(
    rows=st.integers(60, 3000),
    labelled=st.integers(6, 30),
    train=st.integers(5, 2000),
    test=st.integers(1, 200),
    repeats=st.integers(1, 3),
)
def test_folds_keep_every_labelled_row_and_sample_the_others(
    rows: int, labelled: int, train: int, test: int, repeats: int
) -> None:
    s = np.zeros(rows, dtype=bool)
    s[Seed(1).generator().permutation(rows)[:labelled]] = True
    plan = FoldPlan(3, repeats, train_unlabeled=train, test_per_labelled=2, test_unlabeled=test)
    folds = inner_folds(s, plan, Seed(0))
    assert [fold.number for fold in folds] == list(range(3 * repeats))
    for fold in folds:
        trained = fold.rows[fold.sample]
        assert not set(fold.rows) & set(fold.test)
        assert s[trained].sum() == s[fold.rows].sum()
        assert (~s[trained]).sum() == min(train, (~s[fold.rows]).sum())
        assert s[fold.test].sum() == labelled - s[fold.rows].sum()
        held_out = rows - len(fold.rows)
        wanted = max(test, 2 * int(s[fold.test].sum()))
        assert (~s[fold.test]).sum() == min(wanted, held_out - s[fold.test].sum())
        assert fold.labelled_share == s[fold.test].sum() / held_out
        assert np.all(np.diff(trained) > 0)
        assert np.all(np.diff(fold.test) > 0)
        assert fold.is_sampled == (len(trained) < len(fold.rows))


def test_the_same_seed_gives_the_same_folds() -> None:
    s = np.arange(500) < 20
    plan = FoldPlan(train_unlabeled=50, test_unlabeled=20, test_per_labelled=1)
    first, again, other = (inner_folds(s, plan, Seed(seed)) for seed in (0, 0, 1))
    assert all(np.array_equal(a.sample, b.sample) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a.test, b.test) for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize(("labelled", "expected"), [(2, 2), (3, 3), (5, 5), (9, 5)])
def test_few_labelled_rows_give_fewer_folds(labelled: int, expected: int) -> None:
    s = np.arange(50) < labelled
    folds = inner_folds(s, FoldPlan(5), Seed(0))
    assert len(folds) == expected
    assert all(s[fold.test].any() and s[fold.rows].any() for fold in folds)


def test_one_labelled_row_is_too_few() -> None:
    with pytest.raises(DataError, match="2 folds need as many labelled positives; there are 1"):
        inner_folds(np.arange(50) < 1, FoldPlan(5), Seed(0))

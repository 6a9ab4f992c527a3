"""What a search found: shares and their sums follow from the ranks, and arrays keep all of it."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubench.errors import DataError, ParameterError
from pubench.neighbors.neighbor_ranks import PositiveNeighbors
from pubench.neighbors.search import positive_neighbors
from pubench.types import BoolVector

Array = npt.NDArray[Any]


def searched(
    rows: int = 400, positives: int = 60, k_max: int = 30
) -> tuple[Array, BoolVector, PositiveNeighbors]:
    generator = np.random.default_rng(1)
    X, s = generator.standard_normal((rows, 3)), np.arange(rows) % (rows // positives) == 0
    return X, s, positive_neighbors(X, s, k_max, n_threads=1)


def made(*ranks: list[int], k_max: int = 5) -> PositiveNeighbors:
    """One row per list of ranks; the positives are called 100, 101, ..."""
    entries = np.array([rank for row in ranks for rank in row], dtype=np.int32)
    starts = np.cumsum([0, *(len(row) for row in ranks)])
    return PositiveNeighbors(starts, entries, 100 + np.arange(len(entries)), k_max)


@pytest.mark.parametrize("k", [1, 2, 7, 30])
def test_credibility_is_the_share_of_labelled_rows_among_the_k_nearest(k: int) -> None:
    X, s, found = searched()
    credibility = found.credibility(k)
    assert credibility.dtype == np.float64
    for row in np.flatnonzero(~s):
        squares = ((X - X[row]) ** 2).sum(axis=1)
        squares[row] = np.inf
        assert credibility[row] == s[np.argsort(squares)[:k]].sum() / k


def test_credibility_counts_the_ranks_up_to_k() -> None:
    found = made([1, 3], [], [5], [1, 2, 3, 4, 5])
    np.testing.assert_array_equal(found.credibility(1), [1, 0, 0, 1])
    np.testing.assert_array_equal(found.credibility(2), [1 / 2, 0, 0, 1])
    np.testing.assert_array_equal(found.credibility(3), [2 / 3, 0, 0, 1])
    np.testing.assert_array_equal(found.credibility(5), [2 / 5, 0, 1 / 5, 1])


def test_labelled_rows_have_neither_neighbours_nor_credibility() -> None:
    _, s, found = searched()
    for k in range(1, found.k_max + 1):
        assert not found.credibility(k)[s].any()
    for row in np.flatnonzero(s):
        assert len(found.of(int(row))[0]) == 0


def test_expected_positives_are_the_sums_of_credibility() -> None:
    *_, found = searched()
    expected = found.expected_positives()
    assert expected.shape == (30,)
    assert expected.dtype == np.float64
    for k in range(1, 31):
        assert expected[k - 1] == pytest.approx(found.credibility(k).sum(), rel=1e-12)


@given(st.lists(st.sets(st.integers(1, 12)), max_size=20))
@settings(deadline=None)
def test_every_set_of_ranks_gives_shares_and_their_sums(ranks: list[set[int]]) -> None:
    found = made(*(sorted(row) for row in ranks), k_max=12)
    expected = found.expected_positives()
    assert found.n_rows == len(ranks)
    for k in range(1, 13):
        credibility = found.credibility(k)
        np.testing.assert_array_equal(credibility, [sum(rank <= k for rank in row) / k for row in ranks])
        assert expected[k - 1] == pytest.approx(credibility.sum())
        assert np.all((credibility >= 0) & (credibility <= 1))


@pytest.mark.parametrize("k", [0, -1, 6])
def test_k_stays_within_what_was_looked_at(k: int) -> None:
    with pytest.raises(ParameterError, match=f"from 1 to 5, .*; got {k}"):
        made([1]).credibility(k)


def test_a_row_tells_its_labelled_neighbours_nearest_first() -> None:
    X, s, found = searched()
    for row in (1, 2, 399):
        ranks, positives = found.of(row)
        assert np.all(np.diff(ranks) > 0)
        assert s[positives].all()
        squares = ((X - X[row]) ** 2).sum(axis=1)
        squares[row] = np.inf
        np.testing.assert_array_equal(np.argsort(squares)[ranks - 1], positives)


def test_of_gives_the_entries_of_one_row() -> None:
    found = made([1, 3], [], [5])
    for row, ranks, positives in ((0, [1, 3], [100, 101]), (1, [], []), (2, [5], [102])):
        np.testing.assert_array_equal(found.of(row)[0], ranks)
        np.testing.assert_array_equal(found.of(row)[1], positives)
    for nowhere in (3, -1):
        with pytest.raises(ParameterError, match=rf"from 0 to 2; got {nowhere}"):
            found.of(nowhere)


def test_no_rows_and_no_entries_are_results_too() -> None:
    assert made().n_rows == 0
    assert len(made().credibility(3)) == 0
    np.testing.assert_array_equal(made([], []).credibility(5), [0, 0])
    np.testing.assert_array_equal(made([], []).expected_positives(), np.zeros(5))


@pytest.mark.parametrize("name", ["starts", "ranks", "positives"])
def test_arrays_are_read_only_and_the_makers_stay_writable(name: str) -> None:
    arrays = {"starts": np.array([0, 1]), "ranks": np.array([2], np.int32), "positives": np.array([7])}
    found = PositiveNeighbors(**arrays, k_max=3)
    for holder in (found, searched()[2]):
        with pytest.raises(ValueError, match="read-only"):
            getattr(holder, name)[0] = 1
    arrays[name][0] = 1


def test_arrays_have_the_types_that_are_promised() -> None:
    *_, found = searched()
    assert [str(array.dtype) for array in (found.starts, found.ranks, found.positives)] == [
        "int64",
        "int32",
        "int64",
    ]
    assert found.ranks.min() >= 1
    assert found.ranks.max() <= found.k_max


def test_arrays_keep_all_of_it() -> None:
    *_, found = searched()
    arrays = found.to_arrays()
    again = PositiveNeighbors.from_arrays(arrays)
    assert again.k_max == found.k_max
    assert type(again.k_max) is int
    for name in ("starts", "ranks", "positives"):
        kept = getattr(again, name)
        np.testing.assert_array_equal(kept, getattr(found, name))
        assert kept.dtype == getattr(found, name).dtype
    np.testing.assert_array_equal(again.credibility(7), found.credibility(7))


@pytest.mark.parametrize(
    "wrong",
    [
        {"starts": np.array([], np.int64)},
        {"starts": np.array([[0, 2, 3]])},
        {"starts": np.array([1, 2, 3])},
        {"starts": np.array([0, 2, 2])},
        {"starts": np.array([0, 3, 2, 3])},
        {"starts": np.array([0, 2, 4])},
        {"ranks": np.array([1, 4], np.int32)},
        {"ranks": np.array([0, 4, 2], np.int32)},
        {"ranks": np.array([1, 6, 2], np.int32)},
        {"ranks": np.array([4, 1, 2], np.int32)},
        {"ranks": np.array([1, 1, 2], np.int32)},
        {"starts": np.array([0.0, 2.0, 3.0])},
        {"positives": np.array([7, 8])},
        {"k_max": np.array(3)},
    ],
    ids=str,
)
def test_arrays_that_do_not_fit_together_are_refused(wrong: dict[str, Array]) -> None:
    arrays = {
        "starts": np.array([0, 2, 3]),
        "ranks": np.array([1, 4, 2], np.int32),
        "positives": np.array([7, 8, 7]),
        "k_max": np.array(5),
    }
    assert PositiveNeighbors.from_arrays(arrays).n_rows == 2
    with pytest.raises(
        DataError, match=r"do not fit their starts|Ranks of neighbours lie in|vector of whole numbers"
    ):
        PositiveNeighbors.from_arrays(arrays | wrong)

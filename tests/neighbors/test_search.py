"""The search finds what a slow and literal one finds, bit for bit, for rows of all kinds."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from pubench.errors import DataError, ParameterError
from pubench.neighbors.all_distances import Direct
from pubench.neighbors.blocked_products import Brute
from pubench.neighbors.indexed import Indexed
from pubench.neighbors.neighbor_ranks import PositiveNeighbors
from pubench.neighbors.search import (
    PositiveSearch,
    positive_neighbors,
    positive_neighbors_of_folds,
    positive_neighbors_of_new,
)
from pubench.types import BoolVector, IndexVector

Matrix = npt.NDArray[Any]
Draw = Callable[[np.random.Generator, int, int], Matrix]


@pytest.fixture(scope="module", autouse=True, params=[Direct, Brute, Indexed], ids=lambda kind: kind.__name__)
def engine(request: pytest.FixtureRequest) -> Iterator[type]:
    """Everything here holds whichever engine searches; the tables of the tests are few enough for each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pubench.neighbors.search._fastest", lambda *_: request.param)
        yield request.param


FOUR = np.arange(8.0).reshape(4, 2)
FIRST = [1, 0, 0, 0]


def literal(
    X: Matrix, s: BoolVector, k_max: int, queries: Matrix, own: Sequence[int | None]
) -> PositiveNeighbors:
    """Squared differences in float64, summed column by column; ties by row number. `own` rows are left out."""
    X, queries = X.astype(np.float64, order="F"), queries.astype(np.float64)
    starts, ranks, positives = [0], [], []
    for query, itself in zip(queries, own, strict=True):
        if itself is None or not s[itself]:
            squares = np.zeros(len(X))
            for column in range(X.shape[1]):
                squares += (X[:, column] - query[column]) ** 2
            order = np.argsort(squares, kind="stable")
            order = order[order != (-1 if itself is None else itself)][:k_max]
            ranks += list(np.flatnonzero(s[order]) + 1)
            positives += list(order[s[order]])
        starts.append(len(ranks))
    k_max = min(k_max, max(len(X) - 1, 1) if own and own[0] is not None else len(X))
    return PositiveNeighbors(
        np.array(starts), np.array(ranks, np.int32), np.array(positives, np.int64), k_max
    )


def literal_of_rows(X: Matrix, s: BoolVector, k_max: int) -> PositiveNeighbors:
    return literal(X, s, k_max, X, range(len(X)))


def literal_of_new(X: Matrix, s: BoolVector, new: Matrix, k_max: int) -> PositiveNeighbors:
    return literal(X, s, k_max, new, [None] * len(new))


def assert_same(found: PositiveNeighbors, expected: PositiveNeighbors) -> None:
    assert found.k_max == expected.k_max
    for name, array in expected.to_arrays().items():
        np.testing.assert_array_equal(found.to_arrays()[name], array, err_msg=name)


def labelled(generator: np.random.Generator, rows: int, count: int) -> BoolVector:
    return np.isin(np.arange(rows), generator.choice(rows, count, replace=False))


def continuous(generator: np.random.Generator, rows: int, columns: int) -> Matrix:
    return generator.standard_normal((rows, columns))


def grid(generator: np.random.Generator, rows: int, columns: int) -> Matrix:
    return generator.integers(0, 3, (rows, columns)).astype(np.float64)


def tenths(generator: np.random.Generator, rows: int, columns: int) -> Matrix:
    """A grid whose equal distances are reported apart by rounding alone, so that the order of summation matters."""
    return generator.integers(0, 4, (rows, columns)) * 0.1


def all_equal(generator: np.random.Generator, rows: int, columns: int) -> Matrix:
    return np.tile(generator.standard_normal(columns), (rows, 1))


def partly_constant(generator: np.random.Generator, rows: int, columns: int) -> Matrix:
    return np.where(np.arange(columns) % 2, 0.1, continuous(generator, rows, columns))


def far_off(generator: np.random.Generator, rows: int, columns: int) -> Matrix:
    return 1e6 + 1e-9 * continuous(generator, rows, columns)


def with_outlier(generator: np.random.Generator, rows: int, columns: int) -> Matrix:
    X = continuous(generator, rows, columns)
    X[rows // 2] += 1e9
    return X


def tiny(generator: np.random.Generator, rows: int, columns: int) -> Matrix:
    return 1e-25 * continuous(generator, rows, columns)


def huge(generator: np.random.Generator, rows: int, columns: int) -> Matrix:
    return 1e30 * continuous(generator, rows, columns)


def clusters(generator: np.random.Generator, rows: int, columns: int) -> Matrix:
    centres = 1e4 * continuous(generator, 5, columns)
    return centres[generator.integers(0, 5, rows)] + 1e-3 * continuous(generator, rows, columns)


def duplicated(generator: np.random.Generator, rows: int, columns: int) -> Matrix:
    few = continuous(generator, max(rows // 10, 1), columns)
    return few[generator.integers(0, len(few), rows)]


def apart_by_nothing(generator: np.random.Generator, rows: int, columns: int) -> Matrix:
    """Rows that differ, though their distance is 0: by the sign of a zero, or by so little that its square vanishes."""
    X = duplicated(generator, rows, columns)
    X[:, 0] = generator.choice([0.0, -0.0, 1e-200], rows)
    X[0, 0] = 1  # a table of nothing else is refused
    return X


def on_a_sphere(generator: np.random.Generator, rows: int, columns: int) -> Matrix:
    """Around the first row, so that all distances to it agree up to rounding."""
    X = continuous(generator, rows, columns)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X[0] = 0
    return X


def columns_of_all_scales(generator: np.random.Generator, rows: int, columns: int) -> Matrix:
    return continuous(generator, rows, columns) * np.logspace(-12, 6, columns)


KINDS: tuple[Draw, ...] = (
    continuous,
    grid,
    tenths,
    all_equal,
    partly_constant,
    far_off,
    with_outlier,
    tiny,
    huge,
    clusters,
    duplicated,
    apart_by_nothing,
    on_a_sphere,
    columns_of_all_scales,
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_every_kind_have_the_neighbours_of_the_definition(kind: Draw, dtype: type) -> None:
    generator = np.random.default_rng(1)
    X: Matrix = kind(generator, 500, 6).astype(dtype)
    s = labelled(generator, 500, 40)
    assert_same(positive_neighbors(X, s, 30, n_threads=1), literal_of_rows(X, s, 30))


@pytest.mark.parametrize(("rows", "columns"), [(700, 1), (400, 33), (400, 300), (20, 300)])
@pytest.mark.parametrize("kind", [continuous, grid])
def test_one_column_and_hundreds(kind: Draw, rows: int, columns: int) -> None:
    generator = np.random.default_rng(2)
    X, s = kind(generator, rows, columns), labelled(generator, rows, rows // 10)
    assert_same(positive_neighbors(X, s, n_threads=1), literal_of_rows(X, s, 50))


@pytest.mark.parametrize("positives", [1, 150, 299, 300])
def test_few_positives_many_and_nothing_else(positives: int) -> None:
    generator = np.random.default_rng(3)
    X, s = continuous(generator, 300, 4), labelled(generator, 300, positives)
    assert_same(positive_neighbors(X, s, 20, n_threads=1), literal_of_rows(X, s, 20))


@pytest.mark.parametrize("positives", [1, 30, 1500])
@pytest.mark.parametrize("kind", [continuous, grid, clusters])
def test_thousands_of_rows(kind: Draw, positives: int) -> None:
    generator = np.random.default_rng(4)
    X, s = kind(generator, 3000, 5), labelled(generator, 3000, positives)
    assert_same(positive_neighbors(X, s, n_threads=1), literal_of_rows(X, s, 50))


def test_a_row_far_from_the_positives_of_the_rows_beside_it_finds_its_own() -> None:
    """The radius for positives is guessed from the rows before: here most lie close to some positives, and a few do not."""
    generator = np.random.default_rng(8)
    X = continuous(generator, 3000, 6) * np.repeat([0.2, 3.0], [2900, 100])[:, None]
    s = labelled(generator, 3000, 60)
    s[2900:] = np.arange(100) % 10 == 0
    assert_same(positive_neighbors(X, s, 50), literal_of_rows(X, s, 50))


@pytest.mark.parametrize("first", [0, 40, 90])
def test_of_thousands_of_equal_rows_the_first_are_the_neighbours(first: int) -> None:
    """Some of the equal rows are labelled, one of them among the first, which stand before all others, or none."""
    generator = np.random.default_rng(10)
    X = np.where(generator.random((2500, 1)) < 0.9, 0.5, continuous(generator, 2500, 4))
    s = labelled(generator, 2500, 25)
    s[:100] = np.arange(100) == first
    assert_same(positive_neighbors(X, s, 50), literal_of_rows(X, s, 50))


@pytest.mark.parametrize("kind", [all_equal, duplicated])
def test_equal_rows_in_a_table_that_is_not_small(kind: Draw) -> None:
    generator = np.random.default_rng(11)
    X, s = kind(generator, 7000, 4), labelled(generator, 7000, 1500)
    asked = np.flatnonzero(~s)[::30]
    folds = [np.arange(7000), np.union1d(np.flatnonzero(generator.random(7000) < 0.6), asked)]
    found = positive_neighbors_of_folds(X, s, folds, 50, asked=np.isin(np.arange(7000), asked))
    for rows, some in zip(folds, found, strict=True):
        places = np.searchsorted(rows, asked)
        expected = literal(X[rows], s[rows], 50, X[asked], places.tolist())
        np.testing.assert_array_equal(some.ranks, expected.ranks)
        np.testing.assert_array_equal(some.positives, expected.positives)


@pytest.mark.parametrize("copies", [1, 3])
def test_clusters_so_far_apart_that_products_drown_what_is_near(copies: int) -> None:
    generator = np.random.default_rng(12)
    X = np.repeat(clusters(generator, 1500 // copies, 8), copies, axis=0).astype(np.float32)
    s = labelled(generator, len(X), 300)
    folds = [np.arange(len(X)), np.flatnonzero(generator.random(len(X)) < 0.7)]
    for rows, found in zip(folds, positive_neighbors_of_folds(X, s, folds, 30), strict=True):
        assert_same(found, literal_of_rows(X[rows], s[rows], 30))
    new = X[::7] + np.float32(1e-3)
    assert_same(positive_neighbors_of_new(X, s, new, 30), literal_of_new(X, s, new, 30))


def test_rows_in_more_cells_than_are_near() -> None:
    """Cells hold 8,192 rows, and the first 48 cells are read in both passes."""
    generator = np.random.default_rng(9)
    X = continuous(generator, 420_000, 3)
    s = labelled(generator, len(X), 2000)
    asked = ~s & labelled(generator, len(X), 2500)
    (found,) = positive_neighbors_of_folds(X, s, [np.arange(len(X))], 30, asked=asked)
    for row in np.flatnonzero(asked)[::100]:
        squares = ((X - X[row]) ** 2) @ np.ones(3)
        squares[row] = np.inf
        near = np.argsort(squares)[:30]
        ranks, positives = found.of(int(row))
        np.testing.assert_array_equal(ranks, np.flatnonzero(s[near]) + 1)
        np.testing.assert_array_equal(positives, near[s[near]])


def test_the_rare_row_among_many_positives_has_them_all() -> None:
    generator = np.random.default_rng(20)
    X = continuous(generator, 5000, 3)
    X[:40] = X[:40] / 100 - 30  # far from all others, so that hardly another row has a positive near
    s = np.arange(5000) < 38
    found = positive_neighbors(X, s, 50)
    assert_same(found, literal_of_rows(X, s, 50))
    assert len(found.of(39)[0]) == 38


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_every_kind_with_hundreds_of_columns(kind: Draw, dtype: type) -> None:
    generator = np.random.default_rng(25)
    X: Matrix = kind(generator, 300, 200).astype(dtype)
    s = labelled(generator, 300, 60)
    assert_same(positive_neighbors(X, s, 20, n_threads=1), literal_of_rows(X, s, 20))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_rows_that_are_all_about_equally_far(dtype: type) -> None:
    generator = np.random.default_rng(26)
    X: Matrix = continuous(generator, 9000, 150).astype(dtype)
    s, few = labelled(generator, 9000, 8900), labelled(generator, 9000, 300)
    assert_same(positive_neighbors(X, s, 20, n_threads=1), literal_of_rows(X, s, 20))
    rows = np.flatnonzero(generator.random(9000) < 0.5)
    (fold,) = positive_neighbors_of_folds(X, s, [rows], 20, n_threads=1)
    assert_same(fold, literal_of_rows(X[rows], s[rows], 20))
    new: Matrix = continuous(generator, 60, 150).astype(dtype)
    assert_same(positive_neighbors_of_new(X, few, new, 20, n_threads=1), literal_of_new(X, few, new, 20))


@pytest.mark.parametrize("rows", [2, 3, 10, 127, 128, 129, 256, 257])
@pytest.mark.parametrize("k_max", [1, 10, 1000])
def test_few_rows_whole_leaves_and_more_neighbours_than_rows(rows: int, k_max: int) -> None:
    generator = np.random.default_rng(5)
    X, s = continuous(generator, rows, 3), labelled(generator, rows, max(1, rows // 8))
    found = positive_neighbors(X, s, k_max, n_threads=1)
    assert found.k_max == min(k_max, rows - 1)
    assert_same(found, literal_of_rows(X, s, k_max))


def test_a_single_row_has_no_neighbours() -> None:
    found = positive_neighbors([[1.0, 2.0]], [1], n_threads=1)
    assert found.n_rows == 1
    assert len(found.ranks) == 0


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X.astype(np.int64),
        lambda X: X.astype(np.uint8),
        lambda X: X > 4,
        lambda X: X.tolist(),
        np.asfortranarray,
        lambda X: np.asfortranarray(X.astype(np.float32)),
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: X[::-1][::-1],
        lambda X: X.astype(">f8"),
    ],
    ids=["int64", "uint8", "bool", "list", "fortran", "fortran32", "strided", "reversed", "big-endian"],
)
def test_any_table_of_numbers_will_do(convert: Callable[[Matrix], Any]) -> None:
    generator = np.random.default_rng(6)
    X, s = generator.integers(0, 9, (300, 4)).astype(np.float64), labelled(generator, 300, 20)
    table = convert(X)
    assert_same(positive_neighbors(table, s, 15, n_threads=1), literal_of_rows(np.asarray(table), s, 15))


@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(KINDS),
    rows=st.integers(2, 400),
    columns=st.sampled_from([1, 2, 5, 17, 40]),
    share=st.sampled_from([0.0, 0.01, 0.1, 0.5, 1.0]),
    k_max=st.integers(1, 60),
    dtype=st.sampled_from([np.float32, np.float64]),
)
@settings(deadline=None, max_examples=80)
def test_every_draw_of_rows_has_the_neighbours_of_the_definition(
    seed: int, kind: Draw, rows: int, columns: int, share: float, k_max: int, dtype: type
) -> None:
    generator = np.random.default_rng(seed)
    X: Matrix = kind(generator, rows, columns).astype(dtype)
    s = labelled(generator, rows, min(max(1, round(share * rows)), rows - 1))
    assert_same(positive_neighbors(X, s, k_max, n_threads=1), literal_of_rows(X, s, k_max))


def training_rows(generator: np.random.Generator, rows: int, folds: int, repeats: int) -> list[IndexVector]:
    """Each fold does without one part of a random division of the rows."""
    drawn = []
    for _ in range(repeats):
        part = generator.permutation(rows) % folds
        drawn += [np.flatnonzero(part != number) for number in range(folds)]
    return drawn


def assert_each_is_alone(X: Matrix, s: BoolVector, folds: Sequence[IndexVector], k_max: int = 50) -> None:
    found = positive_neighbors_of_folds(X, s, folds, k_max, n_threads=1)
    assert len(found) == len(folds)
    for rows, result in zip(folds, found, strict=True):
        assert_same(result, positive_neighbors(X[rows], s[rows], k_max, n_threads=1))


@pytest.mark.parametrize("share", [0.01, 0.05, 0.5])
@pytest.mark.parametrize("kind", [continuous, grid])
def test_folds_searched_together_are_what_each_is_alone(kind: Draw, share: float) -> None:
    generator = np.random.default_rng(7)
    X, s = kind(generator, 1500, 4), labelled(generator, 1500, round(1500 * share))
    assert_each_is_alone(X, s, training_rows(generator, 1500, folds=3, repeats=2))


def test_a_fold_agrees_with_the_definition() -> None:
    generator = np.random.default_rng(8)
    X, s = continuous(generator, 400, 3), labelled(generator, 400, 80)
    for rows, found in zip(
        folds := training_rows(generator, 400, 3, 1),
        positive_neighbors_of_folds(X, s, folds, 20, n_threads=1),
        strict=True,
    ):
        assert_same(found, literal_of_rows(X[rows], s[rows], 20))


def test_there_can_be_more_folds_than_bits_in_a_mask() -> None:
    generator = np.random.default_rng(9)
    X, s = continuous(generator, 300, 4), labelled(generator, 300, 100)
    assert_each_is_alone(X, s, training_rows(generator, 300, folds=10, repeats=7), 10)


@pytest.mark.parametrize("folds", [63, 64, 65])
def test_the_last_bit_of_a_mask_counts(folds: int) -> None:
    generator = np.random.default_rng(10)
    X, s = continuous(generator, 200, 2), labelled(generator, 200, 20)
    rows = training_rows(generator, 200, folds=4, repeats=17)[:folds]
    found = positive_neighbors_of_folds(X, s, rows, 10, n_threads=1)
    for number in (0, 62, folds - 1):
        assert_same(found[number], positive_neighbors(X[rows[number]], s[rows[number]], 10, n_threads=1))


def test_a_fold_that_does_without_the_nearest_positives_finds_the_next_ones() -> None:
    generator = np.random.default_rng(11)
    X, s = continuous(generator, 800, 2), np.arange(800) < 500
    central = np.argsort((X**2).sum(axis=1))[:400]
    without = np.setdiff1d(np.arange(800), central[s[central]])
    assert_each_is_alone(X, s, [without, np.arange(800)], 5)


def test_a_single_fold_can_be_a_small_part() -> None:
    generator = np.random.default_rng(12)
    X, s = continuous(generator, 900, 3), labelled(generator, 900, 90)
    for count in (2, 30, 899):
        rows = np.sort(generator.choice(np.flatnonzero(~s), count // 2, replace=False))
        assert_each_is_alone(X, s, [np.union1d(rows, np.flatnonzero(s)[: count - count // 2])])


@pytest.mark.parametrize("share", [0.0, 0.1, 0.9])
def test_rows_that_are_not_asked_for_are_neighbours_and_have_none(share: float) -> None:
    generator = np.random.default_rng(0)
    X, s = continuous(generator, 900, 4), labelled(generator, 900, 60)
    folds = [np.flatnonzero(generator.random(900) < 0.7) for _ in range(3)]
    asked = generator.random(900) < share
    found = positive_neighbors_of_folds(X, s, folds, 20, asked=asked)
    for rows, some, all_rows in zip(folds, found, positive_neighbors_of_folds(X, s, folds, 20), strict=True):
        expected = np.where(asked[rows], all_rows.credibility(20), 0.0)
        np.testing.assert_array_equal(some.credibility(20), expected)


def test_any_number_of_neighbours_may_be_asked_for() -> None:
    generator = np.random.default_rng(22)
    X, s = continuous(generator, 40, 2), labelled(generator, 40, 5)
    assert_same(positive_neighbors(X, s, 2**80), literal_of_rows(X, s, 39))


def test_what_is_changed_later_is_searched_as_it_was() -> None:
    generator = np.random.default_rng(23)
    X, s = continuous(generator, 300, 3), labelled(generator, 300, 30)
    expected, ready = literal_of_rows(X, s, 10), PositiveSearch(X, s)
    X[:], s[:] = 0, True
    assert_same(ready.of_rows(10)[0], expected)


def test_no_folds_give_no_results() -> None:
    assert positive_neighbors_of_folds([[0.0], [1.0]], [1, 0], [], n_threads=1) == ()


@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(KINDS),
    rows=st.integers(10, 300),
    share=st.sampled_from([0.1, 0.5, 0.9]),
    folds=st.integers(2, 5),
    k_max=st.integers(1, 30),
)
@settings(deadline=None, max_examples=30)
def test_every_draw_of_folds_is_what_each_is_alone(
    seed: int, kind: Draw, rows: int, share: float, folds: int, k_max: int
) -> None:
    generator = np.random.default_rng(seed)
    X, s = kind(generator, rows, 3), labelled(generator, rows, max(1, round(share * rows)))
    drawn = [fold for fold in training_rows(generator, rows, folds, 2) if s[fold].any()]
    assert_each_is_alone(X, s, drawn, k_max)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_new_rows_have_the_neighbours_of_the_definition(kind: Draw, dtype: type) -> None:
    generator = np.random.default_rng(13)
    both: Matrix = kind(generator, 700, 4).astype(dtype)
    X, new, s = both[:400], both[400:], labelled(generator, 400, 60)
    assert_same(positive_neighbors_of_new(X, s, new, 25, n_threads=1), literal_of_new(X, s, new, 25))


def test_a_new_row_has_the_searched_row_that_it_equals_as_its_first_neighbour() -> None:
    generator = np.random.default_rng(14)
    X, s = continuous(generator, 300, 5), labelled(generator, 300, 30)
    found = positive_neighbors_of_new(X, s, X, 1, n_threads=1)
    np.testing.assert_array_equal(found.positives, np.flatnonzero(s))
    np.testing.assert_array_equal(found.credibility(1), s)


def test_new_rows_far_away_of_another_type_and_of_another_order() -> None:
    generator = np.random.default_rng(15)
    X, s = continuous(generator, 300, 3).astype(np.float32), labelled(generator, 300, 30)
    new = np.array([[1e6, 0, 0], [-1e9, 1e9, 3], [0, 0, 1e12], [0.5, 0.5, 0.5]])
    assert_same(positive_neighbors_of_new(X, s, new, n_threads=1), literal_of_new(X, s, new, 50))
    turned = np.asfortranarray(new)
    assert_same(positive_neighbors_of_new(X, s, turned, n_threads=1), literal_of_new(X, s, new, 50))


def test_new_rows_around_rows_that_are_all_equal() -> None:
    X, s, new = np.full((3, 1), 0.1), np.array([False, True, False]), np.array([[0.1], [5.0], [-100.0]])
    assert_same(positive_neighbors_of_new(X, s, new, 2, n_threads=1), literal_of_new(X, s, new, 2))


def test_new_rows_lie_between_those_that_a_shorter_type_can_tell() -> None:
    generator = np.random.default_rng(21)
    X = (1e4 + generator.integers(0, 40, (600, 3)) / 1024).astype(
        np.float32
    )  # float32 has steps of 1 / 1024 here
    new = 1e4 + generator.random((50, 3)) * 40 / 1024
    s = labelled(generator, 600, 60)
    assert_same(positive_neighbors_of_new(X, s, new, 20), literal_of_new(X, s, new, 20))


@pytest.mark.parametrize("columns", [4, 100])
def test_new_rows_from_which_all_squares_are_infinite_have_the_first_rows_as_neighbours(columns: int) -> None:
    X = np.tile([[9e139], [-9e139], [8e139], [-8e139]], (1, columns))
    found = positive_neighbors_of_new(X, [1, 1, 0, 1], np.full((1, columns), 2e154), 2)
    assert [part.tolist() for part in found.of(0)] == [[1, 2], [0, 1]]


@pytest.mark.parametrize("far", [[1e250, 0, 0], [0, -1e250, 0]])
def test_new_rows_beyond_all_numbers_are_refused(far: list[float], engine: type) -> None:
    X = 1e-100 * continuous(np.random.default_rng(0), 500, 3)
    new, s = np.concatenate([X[:20], [far]]), np.arange(500) % 10 == 0
    if engine is Direct:  # which has no need to
        with np.errstate(over="ignore"):
            expected = literal_of_new(X, s, new, 20)
        assert_same(positive_neighbors_of_new(X, s, new, 20), expected)
        return
    with pytest.raises(DataError, match="1e15 times"):
        positive_neighbors_of_new(X, s, new, 20)


def test_new_rows_look_at_no_more_rows_than_there_are() -> None:
    generator = np.random.default_rng(16)
    X, s, new = continuous(generator, 12, 2), np.arange(12) < 3, continuous(generator, 5, 2)
    found = positive_neighbors_of_new(X, s, new, 99, n_threads=1)
    assert found.k_max == 12
    np.testing.assert_allclose(found.credibility(12), 3 / 12)
    assert_same(found, literal_of_new(X, s, new, 99))


def test_no_new_rows_have_no_neighbours() -> None:
    found = positive_neighbors_of_new(np.ones((5, 2)), [1, 0, 0, 0, 0], np.empty((0, 2)), n_threads=1)
    assert found.n_rows == 0
    assert len(found.ranks) == 0


def test_one_search_answers_again_and_again() -> None:
    generator = np.random.default_rng(17)
    X, s = continuous(generator, 300, 3), labelled(generator, 300, 30)
    search = PositiveSearch(X, s, n_threads=1)
    for k_max in (5, 40, 5):
        assert_same(search.of_rows(k_max)[0], literal_of_rows(X, s, k_max))
        assert_same(search.of_new(X[:9] + 1, k_max), literal_of_new(X, s, X[:9] + 1, k_max))


@pytest.mark.parametrize("n_threads", [2, 5, None])
def test_threads_change_nothing(n_threads: int | None) -> None:
    generator = np.random.default_rng(18)
    X, s = continuous(generator, 2500, 4), labelled(generator, 2500, 100)
    folds = training_rows(generator, 2500, 2, 1)
    new = continuous(generator, 600, 4)
    one, many = (PositiveSearch(X, s, n_threads=threads) for threads in (1, n_threads))
    for alone, together in zip(one.of_rows(20, folds), many.of_rows(20, folds), strict=True):
        assert_same(together, alone)
    assert_same(many.of_new(new, 20), one.of_new(new, 20))


def test_inputs_stay_as_they_were_and_may_be_read_only() -> None:
    generator = np.random.default_rng(19)
    X, s, new = continuous(generator, 300, 3), labelled(generator, 300, 30), continuous(generator, 50, 3)
    folds = training_rows(generator, 300, 3, 1)
    given_ = [X, s, new, *folds]
    before = [array.copy() for array in given_]
    for array in given_:
        array.flags.writeable = False
    positive_neighbors_of_folds(X, s, folds, n_threads=2)
    positive_neighbors_of_new(X, s, new, n_threads=2)
    for array, copy in zip(given_, before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_two_searches_at_once_do_not_disturb_each_other() -> None:
    generator = np.random.default_rng(20)
    s = labelled(generator, 1500, 60)
    tables = [continuous(generator, 1500, 4), grid(generator, 1500, 4)] * 2
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(lambda X: positive_neighbors(X, s, n_threads=2), tables))
    for X, found in zip(tables, together, strict=True):
        assert_same(found, positive_neighbors(X, s, n_threads=1))


def test_searches_at_once_leave_the_threads_of_matrix_products_as_they_were() -> None:
    first_is_inside, second_is_inside, first_is_done = Event(), Event(), Event()

    def let_the_second_in(share: float) -> None:  # noqa: ARG001 - the callback's signature
        first_is_inside.set()
        assert second_is_inside.wait(60)

    def outlast_the_first(share: float) -> None:  # noqa: ARG001
        second_is_inside.set()
        assert first_is_done.wait(60)

    def blas_threads() -> list[int]:
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    positive_neighbors(FOUR, FIRST, n_threads=1)  # loads the libraries that it needs
    before = blas_threads()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(positive_neighbors, FOUR, FIRST, n_threads=1, progress=let_the_second_in)
        assert first_is_inside.wait(60)
        second = pool.submit(positive_neighbors, FOUR, FIRST, n_threads=1, progress=outlast_the_first)
        first.result()
        first_is_done.set()
        second.result()
    assert blas_threads() == before


def test_searches_at_once_in_one_index_do_not_disturb_each_other() -> None:
    generator = np.random.default_rng(21)
    X, s = continuous(generator, 1500, 4), labelled(generator, 1500, 60)
    search = PositiveSearch(X, s, n_threads=2)
    with ThreadPoolExecutor(2) as pool:
        for k_max, (found,) in zip((5, 50), pool.map(search.of_rows, (5, 50)), strict=True):
            assert_same(found, positive_neighbors(X, s, k_max, n_threads=1))


@pytest.mark.parametrize("positives", [1, 100, 2499])
@pytest.mark.parametrize("folds", [1, 70])
def test_progress_rises_to_the_end(positives: int, folds: int) -> None:
    generator = np.random.default_rng(22)
    X, s, reported = continuous(generator, 2500, 3), np.arange(2500) < positives, list[float]()
    rows = [np.arange(2500 - number) for number in range(folds)]
    positive_neighbors_of_folds(X, s, rows, 5, n_threads=2, progress=reported.append)
    assert reported == sorted(reported)
    assert reported[0] >= 0
    assert reported[-1] == pytest.approx(1)


def test_progress_rises_to_the_end_where_no_positive_is_near() -> None:
    X, s, reported = np.arange(2000.0)[:, None], np.arange(2000) == 0, list[float]()
    X[0] = -1e6
    found = positive_neighbors(X, s, 5, n_threads=1, progress=reported.append)
    assert len(found.ranks) == 0
    assert reported == sorted(reported)
    assert reported[-1] == pytest.approx(1)


def test_progress_of_new_rows_rises_to_the_end() -> None:
    generator = np.random.default_rng(23)
    X, s, reported = continuous(generator, 1000, 3), labelled(generator, 1000, 90), list[float]()
    positive_neighbors_of_new(X, s, X + 0.1, 5, n_threads=2, progress=reported.append)
    assert reported == sorted(reported)
    assert reported[0] >= 0
    assert reported[-1] == pytest.approx(1)


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("after", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_what_progress_raises_ends_the_search_and_the_next_one_works(after: float, n_threads: int) -> None:
    generator = np.random.default_rng(24)
    X, s = continuous(generator, 3000, 3), labelled(generator, 3000, 300)
    reported: list[float] = []

    def stop(share: float) -> None:
        reported.append(share)
        if share >= after:
            raise StoppedError

    search = PositiveSearch(X, s, n_threads=n_threads)
    expected = positive_neighbors(X, s, 5, n_threads=1)
    with pytest.raises(StoppedError):
        search.of_rows(5, None, stop)
    assert sum(share >= after for share in reported) == 1  # it was not called afterwards
    with pytest.raises(StoppedError):
        search.of_new(X, 5, stop)
    assert_same(search.of_rows(5)[0], expected)


def is_one_sentence(message: str) -> bool:
    return message.endswith(".") and "\n" not in message and ". " not in message


@pytest.mark.parametrize(
    ("X", "s", "says"),
    [
        (np.where(FOUR == 3, np.nan, FOUR), FIRST, "missing or infinite"),
        (np.where(FOUR == 3, -np.inf, FOUR), FIRST, "missing or infinite"),
        (np.arange(4.0), FIRST, r"shape \(4,\)"),
        (FOUR[None], FIRST, r"shape \(1, 4, 2\)"),
        (np.float64(3), FIRST, r"shape \(\)"),
        (np.empty((4, 0)), FIRST, r"shape \(4, 0\)"),
        (np.empty((0, 2)), [], "labelled"),
        (FOUR, [1, 0, 0], "3 values for 4 rows"),
        (FOUR, [0, 0, 0, 0], "labelled"),
        (FOUR, [1, -1, -1, -1], "0 and 1"),
        (FOUR, [1, 2, 0, 0], "0 and 1"),
        (FOUR, [1, np.nan, 0, 0], "0 and 1"),
        (FOUR, [FIRST], "one-dimensional"),
    ],
)
def test_data_that_can_not_be_searched_are_refused(X: Matrix, s: list[Any], says: str) -> None:
    for search in (
        lambda: positive_neighbors(X, s, n_threads=1),
        lambda: positive_neighbors_of_folds(X, s, [np.arange(2)], n_threads=1),
        lambda: positive_neighbors_of_new(X, s, FOUR, n_threads=1),
    ):
        with pytest.raises(DataError, match=says) as caught:
            search()
        assert is_one_sentence(str(caught.value))


@pytest.mark.parametrize(
    ("new", "says"),
    [
        (np.ones((3, 5)), "5 columns; those searched have 2"),
        (np.ones((3, 1)), "1 columns; those searched have 2"),
        (np.ones(2), r"shape \(2,\)"),
        ([[1.0, np.nan]], "missing or infinite"),
    ],
)
def test_new_rows_that_do_not_fit_are_refused(new: Matrix, says: str) -> None:
    with pytest.raises(DataError, match=says) as caught:
        positive_neighbors_of_new(FOUR, FIRST, new, n_threads=1)
    assert is_one_sentence(str(caught.value))


@pytest.mark.parametrize("k_max", [0, -3])
def test_at_least_one_neighbour_is_looked_at(k_max: int) -> None:
    for search in (
        lambda: positive_neighbors(FOUR, FIRST, k_max, n_threads=1),
        lambda: positive_neighbors_of_folds(FOUR, FIRST, [np.arange(3)], k_max, n_threads=1),
        lambda: positive_neighbors_of_new(FOUR, FIRST, FOUR, k_max, n_threads=1),
    ):
        with pytest.raises(ParameterError, match=f"got {k_max}") as caught:
            search()
        assert is_one_sentence(str(caught.value))


@pytest.mark.parametrize(
    ("fold", "message"),
    [
        (np.ones(300, np.bool_), "vector of row numbers"),
        (np.arange(300)[::-1], "ascending, unique and below 300"),
        (np.array([0, 0, 1]), "ascending, unique and below 300"),
        (np.array([-1, 0, 1]), "ascending, unique and below 300"),
        (np.arange(400), "ascending, unique and below 300"),
        (np.arange(100, 300), "A fold has no labelled positive"),
    ],
)
def test_what_is_no_fold_is_refused(fold: npt.NDArray[np.generic], message: str) -> None:
    X = continuous(np.random.default_rng(31), 300, 3)
    with pytest.raises(DataError, match=message):
        positive_neighbors_of_folds(X, np.arange(300) < 20, [fold], 5)  # type: ignore[list-item]


@pytest.mark.parametrize("scale", [1e200, 1e-160])
def test_values_whose_squares_are_beyond_float64_are_refused(scale: float) -> None:
    X = scale * continuous(np.random.default_rng(32), 300, 3)
    with pytest.raises(DataError, match="cannot be squared; scale them first"):
        positive_neighbors(X, np.arange(300) < 20, 5)


def test_odd_parameters_are_refused_in_one_sentence() -> None:
    X, s = continuous(np.random.default_rng(33), 300, 3), np.arange(300) < 20
    with pytest.raises(ParameterError, match=r"k_max is a whole number from 1 up; got 2\.5"):
        positive_neighbors(X, s, 2.5)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="n_threads is a whole number from 1 up; got -1"):
        positive_neighbors(X, s, 5, n_threads=-1)
    with pytest.raises(DataError, match="a table of numbers"):
        positive_neighbors(X.astype(str), s, 5)

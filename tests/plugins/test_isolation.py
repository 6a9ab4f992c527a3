"""The isolation similarity: against a slow literal one, and what it alone promises at the edges."""

import numpy as np
import numpy.typing as npt
import pytest

from pubench.seeds import Seed
from pubench.types import PUData, Resources, Table
from pubench_plugins.similarities.isolation import FANOUT, FittedIsolation, Isolation

ONE = Resources(n_threads=1)
Matrix = npt.NDArray[np.float32 | np.float64]


def draw(rows: int = 600, labelled: int = 12, hidden: int = 12) -> tuple[PUData, npt.NDArray[np.bool_]]:
    """A cloud, and a small cluster of positives apart from it, some of them labelled; returns the hidden ones too."""
    generator = np.random.default_rng(3)
    X = generator.standard_normal((rows, 5)).astype(np.float32)
    number = np.arange(rows)
    X[number < labelled + hidden] = X[number < labelled + hidden] / 3 + 2.5
    return PUData(Table.from_array(X), number < labelled), (number >= labelled) & (number < labelled + hidden)


def fit(data: PUData, resources: Resources = ONE, seed: int = 0, **params: int) -> FittedIsolation:
    return Isolation(**{"partitions": 20, **params}).fit(data, Seed(seed), resources)


class Literal:
    """The partitions as one would write them down: lists of row numbers, split until they are small."""

    def __init__(self, data: PUData, rows_per_cell: int) -> None:
        self.X, self.s, self.rows_per_cell = data.X.values, data.s, rows_per_cell

    def nearest(self, row: Matrix, drawn: list[int]) -> int:
        return int(np.argmin([np.sum((row - self.X[centre]) ** 2, dtype=np.float64) for centre in drawn]))

    def shares(
        self, rows: list[int], new: list[Matrix], parent: list[int]
    ) -> tuple[dict[int, float], list[float]]:
        """Return the share of each of the fitted rows, by number, and of each new row."""
        positives = sum(self.s[rows])
        if len(rows) > self.rows_per_cell and positives:
            drawn = rows[-min(FANOUT, max(2, len(rows) // self.rows_per_cell)) :]
            homes = [self.nearest(self.X[row], drawn) for row in rows]
            if len(set(homes)) > 1:
                return self.divided(rows, homes, new, drawn)
        judge = rows if len(rows) > 1 else parent
        return {row: sum(self.s[judge]) / (len(judge) - 1) for row in rows}, [positives / len(rows)] * len(
            new
        )

    def divided(
        self, rows: list[int], homes: list[int], new: list[Matrix], drawn: list[int]
    ) -> tuple[dict[int, float], list[float]]:
        fitted: dict[int, float] = {}
        guests = [self.nearest(row, drawn) for row in new]
        values = [0.0] * len(new)
        for home in sorted(set(homes)):
            members = [row for row, place in zip(rows, homes, strict=True) if place == home]
            visitors = [i for i, place in enumerate(guests) if place == home]
            inside, visiting = self.shares(members, [new[i] for i in visitors], rows)
            fitted |= inside
            for i, value in zip(visitors, visiting, strict=True):
                values[i] = value
        return fitted, values


@pytest.mark.parametrize("rows_per_cell", [2, 4, 50])
def test_it_is_the_literal_definition(rows_per_cell: int) -> None:
    data, _ = draw(rows=150)
    new = list(np.random.default_rng(8).standard_normal((30, 5)).astype(np.float32) + 1)
    literal = Literal(data, rows_per_cell)
    fitted_sum, new_sum = np.zeros(150), np.zeros(30)
    for number in range(10):
        order = Seed(0).child("partition", number).generator().permutation(150)
        inside, visiting = literal.shares(order.tolist(), new, [])
        fitted_sum[list(inside)] += list(inside.values())
        new_sum += visiting
    fitted = fit(data, partitions=10, rows_per_cell=rows_per_cell)
    np.testing.assert_allclose(fitted.affinity.values, np.where(data.s, 0, fitted_sum / 10), atol=1e-6)
    found = fitted.score_new(Table.from_array(np.stack(new)), ONE).values
    np.testing.assert_allclose(found, new_sum / 10, atol=1e-6)


def test_hidden_positives_stand_out() -> None:
    data, hidden = draw()
    values = fit(data).affinity.values
    assert values[hidden].mean() > 10 * values[~hidden & ~data.s].mean()


def test_about_as_many_rows_are_tagged_as_are_labelled() -> None:
    data, _ = draw(rows=3000, hidden=0)
    assert fit(data).affinity.expected_positives <= 13


def test_another_seed_draws_other_partitions() -> None:
    data, _ = draw()
    assert np.any(fit(data).affinity.values != fit(data, seed=1).affinity.values)


def test_a_row_on_a_positive_is_near_it_and_a_far_one_is_not() -> None:
    data, _ = draw()
    X = np.stack([data.X.values[0], np.full(5, -30)]).astype(np.float32)
    values = fit(data).score_new(Table.from_array(X), ONE).values
    assert values[0] > 0.3
    assert values[1] < 0.01


def test_rows_that_are_all_equal_get_the_labelled_share_of_the_others() -> None:
    data = PUData(Table.from_array(np.ones((50, 3), np.float32)), np.arange(50) < 5)
    fitted = fit(data)
    np.testing.assert_allclose(fitted.affinity.values[5:], 5 / 49, rtol=1e-6)
    np.testing.assert_allclose(fitted.score_new(data.X, ONE).values, 5 / 50, rtol=1e-6)


def test_duplicates_of_a_positive_among_many_duplicates() -> None:
    X = np.zeros((500, 3), np.float32)
    X[:10] = 4
    values = fit(PUData(Table.from_array(X), np.arange(500) < 5)).affinity.values
    assert values[5:10].min() > 10 * values[10:].max()


@pytest.mark.parametrize("rows", [2, 3, 10])
def test_few_rows(rows: int) -> None:
    X = np.random.default_rng(0).standard_normal((rows, 2)).astype(np.float32)
    values = fit(PUData(Table.from_array(X), np.arange(rows) == 0)).affinity.values
    assert values[0] == 0
    assert values[1:].sum() > 0


def test_smaller_cells_are_more() -> None:
    data, _ = draw()
    few, many = (fit(data, rows_per_cell=rows).chosen["cells"] for rows in (64, 2))
    assert 1 < few < many < 600

"""The kernel similarity: against plain sums, and what it alone promises at the edges."""

import numpy as np
import numpy.typing as npt
import pytest

from pubench.seeds import Seed
from pubench.types import PUData, Resources, Table
from pubench_plugins.similarities import kernel
from pubench_plugins.similarities.kernel import FittedKernel, Kernel

ONE = Resources(n_threads=1)
Matrix = npt.NDArray[np.float32 | np.float64]


def draw(rows: int = 600, labelled: int = 12, hidden: int = 12) -> tuple[PUData, npt.NDArray[np.bool_]]:
    """A cloud, and a small cluster of positives apart from it, some of them labelled; returns the hidden ones too."""
    generator = np.random.default_rng(3)
    X = generator.standard_normal((rows, 5)).astype(np.float32)
    number = np.arange(rows)
    X[number < labelled + hidden] = X[number < labelled + hidden] / 3 + 2.5
    return PUData(Table.from_array(X), number < labelled), (number >= labelled) & (number < labelled + hidden)


def fit(data: PUData, resources: Resources = ONE, seed: int = 0, factor: float = 0.25) -> FittedKernel:
    return Kernel(factor=factor).fit(data, Seed(seed), resources)


def plain(data: PUData, X: Matrix, bandwidth: float, *, fitted: bool) -> npt.NDArray[np.float64]:
    """The formula, word for word, in float64."""
    gaps = X.astype(np.float64)[:, None, :] - data.X.values.astype(np.float64)[None, :, :]
    mass = np.exp(-(gaps**2).sum(axis=2) / (2 * bandwidth**2))
    if fitted:
        np.fill_diagonal(mass, 0)
    return np.asarray(mass[:, data.s].sum(axis=1) / mass.sum(axis=1))


@pytest.mark.parametrize("factor", [0.2, 0.5, 2.0])
def test_it_is_the_formula_when_the_sample_covers_all_rows(factor: float) -> None:
    data, _ = draw()
    fitted = fit(data, factor=factor)
    expected = np.where(data.s, 0, plain(data, data.X.values, fitted.mass.bandwidth, fitted=True))
    np.testing.assert_allclose(fitted.affinity.values, expected, rtol=2e-4, atol=1e-7)
    assert fitted.chosen["summed_exactly"] == 0


def test_new_rows_are_the_formula_too() -> None:
    data, _ = draw()
    fitted = fit(data)
    X = np.random.default_rng(4).standard_normal((40, 5)).astype(np.float32)
    found = fitted.score_new(Table.from_array(X), ONE).values
    np.testing.assert_allclose(
        found, plain(data, X, fitted.mass.bandwidth, fitted=False), rtol=2e-4, atol=1e-7
    )


def test_rows_in_doubt_are_summed_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "SAMPLE", 40)
    data, _ = draw()
    fitted = fit(data)
    expected = np.where(data.s, 0, plain(data, data.X.values, fitted.mass.bandwidth, fitted=True))
    assert 0 < fitted.chosen["summed_exactly"] < 588
    np.testing.assert_allclose(fitted.affinity.values, expected, atol=0.01)
    new = fitted.score_new(Table.from_array(data.X.values[:100] + np.float32(0.01)), ONE).values
    again = plain(data, data.X.values[:100] + np.float32(0.01), fitted.mass.bandwidth, fitted=False)
    np.testing.assert_allclose(new, again, atol=0.01)


def test_only_so_many_rows_are_summed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "SAMPLE", 10)
    monkeypatch.setattr(kernel, "AGAIN", 7)
    fitted = fit(draw()[0])
    assert fitted.chosen["summed_exactly"] == 7
    assert fitted.limit > kernel.TOLERANCE


def test_hidden_positives_stand_out() -> None:
    data, hidden = draw()
    values = fit(data).affinity.values
    assert values[hidden].mean() > 10 * values[~hidden & ~data.s].mean()


def test_equal_seeds_give_equal_values_and_others_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "SAMPLE", 40)
    data, _ = draw()
    np.testing.assert_array_equal(fit(data).affinity.values, fit(data).affinity.values)
    assert np.any(fit(data).affinity.values != fit(data, seed=1).affinity.values)


def test_threads_share_blocks_and_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "ROWS", 50)
    data, _ = draw()
    one, two = fit(data), fit(data, Resources(n_threads=2))
    np.testing.assert_array_equal(one.affinity.values, two.affinity.values)
    np.testing.assert_array_equal(
        one.score_new(data.X, ONE).values, two.score_new(data.X, Resources(n_threads=2)).values
    )


def test_the_value_of_a_new_row_does_not_depend_on_the_rows_beside_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernel, "SAMPLE", 40)
    data, _ = draw()
    fitted = fit(data)
    together = fitted.score_new(data.X, ONE).values[5:6]
    alone = fitted.score_new(data.X.take(np.array([5])), ONE).values
    np.testing.assert_allclose(together, alone, rtol=1e-4)


def test_a_row_on_a_positive_is_near_it_and_a_far_one_has_a_finite_value() -> None:
    data, _ = draw()
    X = np.stack([data.X.values[0], np.full(5, -30), np.full(5, 1e6)]).astype(np.float32)
    values = fit(data).score_new(Table.from_array(X), ONE).values
    assert values[0] > 0.3
    assert values[1] < 0.01  # the nearest rows are the cloud's
    assert 0 <= values[2] <= 1


def test_rows_that_are_all_equal_get_the_labelled_share_of_the_others() -> None:
    data = PUData(Table.from_array(np.ones((50, 3), np.float32)), np.arange(50) < 5)
    fitted = fit(data)
    assert fitted.chosen["bandwidth"] == 0.25
    np.testing.assert_allclose(fitted.affinity.values[5:], 5 / 49, rtol=1e-6)


def test_duplicates_of_a_positive_among_many_duplicates() -> None:
    X = np.zeros((500, 3), np.float32)
    X[:10] = 4
    values = fit(PUData(Table.from_array(X), np.arange(500) < 5), factor=0.05).affinity.values
    np.testing.assert_allclose(values[5:10], 5 / 9, rtol=1e-5)
    assert values[10:].max() < 1e-6


@pytest.mark.parametrize("rows", [2, 3, 10])
def test_few_rows(rows: int) -> None:
    X = np.random.default_rng(0).standard_normal((rows, 2)).astype(np.float32)
    values = fit(PUData(Table.from_array(X), np.arange(rows) == 0)).affinity.values
    assert values[0] == 0
    assert np.isfinite(values).all()


def test_the_bandwidth_is_the_factor_of_the_median_distance() -> None:
    data, _ = draw()
    wide, narrow = (fit(data, factor=factor).chosen["bandwidth"] for factor in (1.0, 0.1))
    assert wide == pytest.approx(10 * narrow)
    assert 2 < wide < 5  # standard normal in five dimensions: about 3

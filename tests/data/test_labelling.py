"""PU views: how many positives are labelled, which ones, and that negatives never are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubench.api.dataset import Dataset
from pubench.data.labelling import Labelling, draw_view, pu_data
from pubench.errors import DataError, InputError, ParameterError
from pubench.seeds import Seed
from pubench.truth import Truth
from pubench.types import Feature, Table


def population(rows: int = 20_000, share: float = 0.2) -> tuple[Table, Truth]:
    generator = np.random.default_rng(3)
    y = generator.random(rows) < share
    values = generator.standard_normal((rows, 3))
    values[:, 0] += 1.5 * y
    values[generator.random(rows) < 0.1, 1] = np.nan
    return Table(values, (Feature("signal"), Feature("age"), Feature("noise"))), Truth(y)


X, TRUTH = population()
ALL = [
    Labelling(0.5),
    Labelling(0.3, "feature", "rising", "age"),
    Labelling(0.3, "feature", "falling", "age"),
    Labelling(0.4, "probability", "rising"),
    Labelling(0.4, "probability", "falling"),
]


@pytest.mark.parametrize("labelling", ALL, ids=str)
def test_only_positives_are_labelled_and_about_theta_o_of_them(labelling: Labelling) -> None:
    view = draw_view(X, TRUTH, labelling, Seed(1))
    assert not (view.data.s & ~view.truth.y).any()
    assert view.data.n_labelled / TRUTH.y.sum() == pytest.approx(labelling.theta_o, abs=0.03)


@given(theta_o=st.floats(0.01, 1.0), seed=st.integers(0, 1000))
def test_scar_labels_exactly_the_share(theta_o: float, seed: int) -> None:
    view = draw_view(X, TRUTH, Labelling(theta_o), Seed(seed))
    assert view.data.n_labelled == round(theta_o * TRUTH.y.sum())


def mean_rank(view_s: np.ndarray, values: np.ndarray) -> float:
    """Mean rank of labelled among all positives; 1/2 when labelling does not care."""
    positives = values[TRUTH.y]
    chosen = view_s[TRUTH.y]
    ranks = positives.argsort().argsort() / len(positives)
    return float(ranks[chosen].mean())


def test_labels_do_not_depend_on_ranks_under_scar_and_do_under_a_bias() -> None:
    age = np.nan_to_num(X.values[:, 1])
    found = {
        str(labelling): mean_rank(draw_view(X, TRUTH, labelling, Seed(2)).data.s, age)
        for labelling in ALL[:3]
    }
    scar, rising, falling = found.values()
    assert scar == pytest.approx(0.5, abs=0.02)
    assert rising > 0.6
    assert falling < 0.4


def test_a_bias_along_the_class_probability() -> None:
    rising, falling = (draw_view(X, TRUTH, labelling, Seed(2)).data.s for labelling in ALL[3:])
    signal = X.values[:, 0]
    assert mean_rank(rising, signal) > 0.6
    assert mean_rank(falling, signal) < 0.4


def test_case_control_keeps_the_population_share_among_the_unlabeled() -> None:
    view = draw_view(X, TRUTH, Labelling(0.5, sampling="case-control"), Seed(1))
    assert view.truth.y[~view.data.s].mean() == pytest.approx(TRUTH.y.mean(), abs=0.001)
    np.testing.assert_array_equal(view.data.X.values, X.values[view.rows])
    single = draw_view(X, TRUTH, Labelling(0.5), Seed(1))
    assert single.truth.y[~single.data.s].mean() < 0.7 * TRUTH.y.mean()


@pytest.mark.parametrize("labelling", ALL, ids=str)
def test_equal_seeds_give_equal_views(labelling: Labelling) -> None:
    one, same, other = (draw_view(X, TRUTH, labelling, Seed(seed)).data.s for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Labelling(0.0), "theta_O"),
        (lambda: Labelling(1.1), "theta_O"),
        (lambda: Labelling(0.5, "guess"), "mechanism"),  # type: ignore[arg-type]
        (lambda: Labelling(0.5, "feature"), "names a feature"),
        (lambda: Labelling(0.5, feature="age"), "names a feature"),
    ],
)
def test_an_impossible_labelling_is_refused(build: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build()  # type: ignore[operator]


def test_tables_that_cannot_be_labelled_are_refused() -> None:
    few = Truth(np.arange(X.n_rows) < 3)
    with pytest.raises(DataError, match="labels none of the 3 positives"):
        draw_view(X, few, Labelling(0.1), Seed(0))
    with pytest.raises(DataError, match="no positives"):
        draw_view(X, Truth(np.zeros(X.n_rows, dtype=bool)), Labelling(0.5), Seed(0))
    with pytest.raises(DataError, match=r"no feature 'agee'. Did you mean 'age'"):
        draw_view(X, TRUTH, Labelling(0.5, "feature", feature="agee"), Seed(0))
    city = Table(np.zeros((3, 1)), (Feature("city", "categorical", ("a",)),))
    with pytest.raises(DataError, match="categorical"):
        draw_view(city, Truth(np.array([1, 1, 0])), Labelling(0.5, "feature", feature="city"), Seed(0))


def test_observed_labels_are_taken_as_they_are() -> None:
    X, truth = population(100)
    data, notices = pu_data(Dataset(X, observed=truth.y), None, Seed(0))
    assert np.array_equal(data.s, truth.y)
    assert notices == ()
    with pytest.raises(ParameterError, match="observed labels"):
        pu_data(Dataset(X, observed=truth.y), 0.3, Seed(0))


@pytest.mark.parametrize(("theta_o", "share"), [(None, 0.5), (0.2, 0.2)])
def test_where_only_truth_is_known_labels_are_drawn_with_a_notice(
    theta_o: float | None, share: float
) -> None:
    X, truth = population(1000)
    data, (notice,) = pu_data(Dataset(X, truth=truth), theta_o, Seed(0))
    assert not (data.s & ~truth.y).any()
    assert data.n_labelled == round(share * int(truth.y.sum()))
    assert f"the share {share:g} (--theta-o)" in notice

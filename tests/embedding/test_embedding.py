"""An embedded table is complete and float32, and its distances are meaningful."""

import json
import tracemalloc
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pubench.embedding import Embedding, FittedEmbedding
from pubench.embedding.columns import MAX_CATEGORIES
from pubench.embedding.scalings import LIMIT, SCALINGS
from pubench.errors import DataError, ParameterError
from pubench.types import Feature, FloatVector, Table

NAN = float("nan")
EVERY_SCALING = pytest.mark.parametrize("scaling", SCALINGS)
#: Time limits per example fail on a busy machine.
properties = settings(deadline=None, max_examples=60)
reasonable = st.floats(-1e6, 1e6, width=32)


def column(values: npt.ArrayLike, kind: Any = "numeric", categories: tuple[str, ...] = ()) -> Table:
    matrix = np.asarray(values, dtype=np.float64).reshape(-1, 1)
    return Table(matrix, (Feature("a", kind, categories),))


def embedded(X: Table, scaling: str = "standard") -> npt.NDArray[Any]:
    return Embedding(scaling).fit(X).transform(X).values


def distance(X: Table, first: int, second: int) -> float:
    values = embedded(X).astype(np.float64)
    return float(np.linalg.norm(values[first] - values[second]))


def mixed(rows: int = 400, seed: int = 0) -> Table:
    """A table of every kind, with missing values in every kind."""
    generator = np.random.default_rng(seed)
    values = np.column_stack(
        [
            generator.lognormal(size=rows),
            generator.integers(0, 5, rows),
            generator.integers(0, 2, rows),
            generator.integers(0, 3, rows),
            generator.integers(19000, 20000, rows),
            np.full(rows, 7.0),
            generator.normal(1e9, 1e-3, rows),
        ]
    ).astype(np.float64)
    values[generator.random(values.shape) < 0.05] = NAN
    kinds = [
        Feature("amount"),
        Feature("count"),
        Feature("flag", "boolean"),
        Feature("colour", "categorical", ("red", "green", "blue")),
        Feature("day", "date"),
        Feature("constant or missing"),
        Feature("offset"),
    ]
    return Table(values, tuple(kinds))


#: Whole numbers: their quartiles do not vanish beside a large shift.
varying = hnp.arrays(np.float64, st.integers(3, 60), elements=st.integers(-(10**6), 10**6)).filter(
    lambda values: np.ptp(values) > 0
)


# --- what always holds


@EVERY_SCALING
def test_the_result_is_complete_numeric_float32(scaling: str) -> None:
    X = mixed()
    fitted = Embedding(scaling).fit(X)
    result = fitted.transform(X)
    assert result.values.dtype == np.float32
    assert result.values.flags.c_contiguous
    assert np.isfinite(result.values).all()
    assert result.features == fitted.features
    assert {feature.kind for feature in result.features} == {"numeric"}


@EVERY_SCALING
def test_a_row_is_embedded_the_same_alone_and_among_others(
    scaling: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = mixed()
    fitted = Embedding(scaling).fit(X)
    whole = fitted.transform(X).values
    assert np.array_equal(fitted.transform(X.take(np.array([3]))).values, whole[[3]])
    monkeypatch.setattr("pubench.embedding.embedding._BLOCK_VALUES", 100)
    assert np.array_equal(fitted.transform(X).values, whole)
    assert fitted.transform(X.take(np.array([], dtype=np.int64))).n_rows == 0


@EVERY_SCALING
def test_the_order_of_rows_changes_nothing_but_the_order(scaling: str) -> None:
    X = mixed()
    order = np.random.default_rng(1).permutation(X.n_rows)
    assert np.array_equal(embedded(X.take(order), scaling), embedded(X, scaling)[order])


@EVERY_SCALING
def test_float32_and_float64_tables_embed_alike(scaling: str) -> None:
    X = mixed().take(np.arange(100))
    narrow = Table(X.values.astype(np.float32), X.features)
    wide = Table(narrow.values.astype(np.float64), X.features)
    assert np.array_equal(embedded(narrow, scaling), embedded(wide, scaling))


@EVERY_SCALING
@given(
    values=hnp.arrays(
        np.float64, st.integers(1, 40), elements=st.floats(allow_infinity=False, allow_nan=True)
    )
)
@properties
def test_any_numbers_give_finite_results_or_an_error(scaling: str, values: FloatVector) -> None:
    try:
        fitted = Embedding(scaling).fit(column(values))
    except DataError as error:
        assert "No feature" in str(error) or scaling == "none"  # noqa: PT017 - either outcome is right
        return
    result = fitted.transform(column(values)).values
    assert np.isfinite(result).all()
    assert np.abs(result).max() <= np.float32(LIMIT)
    present = np.flatnonzero(~np.isnan(values))
    if fitted.features[0].name == "a":  # order is kept up to rounding
        ascending = present[np.argsort(values[present])]
        assert all(first <= second for first, second in pairwise(result[ascending, 0]))


# --- scalings


def test_standard_gives_mean_0_and_deviation_1() -> None:
    values = np.random.default_rng(0).gamma(2, 5, 1000)
    assert embedded(column(values))[:, 0] == pytest.approx((values - values.mean()) / values.std(), rel=1e-6)


def test_robust_is_not_moved_by_outliers_and_agrees_with_standard_on_normal_data() -> None:
    values = np.random.default_rng(0).normal(5, 3, 20_000)
    clean = embedded(column(values), "robust")[:, 0]
    assert clean.std() == pytest.approx(1, abs=0.03)
    assert np.median(clean) == pytest.approx(0, abs=1e-6)
    spoiled = embedded(column(np.append(values, [1e9] * 20)), "robust")[:-20, 0]
    assert spoiled == pytest.approx(clean, abs=0.01)


def test_robust_falls_back_to_the_deviation_where_most_values_are_equal() -> None:
    values = np.append(np.zeros(90), np.arange(10.0))
    assert embedded(column(values), "robust")[:, 0] == pytest.approx(values / values.std(), rel=1e-6)


def test_quantile_spreads_evenly_with_variance_1() -> None:
    values = np.random.default_rng(0).lognormal(size=500)
    result = embedded(column(values), "quantile")[:, 0].astype(np.float64)
    assert result.mean() == pytest.approx(0, abs=1e-6)
    assert result.var() == pytest.approx(1, rel=1e-5)
    assert np.ptp(np.diff(np.sort(result))) < 1e-5


def test_quantile_gives_equal_values_their_mean_rank_and_rare_ones_no_more_than_their_share() -> None:
    values = np.append(np.zeros(998), [1.0, 2.0])
    zero, one, two = embedded(column(values), "quantile")[[0, 998, 999], 0] / np.sqrt(12)
    assert (zero, one, two) == pytest.approx((0.499 - 0.5, 0.9985 - 0.5, 0.9995 - 0.5), abs=1e-5)


def test_quantile_interpolates_and_clips_new_rows() -> None:
    fitted = Embedding("quantile").fit(column([0, 10, 20, 30]))
    low, first, between, last, high = fitted.transform(column([-5, 0, 5, 30, 1e300])).values[:, 0]
    second = fitted.transform(column([10])).values[0, 0]
    assert low == first
    assert high == last
    assert between == pytest.approx((first + second) / 2)


def test_quantile_of_many_distinct_values_is_close_to_the_exact_ranks() -> None:
    generator = np.random.default_rng(0)
    values = np.concatenate([np.zeros(6000), np.full(5000, 3.0), generator.lognormal(size=9000)])
    result = embedded(column(values), "quantile")[:, 0] / np.sqrt(12) + 0.5
    ordered = np.sort(values)
    exact = (
        (np.searchsorted(ordered, values) + np.searchsorted(ordered, values, side="right")) / 2 / len(values)
    )
    assert np.abs(result - exact).max() < 3 / 1024
    assert result[:6000] == pytest.approx(exact[:6000], abs=1e-6)


def test_none_leaves_values_as_they_are() -> None:
    assert embedded(column([1.5, -2, 1e10]), "none")[:, 0].tolist() == [1.5, -2, 1e10]


def test_none_refuses_what_is_too_large_for_distances_and_clips_new_rows() -> None:
    with pytest.raises(DataError, match=r"'a'.*another scaling"):
        Embedding("none").fit(column([0, 1e16]))
    fitted = Embedding("none").fit(column([0, 1]))
    assert fitted.transform(column([1e300])).values[0, 0] == np.float32(LIMIT)


@pytest.mark.parametrize("scaling", ["standard", "robust"])
@given(values=varying, shift=reasonable, factor=st.floats(1e-3, 1e3))
@properties
def test_shift_and_scale_do_not_matter(
    scaling: str, values: FloatVector, shift: float, factor: float
) -> None:
    moved = embedded(column(values * factor + shift * factor), scaling)
    original = embedded(column(values), scaling)
    assert moved == pytest.approx(original, rel=1e-4, abs=1e-4 * float(1 + np.abs(original).max()))


@given(values=hnp.arrays(np.float64, st.integers(2, 60), elements=st.integers(-50, 50)))
@properties
def test_monotone_changes_do_not_matter_to_quantiles(values: FloatVector) -> None:
    if np.ptp(values) > 0:
        changed = embedded(column(np.exp(values / 10)), "quantile")
        assert np.array_equal(changed, embedded(column(values), "quantile"))


@EVERY_SCALING
def test_a_large_offset_costs_no_precision_but_that_of_the_data(scaling: str) -> None:
    steps = np.arange(200.0) % 17
    far, near = (embedded(column(steps * 2**-10 + offset), scaling) for offset in (2.0**40, 0.0))
    if scaling != "none":
        assert far == pytest.approx(near, abs=1e-5)


@pytest.mark.parametrize("scaling", ["standard", "robust", "quantile"])
@pytest.mark.parametrize("size", [1e308, 1e-300])
def test_extreme_magnitudes_are_scaled_like_any_others(scaling: str, size: float) -> None:
    values = np.array([-1.0, 0.25, 0.5, 1.0, NAN])
    assert embedded(column(values * size), scaling) == pytest.approx(
        embedded(column(values), scaling), rel=1e-6
    )


def test_a_wrong_name_suggests_the_right_one() -> None:
    with pytest.raises(ParameterError, match="Did you mean 'robust'") as caught:
        Embedding("robsut")
    assert "standard" in str(caught.value)


# --- flags, categories and what is missing


@EVERY_SCALING
def test_flags_stay_0_and_1_however_rare_they_are(scaling: str) -> None:
    flag = np.arange(10_000) == 5
    assert np.array_equal(embedded(column(flag, "boolean"), scaling)[:, 0], flag)


def test_different_categories_are_1_apart() -> None:
    X = column([0, 1, 2, 2, NAN], "categorical", ("x", "y", "z"))
    assert [distance(X, 0, other) for other in (1, 2, 4)] == pytest.approx([1, 1, 1])
    assert distance(X, 2, 3) == 0
    assert [feature.name for feature in Embedding().fit(X).features] == [
        "a = x",
        "a = y",
        "a = z",
        "a is missing",
    ]


def test_categories_are_known_by_their_text_not_by_their_code() -> None:
    fitted = Embedding().fit(column([0, 1], "categorical", ("x", "y")))
    new = fitted.transform(column([0, 2], "categorical", ("y", "w", "x")))
    assert np.array_equal(new.values > 0, [[False, True], [True, False]])


def test_an_unseen_or_newly_missing_category_is_equally_far_from_all() -> None:
    fitted = Embedding().fit(column([0, 1], "categorical", ("x", "y", "unseen")))
    assert len(fitted.features) == 2
    assert not fitted.transform(column([2, NAN], "categorical", ("x", "y", "unseen"))).values.any()


def test_rare_categories_share_a_column_and_unseen_ones_join_them() -> None:
    texts = tuple(f"c{number}" for number in range(80))
    counts = np.where(np.arange(80) % 2, 3, 1)
    counts[::8] = 2
    fitted = Embedding().fit(column(np.repeat(np.arange(80), counts), "categorical", texts))
    names = [feature.name for feature in fitted.features]
    assert len(names) == MAX_CATEGORIES
    assert {f"a = c{number}" for number in range(1, 80, 2)} < set(names)
    assert names[-1] == "a = other"
    new = fitted.transform(column([2, 80, 1], "categorical", (*texts, "unseen"))).values
    assert np.flatnonzero(new[0]) == np.flatnonzero(new[1]) == len(names) - 1
    assert np.linalg.norm(new[0] - new[2]) == pytest.approx(1)


@pytest.mark.parametrize("code", [3, -1, 0.5])
def test_a_code_without_a_category_is_refused(code: float) -> None:
    good = column([0, 1, 2], "categorical", ("x", "y", "z"))
    bad = column([0, code], "categorical", ("x", "y", "z"))
    with pytest.raises(DataError, match="'a' holds the code"):
        Embedding().fit(bad)
    with pytest.raises(DataError, match="'a' holds the code"):
        Embedding().fit(good).transform(bad)


@EVERY_SCALING
def test_a_missing_value_becomes_the_median_and_a_flag(scaling: str) -> None:
    result = embedded(column([1, 2, 3, 50, 100, NAN]), scaling)
    assert result[5, 0] == result[2, 0]
    assert result[:, 1].tolist() == [0, 0, 0, 0, 0, 1]


def test_missing_is_as_far_from_present_as_present_values_are_from_each_other() -> None:
    values = np.append(np.random.default_rng(0).standard_normal(2000), NAN)
    result = embedded(column(values)).astype(np.float64)
    to_missing = np.mean(np.sum((result[:-1] - result[-1]) ** 2, axis=1))
    among_present = 2 * np.var(result[:-1, 0])
    assert to_missing == pytest.approx(among_present, rel=0.01)


def test_a_newly_missing_value_is_the_median_without_a_flag() -> None:
    fitted = Embedding().fit(column([1, 2, 30]))
    missing, median = fitted.transform(column([NAN, 2])).values
    assert missing.tolist() == median.tolist()


def test_what_never_varies_has_no_column_and_missingness_alone_has_a_flag() -> None:
    values = np.column_stack([[1, 2, 3], [5, 5, 5], [NAN] * 3, [1, NAN, 1], [0, 0, 0], [NAN] * 3])
    kinds: list[Any] = ["numeric", "numeric", "numeric", "boolean", "categorical", "categorical"]
    features = [Feature(f"x{number}", kind, ("only",)) for number, kind in enumerate(kinds)]
    X = Table(values, tuple(features))
    assert [feature.name for feature in Embedding().fit(X).features] == ["x0", "x3 is missing"]
    assert embedded(X)[:, 1].tolist() == [0, 1, 0]


@EVERY_SCALING
def test_a_table_in_which_nothing_varies_is_refused(scaling: str) -> None:
    with pytest.raises(DataError, match="No feature tells rows apart"):
        Embedding(scaling).fit(column([3, 3]))
    with pytest.raises(DataError, match="No feature tells rows apart"):
        Embedding(scaling).fit(column([]))


def test_names_stay_unique() -> None:
    values = np.array([[1, 0, 0], [NAN, 1, 1], [2, 0, 1]])
    X = Table(
        values, (Feature("a"), Feature("a is missing"), Feature("c", "categorical", ("other", "other (2)")))
    )
    names = [feature.name for feature in Embedding().fit(X).features]
    assert names == ["a", "a is missing", "a is missing (2)", "c = other", "c = other (2)"]


# --- the fitted embedding


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([Feature("a"), Feature("z")], "Feature 2 is 'z' .numeric., but .* fitted on 'b'"),
        ([Feature("a"), Feature("b", "date")], "Feature 2 is 'b' .date."),
        ([Feature("a")], "has 1 features; .* fitted on 2"),
    ],
)
def test_another_table_is_refused_with_the_first_difference(features: list[Feature], message: str) -> None:
    fitted = Embedding().fit(Table(np.eye(2), (Feature("a"), Feature("b"))))
    with pytest.raises(DataError, match=message):
        fitted.transform(Table(np.ones((1, len(features))), tuple(features)))


@EVERY_SCALING
def test_it_survives_json_bit_for_bit(scaling: str) -> None:
    X = mixed()
    fitted = Embedding(scaling).fit(X)
    text = json.dumps(fitted.to_json(), allow_nan=False)
    again = FittedEmbedding.from_json(json.loads(text))
    assert again.embedding == fitted.embedding
    assert again.features == fitted.features
    assert np.array_equal(again.transform(X).values, fitted.transform(X).values)
    assert json.dumps(again.to_json()) == text


HOSTILE: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    10**400,
    1.5,
    NAN,
    float("inf"),
    "x",
    [],
    [1],
    {},
    {"unit": 1},
    [[]],
)


def spoiled(document: Any, junk: object) -> list[Any]:
    """Return copies of the document, each with one part replaced by junk or left out."""
    if not isinstance(document, dict | list):
        return [junk]
    keys = list(document) if isinstance(document, dict) else range(min(len(document), 2))
    copies: list[Any] = [junk]
    for key in keys:
        for part in spoiled(document[key], junk):
            copy = document.copy()
            copy[key] = part
            copies.append(copy)
        shorter = document.copy()
        del shorter[key]
        copies.append(shorter)
    return copies


@pytest.mark.parametrize("scaling", ["standard", "quantile"])
@pytest.mark.parametrize("junk", HOSTILE, ids=lambda junk: str(junk)[:12])
def test_hostile_json_is_refused_or_harmless(scaling: str, junk: object) -> None:
    generator = np.random.default_rng(0)
    values = np.column_stack([generator.random(9), generator.integers(0, 2, 9)])
    values[0] = NAN
    X = Table(values, (Feature("a"), Feature("c", "categorical", ("x", "y"))))
    refused = 0
    for document in spoiled(Embedding(scaling).fit(X).to_json(), junk):
        try:
            fitted = FittedEmbedding.from_json(document)
            assert np.isfinite(fitted.transform(X).values).all()
        except DataError as error:
            refused += 1
            assert "\n" not in str(error)  # noqa: PT017 - either outcome is right
    assert refused > 10


def test_only_a_block_of_rows_is_in_memory_besides_the_result() -> None:
    X = Table.from_array(np.random.default_rng(0).random((60_000, 20), dtype=np.float32))
    one_column = 8 * X.n_rows
    tracemalloc.start()
    try:
        fitted = Embedding().fit(X)
        fit_peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        result = fitted.transform(X)
        transform_peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert fit_peak < 4 * one_column
    # The check of a new table for infinite values takes a byte for each.
    assert transform_peak < result.values.nbytes + result.values.size + 2 * one_column

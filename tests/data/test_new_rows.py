"""New data as the features of a model: found by name, encoded as before, or refused in one sentence."""

import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubench.data.column_types import encode
from pubench.data.new_rows import Encoder, encode_as
from pubench.data.notices import Notices
from pubench.errors import DataError
from pubench.types import Feature, Table

NUMBER, FLAG, DAY = Feature("x"), Feature("x", "boolean"), Feature("x", "date")
TOWN = Feature("x", "categorical", ("Bonn", "Ulm"))


def chunked(values: list[Any], kind: Any = None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values, kind)])


def encoded(values: list[Any], feature: Feature, kind: Any = None) -> list[float]:
    table, _ = encode_as({"x": chunked(values, kind)}, (feature,))
    return [float(value) for value in table.values[:, 0]]


def same(a: list[float], b: list[float]) -> bool:
    return bool(np.array_equal(a, b, equal_nan=True))


COLUMNS: dict[str, st.SearchStrategy[Any]] = {
    "number": st.floats(-1e6, 1e6),
    "count": st.integers(-(2**40), 2**40),
    "flag": st.booleans(),
    "town": st.sampled_from(["Ulm", "Bonn", "7", "007", "Zürich"]),
    "day": st.dates(datetime.date(1950, 1, 1), datetime.date(2100, 1, 1)),
    "moment": st.datetimes(datetime.datetime(1950, 1, 1), datetime.datetime(2100, 1, 1)),
}
KINDS = {"number": pa.float64(), "count": pa.int64(), "flag": pa.bool_(), "town": pa.string(), "day": pa.date32(), "moment": pa.timestamp("us")}  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.fixed_dictionaries({name: st.none() | values for name, values in COLUMNS.items()}), min_size=1),
    st.permutations(list(COLUMNS)),
    st.data(),
)  # fmt: skip
def test_the_table_trained_on_comes_back_bit_for_bit(
    rows: list[dict[str, Any]], order: list[str], data: st.DataObject
) -> None:
    columns = {name: chunked([row[name] for row in rows], KINDS[name]) for name in COLUMNS}
    trained, _ = encode(dict(columns), Notices())
    shuffled = {"extra": columns["number"], **{name: columns[name] for name in order}}
    again, notices = encode_as(shuffled, trained.features)
    assert again.features == trained.features
    np.testing.assert_array_equal(again.values, trained.values)
    assert notices == ()
    cut = data.draw(st.integers(0, len(rows)))
    encoder = Encoder(trained.features)
    pieces = [
        encoder.encode({name: column.slice(*piece) for name, column in columns.items()})
        for piece in ((0, cut), (cut, len(rows) - cut))
    ]
    np.testing.assert_array_equal(np.concatenate([piece.values for piece in pieces]), trained.values)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.fixed_dictionaries({name: st.none() | COLUMNS[name] for name in KINDS}), min_size=1))
def test_what_is_stored_as_text_means_the_same(rows: list[dict[str, Any]]) -> None:
    columns = {name: chunked([row[name] for row in rows], KINDS[name]) for name in KINDS}
    trained, _ = encode(dict(columns), Notices())
    as_text = {name: column.cast("string") for name, column in columns.items()}
    again, _ = encode_as(as_text, trained.features)
    np.testing.assert_array_equal(again.values, trained.values)


def test_float32_stays_float32() -> None:
    table, _ = encode_as({"x": chunked([1.5], pa.float32())}, (NUMBER,))
    assert table.values.dtype == np.float32


def test_a_missing_column_is_named_with_a_suggestion() -> None:
    columns = {"incme": chunked([1.0]), "b": chunked([1.0])}
    with pytest.raises(DataError, match=r"There is no column 'income'.* Did you mean 'incme'") as error:
        encode_as(columns, (Feature("income"), Feature("b")))
    assert "2 of" not in str(error.value)
    with pytest.raises(DataError, match="2 of the model's 3 columns are missing"):
        encode_as(columns, (Feature("income"), Feature("b"), Feature("c")))


def test_unknown_categories_are_missing_and_counted() -> None:
    encoder = Encoder((TOWN,))
    first = encoder.encode({"x": chunked(["Ulm", "Rome", None])})
    second = encoder.encode({"x": chunked(["Oslo", "Bonn", "Rome"])})
    values: npt.NDArray[Any] = np.concatenate([first.values, second.values])
    assert same(values[:, 0].tolist(), [1, np.nan, np.nan, np.nan, 0, np.nan])
    (notice,) = encoder.notices()
    assert "'x'" in notice
    assert "'Rome', in 3 rows" in notice


@pytest.mark.parametrize(
    ("values", "kind", "categories", "codes"),
    [
        ([7, 12, None], pa.int64(), ("007", "12", "A3"), [0, 1, np.nan]),
        ([7.0, 12.5], pa.float64(), ("12.50", "7"), [1, 0]),
        ([7], pa.int64(), ("007", "07", "A"), [np.nan]),
        ([7], pa.int64(), ("007", "7", "A"), [1]),
        ([True, False], pa.bool_(), ("False", "True", "maybe"), [1, 0]),
        ([datetime.date(2024, 1, 2)], pa.date32(), ("2024-01-02", "unknown"), [0]),
        (["b", "a"], pa.dictionary(pa.int8(), pa.string()), ("a", "b"), [1, 0]),
    ],
)
def test_categories_that_were_read_as_something_else(
    values: list[Any], kind: Any, categories: tuple[str, ...], codes: list[float]
) -> None:
    assert same(encoded(values, Feature("x", "categorical", categories), kind), codes)


def test_text_never_matches_by_value() -> None:
    """Where the column still is text, '7' and '007' are two categories."""
    assert same(encoded(["7"], Feature("x", "categorical", ("007", "A"))), [np.nan])


@pytest.mark.parametrize("feature", [NUMBER, FLAG, DAY, TOWN])
def test_a_column_without_values_is_missing_throughout(feature: Feature) -> None:
    for kind in (pa.null(), pa.string(), None):
        assert same(encoded([None, None], feature, kind), [np.nan, np.nan])


def test_words_for_missing_values_are_no_categories() -> None:
    table, notices = encode_as({"x": chunked(["Ulm", "NA", "?"])}, (TOWN,))
    assert same(table.values[:, 0].tolist(), [1, np.nan, np.nan])
    assert notices == ()
    assert same(encoded(["1", " NA", ""], NUMBER), [1, np.nan, np.nan])
    assert same(encoded(["NA"], Feature("x", "categorical", ("NA", "b"))), [0])


@pytest.mark.parametrize(
    ("values", "feature", "expected"),
    [
        ([True, False], NUMBER, [1, 0]),
        ([1, 0, None], FLAG, [1, 0, np.nan]),
        (["True", "0"], FLAG, [1, 0]),
        ([" 1.5", "2e3 "], NUMBER, [1.5, 2000]),
        ([datetime.time(6)], NUMBER, [0.25]),
        (["1970-01-02", "1970-01-01 12:00:00.5"], DAY, [1, 0.5 + 0.5 / 86400]),
        (["1970-01-02T00:00:00Z", "1970-01-01T12:00:00-06:00"], DAY, [1, 0.75]),
        (["3000-01-01 00:00:00.5"], DAY, [376200 + 0.5 / 86400]),
    ],
)
def test_other_forms_of_the_same(values: list[Any], feature: Feature, expected: list[float]) -> None:
    assert same(encoded(values, feature), expected)


@pytest.mark.parametrize(
    ("values", "feature", "sentence"),
    [
        (["1", "two"], NUMBER, "Column 'x' holds 'two' in row 2; the model was trained on numbers there."),
        (["1", "1,5"], NUMBER, "Column 'x' holds '1,5' in row 2; the model was trained on numbers there."),
        (["1", "06:00"], NUMBER, "Column 'x' holds '06:00' in row 2"),
        ([0, 2], FLAG, "Column 'x' holds '2' in row 2; the model was trained on true and false"),
        (["yes"], FLAG, "Column 'x' holds 'yes' in row 1"),
        ([None, 5], DAY, "Column 'x' holds '5' in row 2; the model was trained on dates there"),
        (["2024-01-01 00:00:00.5", "31.12.24"], DAY, "Column 'x' holds '31.12.24' in row 2"),
        ([datetime.date(2024, 1, 2)], NUMBER, "Column 'x' holds '2024-01-02' in row 1"),
        ([datetime.date(2024, 1, 2)], FLAG, "Column 'x' holds '2024-01-02' in row 1"),
        ([1.0, float("inf")], NUMBER, "Column 'x' is infinite in row 2"),
        ([[1]], NUMBER, "Column 'x' holds list"),
        ([[1]], TOWN, "Column 'x' holds list"),
    ],
)
def test_what_cannot_be_the_feature_is_refused(values: list[Any], feature: Feature, sentence: str) -> None:
    with pytest.raises(DataError) as error:
        encoded(values, feature)
    assert str(error.value).startswith(sentence)


def test_row_numbers_go_on_through_the_batches() -> None:
    encoder = Encoder((NUMBER,))
    assert isinstance(encoder.encode({"x": chunked([1.0, 2.0])}), Table)
    with pytest.raises(DataError, match="'two' in row 3"):
        encoder.encode({"x": chunked(["two"])})
    with pytest.raises(DataError, match="infinite in row 4"):
        encoder.encode({"x": chunked([1.0, float("inf")])})

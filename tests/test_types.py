"""The values that flow: what they accept, and that nobody can change them."""

import numpy as np
import pytest

from pubench.errors import DataError
from pubench.truth import Truth
from pubench.types import Affinity, Feature, PUData, Record, RunSpec, Scores, Split, Status, Table, Tags

X = np.arange(12.0).reshape(6, 2)
S = np.array([1, 0, 0, 1, 0, 0], dtype=bool)


def spec(**changes: object) -> RunSpec:
    values = {
        "dataset": "d",
        "view": {"theta_o": 0.5},
        "method": "m",
        "configuration": {},
        "fold": 0,
        "seed": 1,
    }
    return RunSpec(**{**values, **changes})  # type: ignore[arg-type]


def test_arrays_inside_a_value_can_not_be_written() -> None:
    data = PUData(Table.from_array(X), S)
    for array in (data.X.values, data.s, Truth(S).y, Scores(X[:, 0]).values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_the_caller_keeps_a_writable_array() -> None:
    mine = X.copy()
    Table.from_array(mine)
    mine[0, 0] = 5


@pytest.mark.parametrize(
    ("values", "features", "message"),
    [
        (X, (Feature("a"),), "2 columns but 1"),
        (X, (Feature("a"), Feature("a")), "called 'a'"),
        (np.where(X == 7, np.inf, X), (Feature("a"), Feature("b")), "'b' is infinite in row 3"),
        (X[:, 0], (), "float32 or float64 matrix"),
        (X.astype(int), (Feature("a"), Feature("b")), "int64"),
    ],
)
def test_a_table_refuses(values: np.ndarray, features: tuple[Feature, ...], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Table(values, features)


def test_missing_values_stay_missing() -> None:
    assert np.isnan(Table.from_array([[1.0, np.nan]]).values[0, 1])


@pytest.mark.parametrize(
    ("s", "message"),
    [
        (np.zeros(6, dtype=bool), "No row is labelled"),
        (np.ones(6, dtype=bool), "Every row is labelled"),
        (S[:3], "3 values for 6 rows"),
        (S.reshape(2, 3), "one-dimensional"),
    ],
)
def test_pu_data_refuses(s: np.ndarray, message: str) -> None:
    with pytest.raises(DataError, match=message):
        PUData(Table.from_array(X), s)


def test_taking_rows_keeps_features_and_labels_together() -> None:
    taken = PUData(Table.from_array(X), S).take(np.array([3, 1]))
    assert taken.X.values.tolist() == [[6.0, 7.0], [2.0, 3.0]]
    assert taken.s.tolist() == [True, False]


@pytest.mark.parametrize(
    ("train", "test"), [([2, 1], [3]), ([1, 1], [3]), ([1, 2], [2]), ([-1, 2], [3]), ([0.5], [3])]
)
def test_a_split_is_ordered_and_disjoint(train: list[float], test: list[int]) -> None:
    with pytest.raises(DataError):
        Split(np.array(train), np.array(test))


@pytest.mark.parametrize("values", [[1.01], [-0.01], [np.nan]])
def test_an_affinity_is_a_probability(values: list[float]) -> None:
    with pytest.raises(DataError, match=r"\[0, 1\]"):
        Affinity(np.array(values))


def test_expected_positives_is_the_sum() -> None:
    assert Affinity(np.array([0.0, 0.25, 0.5])).expected_positives == 0.75


def test_rows_of_weight_zero_do_not_count() -> None:
    assert Tags(S).counted.tolist() == [0, 1, 2, 3, 4, 5]
    assert Tags(S, np.array([1, 0, 2.0, 0, 1, 0])).counted.tolist() == [0, 2, 4]
    with pytest.raises(DataError, match="not negative"):
        Tags(S, -np.ones(6))


def test_tags_hold_both_classes_among_the_rows_that_count() -> None:
    for positive, weight in ((np.ones(6, bool), None), (np.zeros(6, bool), None), (S, S.astype(float))):
        with pytest.raises(DataError, match="a positive and a negative"):
            Tags(positive, weight)


@pytest.mark.parametrize("labels", [[1, -1, 0], [1.0, np.nan, 0.0], [2, 0, 0], ["a", "b", "b"]])
def test_labels_are_never_guessed(labels: list[object]) -> None:
    for build in (lambda: PUData(Table.from_array(X[:3]), np.array(labels)), lambda: Truth(np.array(labels))):
        with pytest.raises(DataError, match="0 and 1"):
            build()


def test_scores_are_finite() -> None:
    with pytest.raises(DataError, match="row 1 is nan"):
        Scores(np.array([0.0, np.nan]))


def test_truth_does_not_show_itself() -> None:
    assert "True" not in repr(Truth(S))


def test_a_key_depends_on_content_alone() -> None:
    assert spec(view={"a": 1, "b": 2}).key == spec(view={"b": 2, "a": 1}).key
    assert len({spec().key, spec(fold=1).key, spec(seed=2).key, spec(method="n").key}) == 4
    assert spec().key == "f69367e49407d4d0f40678a9c565ff0c"  # the same on every machine and in every version


def test_a_record_states_a_reason_exactly_when_it_failed() -> None:
    Record(spec(), Status.OK, metrics={"aul_pu": 0.6})
    with pytest.raises(DataError, match="reason"):
        Record(spec(), Status.FAILED)
    with pytest.raises(DataError, match="'auc'"):
        Record(spec(), Status.OK, metrics={"auc": float("nan")})

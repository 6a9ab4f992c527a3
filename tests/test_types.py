"""The values that flow through pubench: what they accept, and that they cannot be changed."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubench.errors import DataError
from pubench.truth import Truth
from pubench.types import (
    Affinity,
    Feature,
    PUData,
    Resources,
    Scores,
    Split,
    Table,
    Tags,
)

X = np.arange(12.0).reshape(6, 2)
S = np.array([1, 0, 0, 1, 0, 0], dtype=bool)


def test_arrays_inside_a_value_cannot_be_written() -> None:
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


@pytest.mark.parametrize(
    ("positive", "weight"),
    [
        (np.ones(6), None),
        (np.zeros(6), None),
        (S, S.astype(float)),
        (S, (~S).astype(float)),
        ([1.0, 0.5, 0.5], [1.0, 0.0, 0.0]),
        ([0.0, 0.5, 0.5], [1.0, 0.0, 0.0]),
        (S, np.zeros(6)),
        ([], None),
    ],
)
def test_tags_have_both_classes_among_the_rows_that_count(positive: np.ndarray, weight: np.ndarray) -> None:
    with pytest.raises(DataError, match="a positive and a negative"):
        Tags(positive, weight)


@pytest.mark.parametrize("positive", [[0.5], [1.0, 0.5], [0.0, 1e-9]])
def test_a_soft_tag_is_of_both_classes(positive: list[float]) -> None:
    assert Tags(np.array(positive)).positive.tolist() == positive


@pytest.mark.parametrize("positive", [[0.0, 1.01], [1.0, -0.01], [0.0, 1.0, np.nan], [0.0, np.inf]])
def test_tags_are_shares(positive: list[float]) -> None:
    with pytest.raises(DataError, match="between 0 and 1"):
        Tags(np.array(positive))


@pytest.mark.parametrize("weight", [[-1.0, 1.0], [1.0, np.nan], [np.inf, 1.0], [1.0], [1.0, 1.0, 1.0]])
def test_weights_of_tags_are_finite_not_negative_and_one_per_row(weight: list[float]) -> None:
    with pytest.raises(DataError, match="finite, not negative, and one per row"):
        Tags(np.array([1.0, 0.0]), np.array(weight))


def test_tags_and_weights_are_vectors() -> None:
    for positive, weight in ((S.reshape(2, 3), None), (S, np.ones((6, 1)))):
        with pytest.raises(DataError, match="one-dimensional"):
            Tags(positive, weight)


def test_tags_are_float_and_cannot_be_written() -> None:
    tags = Tags(S, np.array([0, 1, 2, 3, 4, 5]))
    assert tags.weight is not None
    for array in (tags.positive, tags.weight):
        assert array.dtype == np.float64
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_tags_are_hard_when_every_row_is_of_one_class() -> None:
    assert Tags(S).are_hard
    assert not Tags(np.array([1.0, 0.0, 0.5])).are_hard


def test_hard_tags_are_examples_as_they_are() -> None:
    examples = Tags(S).examples()
    assert examples.rows.tolist() == [0, 1, 2, 3, 4, 5]
    assert examples.positive.tolist() == S.tolist()
    assert examples.weight is None
    weighted = Tags(S, np.array([1, 0, 2.0, 0, 3, 0])).examples()
    assert weighted.weight is not None
    assert weighted.rows.tolist() == [0, 2, 4]
    assert weighted.positive.tolist() == [True, False, False]
    assert weighted.weight.tolist() == [1, 2, 3]


def test_a_soft_tag_is_two_examples_that_share_its_weight() -> None:
    examples = Tags(np.array([1.0, 0.25, 0.0, 0.5]), np.array([1.0, 4.0, 2.0, 0.0])).examples()
    assert examples.weight is not None
    found = zip(examples.rows.tolist(), examples.positive.tolist(), examples.weight.tolist(), strict=True)
    assert sorted(found) == [(0, True, 1.0), (1, False, 3.0), (1, True, 1.0), (2, False, 2.0)]


def test_soft_tags_without_weights_count_one_a_row() -> None:
    examples = Tags(np.array([1.0, 0.25])).examples()
    assert examples.weight is not None
    assert examples.positive.dtype == np.bool_
    assert examples.weight.tolist() == [1.0, 0.25, 0.75]


@given(st.data())
def test_examples_have_the_weight_of_the_tags(data: st.DataObject) -> None:
    share = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1))
    free = data.draw(st.lists(st.tuples(share, st.one_of(st.just(0.0), st.floats(1e-3, 1e3))), max_size=20))
    positive, weight = np.array([(1.0, 1.0), (0.0, 1.0), *free]).T
    examples = Tags(positive, weight).examples()
    assert examples.weight is not None
    assert (examples.weight > 0).all()
    assert set(examples.rows.tolist()) == set(np.flatnonzero(weight).tolist())
    for is_positive, part in ((True, positive), (False, 1 - positive)):
        of_class = examples.positive == is_positive
        rows = examples.rows[of_class]
        assert len(set(rows.tolist())) == len(rows)
        total = np.bincount(rows, examples.weight[of_class], minlength=len(weight))
        np.testing.assert_allclose(total, weight * part, rtol=1e-12, atol=0)
    both = np.bincount(examples.rows, examples.weight, minlength=len(weight))
    np.testing.assert_allclose(both, weight, rtol=1e-12, atol=0)


def test_without_a_cache_results_are_made_again_and_progress_is_ignored() -> None:
    calls = []

    def make() -> dict[str, np.ndarray]:
        calls.append(1)
        return {"a": X}

    resources = Resources()
    assert (resources.n_threads, resources.device) == (1, "cpu")
    assert [resources.keep("key", make)["a"] is X for _ in range(2)] == [True, True]
    assert len(calls) == 2
    resources.progress(0.5)


def test_resources_compare_and_can_be_sent_to_other_processes() -> None:
    assert Resources() == Resources(n_threads=1)
    assert Resources() != Resources(n_threads=2)
    assert hash(Resources()) == hash(Resources())
    assert pickle.loads(pickle.dumps(Resources(2, "cuda"))) == Resources(2, "cuda")  # noqa: S301 - our own bytes


@pytest.mark.parametrize("labels", [[1, -1, 0], [1.0, np.nan, 0.0], [2, 0, 0], ["a", "b", "b"]])
def test_labels_are_never_guessed(labels: list[object]) -> None:
    for build in (lambda: PUData(Table.from_array(X[:3]), np.array(labels)), lambda: Truth(np.array(labels))):
        with pytest.raises(DataError, match="0 and 1"):
            build()


def test_scores_are_finite() -> None:
    with pytest.raises(DataError, match="row 1 is nan"):
        Scores(np.array([0.0, np.nan]))


def test_truth_is_not_shown_by_repr() -> None:
    assert "True" not in repr(Truth(S))

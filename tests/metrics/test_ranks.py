"""Input is checked with one clear sentence, and placements follow their definition."""

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from pubench.errors import DataError
from pubench.metrics.aul import aul_pu_score
from pubench.metrics.ranks import Label, check_labels, check_scores, check_weights

SCORES = [0.1, 0.9, 0.4, 0.7]
EXPECTED = [False, True, False, True]


@pytest.mark.parametrize(
    ("labels", "pos_label"),
    [
        ([0, 1, 0, 1], None),
        ([-1, 1, -1, 1], None),
        ([False, True, False, True], None),
        ([0.0, 1.0, 0.0, 1.0], None),
        (np.array([0, 1, 0, 1], dtype=object), None),
        (pd.Series([0, 1, 0, 1], dtype="Int64"), None),
        (pd.Series([False, True, False, True]), None),
        (["good", "fraud", "good", "fraud"], "fraud"),
        (pd.Series(["good", "fraud", "good", "fraud"]), "fraud"),
        ([7, 3, 7, 3], 3),
        ([1, 0, 1, 0], 0),
        ([True, False, True, False], False),
    ],
)
def test_labels_come_in_many_forms(labels: npt.ArrayLike, pos_label: Label | None) -> None:
    assert check_labels(labels, pos_label).tolist() == EXPECTED
    assert aul_pu_score(labels, SCORES, pos_label=pos_label) == 0.75


@pytest.mark.parametrize(
    ("labels", "pos_label", "message"),
    [
        ([0, 0, 0], None, "No row of s is labelled positive"),
        ([-1, -1], None, "No row of s is labelled positive"),
        ([False, False], None, "No row of s is labelled positive"),
        ([1, 1, 1], None, "Every row of s is labelled positive"),
        (["a", "a"], "a", "Every row of s is labelled positive"),
        (["a", "a"], "b", "No row of s is labelled positive"),
        ([0, 1, 2], None, "row 2 holds 2"),
        ([-1, 1, -1, 0], None, "row 3 holds 0"),
        (["no", "yes"], None, "two values with pos_label"),
        (["0", "1"], None, "two values with pos_label"),
        (["a", "b", "c"], "a", "row 2 holds 'c'"),
        ([0, 1, None], None, "s must not be missing; row 2"),
        ([0.0, 1.0, np.nan], None, "row 2 holds nan"),
        (pd.Series([1, 0, None], dtype="Int64"), None, "row 2"),
        (np.array([1, 0, pd.NA], dtype=object), None, "s must not be missing; row 2"),
        ([[0, 1], [1, 0]], None, "s must be one-dimensional; it has shape (2, 2)"),
        ([[0, 1], [1]], None, "s must be one-dimensional"),
        (1, None, "s must be one-dimensional"),
        ([], None, "s has no rows"),
    ],
)
def test_bad_labels_are_refused(labels: npt.ArrayLike, pos_label: Label | None, message: str) -> None:
    with pytest.raises(DataError) as caught:
        check_labels(labels, pos_label)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([0.1, np.nan, np.nan], "scores must not be NaN; row 1 holds nan"),
        (np.array([0.1, np.nan], dtype=np.float32), "row 1 holds nan"),
        (["0.1", "0.2", "high"], "scores must be numbers; row 2 holds 'high'"),
        ([0.1, None], "scores must be numbers; row 1 holds None"),
        (pd.Series([0.1, None], dtype="Float64"), "row 1"),
        ([1j, 2j], "scores must be numbers; row 0 holds"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "scores must be numbers; row 0 holds"),
        ([[0.1], [0.2]], "scores must be one-dimensional; it has shape (2, 1)"),
        ([], "scores has no rows"),
    ],
)
def test_bad_scores_are_refused(scores: npt.ArrayLike, message: str) -> None:
    with pytest.raises(DataError) as caught:
        check_scores(scores)
    assert message in str(caught.value)


@pytest.mark.parametrize("weights", [[1.0, -1.0], [1.0, np.inf], [1.0, np.nan], [1.0, "x"]])
def test_bad_weights_are_refused_by_row(weights: npt.ArrayLike) -> None:
    with pytest.raises(DataError, match=r"sample_weight must.*row 1"):
        check_weights(weights)


@pytest.mark.parametrize(
    ("weights", "message"), [([0, 1, 0, 1], "remaining rows"), ([1, 0, 1, 0], "positives")]
)
def test_weights_that_leave_nothing_are_refused(weights: list[int], message: str) -> None:
    with pytest.raises(DataError, match=f"weights of the {message} are all zero"):
        aul_pu_score(EXPECTED, SCORES, sample_weight=weights)


def test_lengths_that_differ_are_named() -> None:
    with pytest.raises(DataError, match="s has 2 rows but scores has 4"):
        aul_pu_score([0, 1], SCORES)
    with pytest.raises(DataError, match="s has 4 rows but sample_weight has 1"):
        aul_pu_score(EXPECTED, SCORES, sample_weight=[1.0])


def test_a_caller_can_name_its_column() -> None:
    with pytest.raises(DataError, match="column 'model_a' must not be NaN; row 0"):
        check_scores([np.nan], "column 'model_a'")


def test_infinite_scores_have_an_order() -> None:
    assert aul_pu_score(EXPECTED, [-np.inf, np.inf, 0.0, 1.0]) == 0.75


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.float64, np.int8, np.uint8, np.int64, object, "U8"]
)
def test_scores_of_every_numeric_type_agree(dtype: npt.DTypeLike) -> None:
    scores = np.array([1, 5, 3, 3]).astype(dtype)
    assert aul_pu_score(EXPECTED, scores) == (3.5 + 2) / 8


def test_boolean_scores_are_numbers() -> None:
    assert aul_pu_score(EXPECTED, [False, True, False, False]) == (3.5 + 1.5) / 8


def test_input_is_left_as_it_was() -> None:
    s, scores = np.array(EXPECTED), np.array(SCORES)
    s.flags.writeable = scores.flags.writeable = False
    aul_pu_score(s, scores)
    assert scores.tolist() == SCORES

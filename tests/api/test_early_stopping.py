"""Rows that are held out to stop early on."""

import numpy as np
import pytest

from pubench.api.early_stopping import hold_out
from pubench.errors import DataError
from pubench.seeds import Seed
from pubench.types import Tags

POSITIVE = np.repeat([1.0, 0.3, 0.0], [10, 20, 70])


def held(tags: Tags, share: float, seed: int = 0) -> tuple[Tags, Tags]:
    found = hold_out(tags, share, Seed(seed))
    assert found.stop is not None
    return found, found.stop


@pytest.mark.parametrize("weight", [None, np.arange(100.0)], ids=["alike", "weighted"])
def test_rows_are_trained_on_or_held_out_with_their_tags_and_weights(weight: np.ndarray | None) -> None:
    tags = Tags(POSITIVE, weight)
    trained, stop = held(tags, 0.2)
    assert not np.intersect1d(trained.counted, stop.counted).size
    np.testing.assert_array_equal(np.union1d(trained.counted, stop.counted), tags.counted)
    assert trained.weight is not None
    assert stop.weight is not None
    np.testing.assert_array_equal(trained.weight + stop.weight, np.ones(100) if weight is None else weight)
    for part in (trained, stop):
        np.testing.assert_array_equal(part.positive, POSITIVE)


def test_certain_positives_and_others_are_held_out_in_the_same_share() -> None:
    _, stop = held(Tags(POSITIVE), 0.2)
    assert np.sum(stop.counted < 10) == 2
    assert np.sum(stop.counted >= 10) == 18


def test_rows_that_do_not_count_are_not_held_out() -> None:
    weight = np.where(np.arange(100) % 2 == 0, 1.0, 0.0)
    _, stop = held(Tags(POSITIVE, weight), 0.5)
    assert np.all(stop.counted % 2 == 0)


def test_the_seed_alone_decides() -> None:
    rows = [held(Tags(POSITIVE), 0.2, seed)[1].counted.tolist() for seed in (0, 0, 1)]
    assert rows[0] == rows[1] != rows[2]


@pytest.mark.parametrize("share", [0.01, 0.99])
def test_both_sides_have_both_kinds(share: float) -> None:
    trained, stop = held(Tags(POSITIVE), share)
    for part in (trained, stop):
        assert np.any(part.counted < 10)
        assert np.any(part.counted >= 10)


@pytest.mark.parametrize(
    ("positive", "share"),
    [(POSITIVE, 0.0), (np.array([1.0, 0.0, 0.0]), 0.5), (np.array([1.0, 1.0, 0.5]), 0.5)],
    ids=["none wanted", "one positive", "one other"],
)
def test_where_rows_cannot_be_divided_all_are_trained_on(positive: np.ndarray, share: float) -> None:
    tags = Tags(positive)
    assert hold_out(tags, share, Seed(0)) is tags


def test_a_row_is_not_on_both_sides() -> None:
    with pytest.raises(DataError, match="cannot tell when to stop"):
        Tags(POSITIVE, None, Tags(POSITIVE))

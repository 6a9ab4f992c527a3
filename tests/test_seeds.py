"""Streams depend on their path alone."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubench.errors import ParameterError
from pubench.seeds import Seed

names = st.lists(st.one_of(st.text(max_size=5), st.integers()), max_size=4)


def draw(seed: Seed) -> list[int]:
    numbers: list[int] = seed.generator().integers(0, 2**62, 4).tolist()
    return numbers


@given(st.integers(0, 2**64), names)
def test_equal_paths_give_equal_streams(root: int, path: list[str | int]) -> None:
    assert draw(Seed(root).child(*path)) == draw(Seed(root, tuple(path)))


@given(st.integers(0, 2**64), names, names)
def test_different_paths_give_different_streams(
    root: int, one: list[str | int], other: list[str | int]
) -> None:
    same = [(type(name), name) for name in one] == [(type(name), name) for name in other]
    assert (draw(Seed(root).child(*one)) == draw(Seed(root).child(*other))) is same


def test_a_stream_does_not_depend_on_its_neighbours() -> None:
    seed = Seed(3)
    alone = draw(seed.child("member", 7))
    crowd = [draw(seed.child("member", j)) for j in range(10)]
    assert crowd[7] == alone
    assert len({tuple(member) for member in crowd}) == 10


def test_streams_are_the_same_on_every_machine_and_in_every_version() -> None:
    assert Seed(0).child("member", 7).integer() == 838819478
    assert draw(Seed(0).child("member", 7))[0] == 51734700572322200


def test_numpy_integers_are_integers() -> None:
    two: Any = np.int64(2)
    assert draw(Seed(1).child("fold", two)) == draw(Seed(1).child("fold", 2))


@given(st.integers(0, 2**64))
def test_integers_fit_libraries(root: int) -> None:
    assert 0 <= Seed(root).integer() < 2**31


def test_seeds_can_be_sent_to_workers() -> None:
    assert pickle.loads(pickle.dumps(Seed(1).child("fold", 2))) == Seed(1).child("fold", 2)  # noqa: S301 - our own bytes


def test_negative_seeds_are_refused() -> None:
    with pytest.raises(ParameterError, match="from 0 up"):
        Seed(-1)

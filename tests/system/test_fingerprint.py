"""Equal content has equal keys, on every machine, and other content has others."""

import json
from enum import StrEnum
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubench.errors import ParameterError
from pubench.system.fingerprint import content_key


class Word(StrEnum):
    ONE = "1"


DIFFERENT: list[tuple[object, ...]] = [
    (),
    (None,),
    (True,),
    (False,),
    (1,),
    (0,),
    (1.0,),
    (-0.0,),
    (0.0,),
    ("1",),
    ("",),
    ("None",),
    (1, 1),
    (11,),
    ((1, 1),),
    ([1, 1],),
    ((1,), 1),
    (1, (1,)),
    ((),),
    ([],),
    ({},),
    ({"a": 1},),
    ({"a": 1, "b": 2},),
    ({"a": {"b": 2}},),
    ("a", 1),
    ("ab", "c"),
    ("a", "bc"),
    (np.zeros(4),),
    (np.zeros(4, np.float32),),
    (np.zeros(4, ">f8"),),
    (np.zeros((2, 2)),),
    (np.zeros(0),),
    (np.zeros((0, 2)),),
    (np.array(0.0),),
    (np.zeros(4, bool),),
    (np.zeros(4, np.int8),),
    (np.zeros(2), np.zeros(2)),
    (np.zeros(2, [("x", "f4"), ("y", "f4")]),),
    (np.zeros(2, [("x", "f4"), ("z", "f4")]),),
    (np.zeros(4, "datetime64[s]"),),
    (np.zeros(4, "datetime64[D]"),),
]


def test_different_parts_have_different_keys() -> None:
    keys = [content_key(*parts) for parts in DIFFERENT]
    assert len(set(keys)) == len(DIFFERENT)
    assert all(len(key) == 32 and set(key) <= set("0123456789abcdef") for key in keys)


def test_equal_parts_have_equal_keys_however_they_are_stored() -> None:
    matrix = np.arange(24.0).reshape(4, 6)
    for same in (np.asfortranarray(matrix), np.repeat(matrix, 2, axis=1)[:, ::2], matrix[::-1].copy()[::-1]):
        assert content_key(same) == content_key(matrix)
    assert content_key({"a": 1, "b": 2}) == content_key({"b": 2, "a": 1})
    assert content_key(Word.ONE) == content_key("1")
    assert content_key(np.float64(0.1)) == content_key(0.1)
    assert content_key("\udc80") != content_key("?")


def test_an_array_out_of_order_is_read_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.arange(60.0).reshape(10, 6)
    monkeypatch.setattr("pubench.system.fingerprint._BLOCK_BYTES", 100)
    assert content_key(np.asfortranarray(matrix)) == content_key(matrix)


def test_a_key_is_the_same_on_every_machine() -> None:
    assert (
        content_key("knn", 18, 0.5, [None, True], np.arange(3, dtype="<i4"))
        == "bbbc8462200fe5c9517f6568e2ced1ba"
    )


parts = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(first=parts, second=parts)
@settings(deadline=None)
def test_keys_are_equal_exactly_when_the_written_parts_are(first: object, second: object) -> None:
    # JSON writes every difference between these types, but not their order in mappings.
    equal = json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
    assert (content_key(first) == content_key(second)) is equal


@pytest.mark.parametrize(
    "part",
    [
        {1},
        b"bytes",
        Path("x"),
        1j,
        np.int64(1),
        np.array([object()]),
        np.ma.masked_array([1, 2], [True, False]),
        {1: 2},
        [{"a": object()}],
    ],
    ids=lambda part: type(part).__name__,
)
def test_other_types_are_refused(part: object) -> None:
    with pytest.raises(ParameterError, match="key can"):
        content_key(part)

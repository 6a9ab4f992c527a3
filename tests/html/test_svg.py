"""Places follow values, and ticks are few, round and inside."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubench.html.svg import Scale, padded_range

VALUES = st.floats(-1e6, 1e6)


@st.composite
def scales(draw: st.DrawFn) -> Scale:
    log = draw(st.booleans())
    low = draw(st.floats(1e-6, 1e5) if log else VALUES)
    high = low * draw(st.floats(1.5, 1e6)) if log else low + draw(st.floats(1e-3, 1e6))
    return Scale(low, high, 10.0, draw(st.sampled_from([300.0, -50.0])), log)


@given(scales())
def test_the_ends_are_the_ends(scale: Scale) -> None:
    assert scale(scale.low) == pytest.approx(scale.start)
    assert scale(scale.high) == pytest.approx(scale.end)


@given(scales(), st.floats(0, 1), st.floats(0, 1))
def test_order_is_kept(scale: Scale, a: float, b: float) -> None:
    first, second = (scale.low + (scale.high - scale.low) * share for share in sorted((a, b)))
    sign = math.copysign(1, scale.end - scale.start)
    assert sign * scale(first) <= sign * scale(second) + 1e-9


@given(scales())
def test_values_beyond_the_ends_stay_inside(scale: Scale) -> None:
    assert scale(scale.high * 2 + 1e7) == pytest.approx(scale.end)


@given(scales(), st.integers(3, 9))
def test_ticks_are_inside_ascending_and_few(scale: Scale, most: int) -> None:
    ticks = scale.ticks(most)
    air = 1e-6 * max(abs(scale.low), abs(scale.high))
    assert all(scale.low - air <= tick <= scale.high + air for tick in ticks)
    assert ticks == sorted(set(ticks))
    assert len(ticks) <= most + 1


def test_ticks_are_round() -> None:
    assert Scale(0.816, 0.934, 0, 1).ticks(4) == [0.85, 0.9]
    assert Scale(0.001, 1, 0, 1, log=True).ticks(6) == [0.001, 0.01, 0.1, 1]
    assert Scale(0.11, 8.5, 0, 1, log=True).ticks(6) == [0.2, 0.5, 1, 2, 5]


@given(st.lists(VALUES, min_size=1, max_size=5))
def test_a_range_around_values_is_never_empty(values: list[float]) -> None:
    low, high = padded_range(values)
    assert low < min(values)
    assert high > max(values)

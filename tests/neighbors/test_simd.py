"""Instructions for bytes give what whole numbers give, with the processor's own product of bytes and without it."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from numba import config, njit

from pubench.neighbors import simd
from pubench.neighbors.simd import LANES, TOGETHER, WORDS

Numbers = npt.NDArray[Any]
DOTS = {dot.__name__: dot for dot in (simd.fastest_dot(), simd.dot_by_shorts)}
LEAF = 64
HALF = 4 * WORDS


@pytest.fixture(params=[*DOTS])
def multiplied(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is compiled now multiply in one of the two ways; a processor without the first has the second alone."""
    monkeypatch.setattr(simd, "_dot", DOTS[request.param])


def in_blocks(codes: Numbers) -> Numbers:
    """Unsigned bytes, block by block, word by word, row by row."""
    unsigned = (codes.astype(np.int16) + 128).astype(np.uint8)
    return np.ascontiguousarray(unsigned.reshape(-1, LANES, WORDS, 4).transpose(0, 2, 1, 3)).reshape(-1)


def drawn(seed: int, rows: int, width: int) -> Numbers:
    """Codes, some of them as large as can be, so that a sum that overflows shows itself."""
    generator = np.random.default_rng(seed)
    codes = generator.integers(-127, 128, (rows, width))
    codes[::3] = np.where(generator.random(codes[::3].shape) < 0.5, -127, 127)
    return codes.astype(np.int8)


def bits(hits: Numbers) -> Numbers:
    """One truth value per lane."""
    return ((hits[:, None] >> np.arange(LANES)) & 1).astype(bool)


@pytest.mark.usefixtures("multiplied")
@pytest.mark.parametrize("count", [1, TOGETHER, 2 * TOGETHER + 3])
def test_a_scan_finds_the_rows_within_the_limit_of_each_query(count: int) -> None:
    rows, queries = drawn(0, LEAF, HALF), drawn(1, 20, HALF)
    starts = np.random.default_rng(2).integers(0, 500_000, LEAF).astype(np.int32)
    limits = np.random.default_rng(3).integers(-400_000, 800_000, 20).astype(np.int32)
    which = np.zeros(count + TOGETHER, np.int64)
    which[:count] = np.random.default_rng(4).permutation(20)[:count]
    hits = np.zeros((count + TOGETHER) * LEAF // LANES, np.uint16)

    @njit
    def call(codes: Any, starts: Any, queries: Any, which: Any, count: int, limits: Any, hits: Any) -> None:
        simd.scan(codes, starts, queries, which, count, limits, hits)

    call(in_blocks(rows), starts, queries, which, count, limits, hits)
    sums = starts + queries.astype(np.int64) @ (rows.astype(np.int64) + 128).T
    within = sums <= limits[:, None]
    np.testing.assert_array_equal(bits(hits).reshape(-1, LEAF)[:count], within[which[:count]])
    assert within.any()
    assert not within.all()


@pytest.mark.usefixtures("multiplied")
def test_single_blocks_are_looked_at_by_all_words() -> None:
    rows, queries = drawn(0, LEAF, 2 * HALF), drawn(1, 6, 2 * HALF)
    codes = np.stack([in_blocks(rows[:, :HALF]), in_blocks(rows[:, HALF:])])
    starts = np.random.default_rng(2).integers(0, 500_000, LEAF).astype(np.int32)
    limits = np.random.default_rng(3).integers(-400_000, 800_000, 6).astype(np.int32)
    which, asked = np.array([5, 0, 3]), np.array([0, 3, 5, 6, 11])
    hits = np.zeros(len(asked), np.uint16)

    @njit
    def call(codes: Any, starts: Any, queries: Any, which: Any, limits: Any, asked: Any, hits: Any) -> None:
        simd.scan_blocks(codes, starts, queries, which, limits, asked, len(asked), hits)

    call(codes, starts, queries, which, limits, asked, hits)
    sums = starts + queries.astype(np.int64) @ (rows.astype(np.int64) + 128).T
    within = (sums <= limits[:, None])[which].reshape(-1, LANES)  # a line per query and block
    np.testing.assert_array_equal(bits(hits), within[asked])
    assert within[asked].any()
    assert not within[asked].all()


@pytest.mark.usefixtures("multiplied")
def test_boxes_are_as_far_as_the_sum_of_their_gaps_none_beyond_127() -> None:
    generator = np.random.default_rng(0)
    ends = np.sort(generator.integers(0, 256, (2, HALF)), axis=0).astype(np.uint8)
    points = generator.integers(0, 256, (3 * LANES, HALF)).astype(np.uint8)
    points[0] = ends[0]  # on the rim of the box
    turned = np.ascontiguousarray(points.view(np.int32).T)
    gaps = np.maximum(ends[0].astype(int) - points, points.astype(int) - ends[1]).clip(0, 127)
    squares = (gaps**2).sum(axis=1)
    limits = (squares - np.arange(len(points)) % 2).astype(np.int32)  # every other one just misses
    hits = np.zeros(3, np.uint16)

    @njit
    def call(low: Any, high: Any, queries: Any, blocks: int, limits: Any, hits: Any) -> None:
        simd.touching(low, high, queries, blocks, limits, hits)

    call(ends[0], ends[1], turned, 2, limits, hits)
    np.testing.assert_array_equal(bits(hits)[:2].ravel(), (squares <= limits)[: 2 * LANES])
    assert hits[2] == 0, "only two blocks were asked for"


def test_the_lowest_bit() -> None:
    @njit
    def call(number: int) -> int:
        return int(simd.lowest(number))

    assert [call(1), call(6), call(1 << 62)] == [0, 1, 62]


@pytest.mark.parametrize(
    ("option", "value"), [("CPU_NAME", "generic"), ("CPU_FEATURES", "+sse2"), ("ENABLE_AVX", 0)]
)
def test_code_for_another_processor_uses_no_instruction_of_this_one(
    option: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, option, value)
    assert simd.fastest_dot() is simd.dot_by_shorts

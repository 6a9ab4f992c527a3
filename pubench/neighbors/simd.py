"""SIMD instructions for kernels: products of bytes in sixteen lanes at once, which numba cannot express.

Points are searched as bytes, four to a word, sixteen words to a vector. A processor that multiplies and adds bytes in one
instruction (VNNI: Intel's since 2019, AMD's since 2022) does so; others get the same sums from products of 16 bits. All
sums are of whole numbers, so both give the same, exactly.

Bytes of rows are unsigned: the number plus 128. Those of queries are signed. A block is 16 rows of a leaf:
for each word in turn, that of all 16 rows. Arrays must be contiguous; bounds are not checked.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

#: Rows in a block, queries that `touching` compares together.
LANES = 16
#: Words of a point that `scan` and `touching` read.
WORDS = 8
#: Queries that scan a leaf together: enough for the processor to be busy while it waits for sums.
TOGETHER = 4

_BYTE, _SHORT, _WORD, _LONG = (ir.IntType(bits) for bits in (8, 16, 32, 64))
_VECTOR = ir.VectorType(_WORD, LANES)
_BYTES = ir.VectorType(_BYTE, 4 * LANES)
_SHORTS = ir.VectorType(_SHORT, 2 * LANES)
_PAIRS = ir.VectorType(_WORD, 2 * LANES)

#: Adds to each lane the products of four unsigned bytes with four signed ones: (builder, sums, unsigned, signed).
Dot: TypeAlias = Callable[[Any, Any, Any, Any], Any]
#: What an intrinsic of numba is made of: its signature, and a function that writes its instructions.
Intrinsic: TypeAlias = tuple[Any, Callable[[Any, Any, Any, Sequence[Any]], Any]]


def dot_by_bytes(builder: Any, sums: Any, unsigned: Any, signed: Any) -> Any:
    """Use the one instruction that VNNI has for it."""
    of_three = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
    name = "llvm.x86.avx512.vpdpbusd.512"
    return builder.call(
        cgutils.get_or_insert_function(builder.module, of_three, name), [sums, unsigned, signed]
    )


def dot_by_shorts(builder: Any, sums: Any, unsigned: Any, signed: Any) -> Any:
    """Multiply even and odd bytes apart, as numbers of 16 bits; any processor can, many add the pairs in one go."""
    eight = ir.Constant(_SHORTS, [8] * _SHORTS.count)
    low = ir.Constant(_SHORTS, [255] * _SHORTS.count)
    rows, query = builder.bitcast(unsigned, _SHORTS), builder.bitcast(signed, _SHORTS)
    even = _add_pairs(builder, builder.and_(rows, low), builder.ashr(builder.shl(query, eight), eight))
    odd = _add_pairs(builder, builder.lshr(rows, eight), builder.ashr(query, eight))
    return builder.add(sums, builder.add(even, odd))


def _add_pairs(builder: Any, a: Any, b: Any) -> Any:
    products = builder.mul(builder.sext(a, _PAIRS), builder.sext(b, _PAIRS))
    nothing = ir.Constant(_PAIRS, ir.Undefined)
    even, odd = (
        builder.shuffle_vector(products, nothing, ir.Constant(_VECTOR, list(range(start, 2 * LANES, 2))))
        for start in (0, 1)
    )
    return builder.add(even, odd)


def fastest_dot() -> Dot:
    """Return what this processor, or the one that numba is configured to compile for, can do."""
    if config.CPU_NAME or config.CPU_FEATURES or not config.ENABLE_AVX:
        return dot_by_shorts
    features = llvm.get_host_cpu_features()
    return dot_by_bytes if features.get("avx512vnni") and features.get("avx512bw") else dot_by_shorts


_dot = fastest_dot()


@intrinsic
def lowest(_typing: Any, _bits: Any) -> Intrinsic:
    """Return the position of the lowest bit that is set, of an int64 that is not 0."""

    def write(_context: Any, builder: Any, _signature: Any, arguments: Sequence[Any]) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), write


@intrinsic
def scan(
    _typing: Any, codes: Any, starts: Any, queries: Any, which: Any, _count: Any, limits: Any, hits: Any
) -> Intrinsic:
    """Find the rows of a leaf that are within the limits of some queries.

    For each of the first `_count` queries that `which` names: a row of the leaf is a hit if its number of `starts` plus
    the products of its first `WORDS` words with the query's is at most the query's limit.

    Args:
        codes: uint8; the leaf's rows, block by block.
        starts: int32, one per row of the leaf.
        queries: shape (n, bytes), int8.
        which: int64, rows of `queries`; `_count` of them, and as many more as make it a multiple of `TOGETHER`.
        _count: int64.
        limits: shape (n,), int32.
        hits: uint16; receives a bit per row, a number per block, for one of `which` after the other.
    """

    def write(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        leaf, begin, asked, named, most, found = (
            _data(context, builder, signature.args[position], arguments[position])
            for position in (0, 1, 2, 3, 5, 6)
        )
        width = _shape(context, builder, signature, arguments, 2, 1)
        blocks = builder.udiv(_shape(context, builder, signature, arguments, 1, 0), _long(LANES))
        few = builder.udiv(builder.add(arguments[4], _long(TOGETHER - 1)), _long(TOGETHER))
        with cgutils.for_range(builder, few) as turn:
            first = builder.mul(turn.index, _long(TOGETHER))
            positions = [builder.add(first, _long(q)) for q in range(TOGETHER)]
            rows = [_load(builder, named, builder.mul(position, _long(8)), _LONG) for position in positions]
            points = [builder.mul(row, width) for row in rows]
            bounds = [
                _spread(builder, _load(builder, most, builder.mul(row, _long(4)), _WORD)) for row in rows
            ]
            with cgutils.for_range(builder, blocks) as loop:
                words = _block(builder, leaf, loop.index)
                sums = [_load(builder, begin, builder.mul(loop.index, _long(4 * LANES)), _VECTOR)] * TOGETHER
                for w in range(WORDS):
                    for q, point in enumerate(points):
                        word = _load(builder, asked, builder.add(point, _long(4 * w)), _WORD)
                        sums[q] = _dot(builder, sums[q], words[w], _spread(builder, word))
                for position, total, bound in zip(positions, sums, bounds, strict=True):
                    number = builder.add(builder.mul(position, blocks), loop.index)
                    _store_bits(builder, builder.icmp_signed("<=", total, bound), found, number)
        return context.get_dummy_value()

    return types.void(codes, starts, queries, which, types.int64, limits, hits), write


@intrinsic
def scan_blocks(
    _typing: Any,
    codes: Any,
    starts: Any,
    queries: Any,
    which: Any,
    limits: Any,
    blocks: Any,
    _count: Any,
    hits: Any,
) -> Intrinsic:
    """Find the rows of single blocks that are within the limits of single queries, by all words.

    As `scan`, but reads twice `WORDS` words.

    Args:
        codes: shape (2, bytes), uint8; the leaf's rows, block by block, the first `WORDS` words and the others.
        starts: int32, one per row of the leaf, for all words.
        queries: shape (n, bytes), int8.
        which: int64, rows of `queries`.
        limits: shape (n,), int32, for all words.
        blocks: int64, `_count` of them: the position of a number among the hits of `scan`.
        _count: int64.
        hits: uint16; receives one number for each of `blocks`.
    """

    def write(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        leaf, begin, points, named, most, numbers, found = (
            _data(context, builder, signature.args[position], arguments[position])
            for position in (0, 1, 2, 3, 4, 5, 7)
        )
        half = _shape(context, builder, signature, arguments, 0, 1)
        width = _shape(context, builder, signature, arguments, 2, 1)
        blocks = builder.udiv(_shape(context, builder, signature, arguments, 1, 0), _long(LANES))
        with cgutils.for_range(builder, arguments[6]) as loop:
            number = _load(builder, numbers, builder.mul(loop.index, _long(8)), _LONG)
            block, position = builder.urem(number, blocks), builder.udiv(number, blocks)
            row = _load(builder, named, builder.mul(position, _long(8)), _LONG)
            sums = _load(builder, begin, builder.mul(block, _long(4 * LANES)), _VECTOR)
            for part in range(2):
                more = ir.Constant(_VECTOR, [0] * LANES)  # two sums, so that they wait for each other less
                codes_of_part = cgutils.pointer_add(builder, leaf, builder.mul(half, _long(part)))
                for w, word in enumerate(_block(builder, codes_of_part, block)):
                    offset = builder.add(builder.mul(row, width), _long(4 * (part * WORDS + w)))
                    more = _dot(builder, more, word, _spread(builder, _load(builder, points, offset, _WORD)))
                sums = builder.add(sums, more)
            bound = _spread(builder, _load(builder, most, builder.mul(row, _long(4)), _WORD))
            _store_bits(builder, builder.icmp_signed("<=", sums, bound), found, loop.index)
        return context.get_dummy_value()

    return types.void(codes, starts, queries, which, limits, blocks, types.int64, hits), write


@intrinsic
def touching(
    _typing: Any, low: Any, high: Any, queries: Any, _blocks: Any, limits: Any, hits: Any
) -> Intrinsic:
    """Find the queries that have a box within their limit.

    A gap of more than 127 between a query and the box counts as 127, which only makes the box seem nearer.

    Args:
        low: uint8, 4 * `WORDS` of them: where the box begins.
        high: uint8; where it ends.
        queries: shape (WORDS, n), int32; four unsigned bytes of each query, word by word; n a multiple of `LANES`.
        _blocks: int64; the first `_blocks * LANES` queries are compared.
        limits: shape (n,), int32; of the sum of the squared gaps.
        hits: shape (n / LANES,), uint16; receives a bit per query.
    """

    def write(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        least, most, asked, bounds, found = (
            _data(context, builder, signature.args[position], arguments[position])
            for position in (0, 1, 2, 4, 5)
        )
        n = _shape(context, builder, signature, arguments, 2, 1)
        box = [
            [
                builder.bitcast(_spread(builder, _load(builder, side, _long(4 * w), _WORD)), _BYTES)
                for w in range(WORDS)
            ]
            for side in (least, most)
        ]
        with cgutils.for_range(builder, arguments[3]) as loop:
            here = builder.mul(loop.index, _long(4 * LANES))
            sums = ir.Constant(_VECTOR, [0] * LANES)
            for w in range(WORDS):
                position = builder.add(builder.mul(n, _long(4 * w)), here)
                gap = builder.bitcast(
                    _gap(builder, box[0][w], box[1][w], _load(builder, asked, position, _BYTES)), _VECTOR
                )
                sums = _dot(builder, sums, gap, gap)
            within = builder.icmp_signed("<=", sums, _load(builder, bounds, here, _VECTOR))
            _store_bits(builder, within, found, loop.index)
        return context.get_dummy_value()

    return types.void(low, high, queries, types.int64, limits, hits), write


def _gap(builder: Any, low: Any, high: Any, at: Any) -> Any:
    """Return the distance of unsigned bytes below `low` or above `high`, at most 127."""
    less = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(_BYTES, [_BYTES] * 2), "llvm.usub.sat.v64i8"
    )
    smaller = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(_BYTES, [_BYTES] * 2), "llvm.umin.v64i8"
    )
    outside = builder.or_(builder.call(less, [low, at]), builder.call(less, [at, high]))  # one of them is 0
    return builder.call(smaller, [outside, ir.Constant(_BYTES, [127] * _BYTES.count)])


def _block(builder: Any, codes: Any, block: Any) -> list[Any]:
    """Return the words of a block."""
    start = builder.mul(block, _long(WORDS * 4 * LANES))
    return [_load(builder, codes, builder.add(start, _long(4 * LANES * w)), _VECTOR) for w in range(WORDS)]


def _data(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Return where the data of an array begins."""
    return builder.bitcast(context.make_array(kind)(context, builder, array).data, _BYTE.as_pointer())


def _shape(
    context: Any, builder: Any, signature: Any, arguments: Sequence[Any], which: int, axis: int
) -> Any:
    array = context.make_array(signature.args[which])(context, builder, arguments[which])
    return builder.extract_value(array.shape, axis)


def _load(builder: Any, start: Any, offset: Any, kind: Any) -> Any:
    """Load `offset` bytes after `start`; the address need not be aligned."""
    return builder.load(cgutils.pointer_add(builder, start, offset, kind.as_pointer()), align=1)


def _store_bits(builder: Any, lanes: Any, start: Any, position: Any) -> None:
    """Store a bit per lane as the uint16 number `position` after `start`."""
    pointer = cgutils.pointer_add(builder, start, builder.mul(position, _long(2)), _SHORT.as_pointer())
    builder.store(builder.bitcast(lanes, _SHORT), pointer, align=1)


def _spread(builder: Any, word: Any) -> Any:
    """Return a vector with this word in each lane."""
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, word, ir.Constant(_WORD, 0))
    return builder.shuffle_vector(first, nothing, ir.Constant(_VECTOR, [0] * LANES))


def _long(value: int) -> Any:
    return ir.Constant(_LONG, value)

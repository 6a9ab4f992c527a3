"""Files of a few bytes that stand for a billion values are refused before they fill the memory; large tables are read."""

import gzip
import io
import lzma
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from pubench.data import unpacking
from pubench.data.batches import read_batches
from pubench.data.compression import open_compressed
from pubench.data.table_file import open_table
from pubench.errors import DataError

#: What may be in memory in these tests.
FREE = 2_000_000
ROWS = 400_000


@pytest.fixture(autouse=True)
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "free_memory", lambda: 2 * FREE)


def dictionary(text: str, rows: int) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), [text])


def zipped(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


def npz(**arrays: object) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def as_parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def as_feather(table: pa.Table, compression: str = "zstd") -> bytes:
    buffer = io.BytesIO()
    feather.write_feather(table, buffer, compression=compression)
    return buffer.getvalue()


NUMBERS = pa.table({"a": np.zeros(ROWS)})
FLAGS = pa.table({"a": np.zeros(ROWS, bool)})
NOTHING = pa.table({"a": pa.nulls(ROWS)})
TEXTS = pa.table({"a": ["x" * 1000] * 4000})
CATEGORIES = pa.table({"a": dictionary("x" * 1000, 4000)})
VIEWS = pa.table({"a": pa.array(["x" * 1000] * 4000, pa.string_view())})
CSV = b"a,b\n" + b"0,0\n" * 200_000
LONG = b"a,b\n0,0\n0," + b"1" * 10_000_000

BOMBS: dict[str, Callable[[], bytes]] = {
    "numbers.parquet": lambda: as_parquet(NUMBERS),
    "flags.parquet": lambda: as_parquet(FLAGS),
    "nothing.parquet": lambda: as_parquet(NOTHING),
    "texts.parquet": lambda: as_parquet(TEXTS),
    "categories.parquet": lambda: as_parquet(CATEGORIES),
    "numbers.parquet.gz": lambda: gzip.compress(as_parquet(NUMBERS)),
    "numbers.feather": lambda: as_feather(NUMBERS),
    "lz4.feather": lambda: as_feather(NUMBERS, "lz4"),
    "flags.feather": lambda: as_feather(FLAGS),
    "nothing.feather": lambda: as_feather(NOTHING),
    "texts.feather": lambda: as_feather(TEXTS),
    "categories.feather": lambda: as_feather(CATEGORIES),
    "views.feather": lambda: as_feather(VIEWS),
    "numbers.feather.zst": lambda: pa.compress(as_feather(NUMBERS), "zstd", asbytes=True),
    "matrix.npz": lambda: npz(X=np.zeros((ROWS, 1))),
    "bytes.npz": lambda: npz(X=np.zeros((ROWS, 1), np.uint8)),
    "label.npz": lambda: npz(X=np.zeros((1000, 1)), y=np.zeros(10_000_000, np.uint8)),
    "numbers.csv.gz": lambda: gzip.compress(CSV),
    "numbers.csv.xz": lambda: lzma.compress(CSV),
    "numbers.csv.zst": lambda: pa.compress(CSV, "zstd", asbytes=True),
    "long.csv.zst": lambda: pa.compress(LONG, "zstd", asbytes=True),
    "csv.zip": lambda: zipped("f.csv", CSV),
    "parquet.zip": lambda: zipped("f.parquet", as_parquet(NUMBERS)),
}


@pytest.mark.parametrize("name", sorted(BOMBS))
def test_a_file_that_would_fill_the_memory_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(BOMBS[name]())
    assert path.stat().st_size < FREE / 10
    file = open_table(path)
    with pytest.raises(
        DataError, match=r"unpacks to more than 2,000,000 bytes, half of the memory that is free"
    ):
        file.read(list(file.names))


HONEST: dict[str, Callable[[], bytes]] = {
    "zeros.parquet": lambda: as_parquet(NUMBERS.slice(0, 200_000)),
    "zeros.feather": lambda: as_feather(NUMBERS.slice(0, 200_000)),
    "zeros.npz": lambda: npz(X=np.zeros((200_000, 1))),
    "zeros.csv.zst": lambda: pa.compress(b"x0\n" + b"0\n" * 100_000, "zstd", asbytes=True),
}


@pytest.mark.parametrize("name", sorted(HONEST))
def test_a_table_that_compresses_well_is_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(HONEST[name]())
    assert path.stat().st_size < FREE / 250
    file = open_table(path)
    (column,) = file.read(list(file.names)).values()
    assert len(column) >= 100_000


@pytest.mark.parametrize(
    "name", ["numbers.parquet", "texts.parquet", "numbers.csv.gz", "numbers.csv.zst", "csv.zip"]
)
def test_batches_of_a_larger_table_fit(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(BOMBS[name]() if name != "texts.parquet" else as_parquet(TEXTS.slice(0, 1500)))
    rows = sum(len(batch["a"]) for batch in read_batches(path, ["a"]))
    assert rows in (ROWS, 1500, 200_000)


def test_texts_of_a_batch_that_would_fill_the_memory_are_refused(tmp_path: Path) -> None:
    (tmp_path / "texts.parquet").write_bytes(as_parquet(TEXTS))
    with pytest.raises(DataError, match="unpacks to more than"):
        list(read_batches(tmp_path / "texts.parquet", ["a"]))


def test_columns_that_are_not_read_do_not_count(tmp_path: Path) -> None:
    table = pa.table({"a": np.zeros(1000), **{f"x{j}": np.zeros(1000) for j in range(1000)}})
    (tmp_path / "wide.parquet").write_bytes(as_parquet(table))
    assert list(open_table(tmp_path / "wide.parquet").read(["a"])) == ["a"]


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_lists_are_refused_before_they_are_read(kind: str, tmp_path: Path) -> None:
    table = pa.table({"a": [[1.0] * 100_000], "b": [1]})
    path = tmp_path / f"f.{kind}"
    path.write_bytes({"parquet": as_parquet, "feather": as_feather}[kind](table))
    with pytest.raises(
        DataError, match=r"Column 'a' holds list<.*must hold plain values; leave it out with --drop"
    ):
        open_table(path).read(["a"])
    assert open_table(path).read(["b"])["b"].to_pylist() == [1]


def shapes() -> Iterator[pa.Array]:
    """Columns of texts in every shape that a file has them in."""
    texts = ["", "é" * 30, None, "x", "x"]
    yield pa.array(texts)
    yield pa.array(texts, pa.large_string())
    yield pa.array(texts).dictionary_encode()
    yield pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 1, 0]), pa.array(["", "x"]))
    yield pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 1, 0]), pa.array([3, 4]))
    yield pa.array([*texts, "behind"], pa.string_view()).slice(1)


@pytest.mark.parametrize("column", [*shapes()])
@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_texts_come_back_as_they_were(column: pa.Array, kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"f.{kind}"
    path.write_bytes(
        {"parquet": as_parquet, "feather": as_feather}[kind](pa.table({"n": [1] * 5, "a": column}))
    )
    read = open_table(path).read(["a"])["a"].to_pylist()
    assert [value or None for value in read] == [value or None for value in column.to_pylist()]


def test_a_damaged_feather_file_is_refused_or_harmless(tmp_path: Path) -> None:
    content = as_feather(pa.table({"a": np.arange(1000.0), "b": ["x"] * 1000}))
    path = tmp_path / "f.feather"
    generator = np.random.default_rng(3)
    for _ in range(60):
        damaged = bytearray(content)
        for place in generator.integers(0, len(content), 4):
            damaged[place] = generator.integers(0, 256)
        path.write_bytes(damaged)
        with suppress(DataError):
            file = open_table(path)
            file.read(list(file.names))


def test_a_member_of_a_public_file_has_the_same_bound(tmp_path: Path) -> None:
    (tmp_path / "f.zip").write_bytes(zipped("f.csv", b"0" * 3_000_000))
    with (
        pytest.raises(DataError, match="unpacks to more than 2,000,000 bytes"),
        open_compressed(tmp_path / "f.zip", "f.csv") as stream,
    ):
        stream.read()

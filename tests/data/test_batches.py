"""Batches together are the file, in every form; a bad file gives the same error as when it is read as a whole."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pubench.data import batches
from pubench.data.batches import read_batches
from pubench.data.column_types import read_table
from pubench.data.new_rows import Encoder
from pubench.errors import DataError


@pytest.fixture
def frame() -> pd.DataFrame:
    generator = np.random.default_rng(0)
    n = 5_000
    frame = pd.DataFrame(
        {
            "number": generator.normal(size=n),
            "count": generator.integers(0, 9, n),
            "town": generator.choice(["Ulm", "Bonn", "a, b", 'x"y', "two\nlines"], n),
            "flag": generator.random(n) < 0.5,
            "day": (pd.Timestamp("2020-01-01") + pd.to_timedelta(generator.integers(0, 900, n), "D")).astype(
                str
            ),
            "moment": [f"2024-0{i % 9 + 1}-01T10:00:00.{i:06d}" for i in range(n)],
            "zoned": [f"2024-0{i % 9 + 1}-01T10:00:00Z" for i in range(n)],
            "clock": [f"{i % 24:02d}:{i % 60:02d}:00" for i in range(n)],
        }
    )
    for name in ("number", "town", "day"):
        frame.loc[generator.random(n) < 0.1, name] = None
    return frame


def written(frame: pd.DataFrame, folder: Path, form: str) -> Path:
    path = folder / f"t.{form}"
    match form:
        case "csv":
            frame.to_csv(path, index=False)
        case "csv.gz":
            path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
        case "parquet":
            pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=700)
        case "feather":
            frame.to_feather(path)
    return path


@pytest.mark.parametrize("form", ["csv", "csv.gz", "parquet", "feather"])
def test_the_batches_are_the_file(
    form: str, frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "BATCH_VALUES", 2048)
    monkeypatch.setattr(batches, "BLOCK_BYTES", 30_000)
    monkeypatch.setattr(batches, "_LEAST_ROWS", 256)
    if form not in {"csv", "csv.gz"}:
        frame = frame.drop(columns="clock")  # text there, and a time in a CSV
    path = written(frame, tmp_path, form)
    whole, _ = read_table(path)
    encoder = Encoder(whole.features)
    names = [feature.name for feature in whole.features]
    parts = [encoder.encode(batch) for batch in read_batches(path, names[::-1])]
    assert len(parts) > 3
    np.testing.assert_array_equal(np.concatenate([part.values for part in parts]), whole.values)  # noqa: PD011
    assert encoder.notices() == ()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("a,b\n", "has a header but no rows"),
        ("a,c\n1,2\n", "has no column 'b'"),
        ("a,b,a\n1,2,3\n", "has 2 columns called 'a'"),
        ("a,b\n1,2\n3\n", r"line 3: Expected 2 columns, got 1"),
        (b"a,b\n1,\xff\xfe\xfa\n", "not UTF-8"),
    ],
)
def test_bad_text_gets_one_sentence(content: str | bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=message):
        list(read_batches(path, ["a", "b"]))


def test_damage_far_down_is_reported_with_its_position(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "BLOCK_BYTES", 10_000)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 50_000 + "1\n")
    with pytest.raises(DataError, match="line 50002: Expected 2 columns, got 1"):
        list(read_batches(path, ["a", "b"]))


@pytest.mark.parametrize("damage", ["cut", "junk", "empty"])
def test_bad_parquet_gets_one_sentence(damage: str, frame: pd.DataFrame, tmp_path: Path) -> None:
    path = written(frame, tmp_path, "parquet")
    content = path.read_bytes()
    path.write_bytes({"cut": content[: len(content) // 2], "junk": b"PAR1" * 9, "empty": b""}[damage])
    with pytest.raises(DataError, match=r"t\.parquet"):
        list(read_batches(path, ["number"]))


def test_parquet_without_rows_is_refused(frame: pd.DataFrame, tmp_path: Path) -> None:
    path = written(frame.iloc[:0], tmp_path, "parquet")
    with pytest.raises(DataError, match="no rows"):
        list(read_batches(path, ["number"]))

"""Files are opened by their names, decompressed within bounds, or refused in one sentence."""

import gzip
import io
import lzma
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from pubench.data import unpacking
from pubench.data.compression import TableSource, locate, open_compressed
from pubench.data.table_file import open_table
from pubench.errors import DataError, shown

TEXT = b"bought,a\n1,0.5\n0,0.25\n"


def zipped(*entries: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return buffer.getvalue()


def name_alone(value: str | bytes) -> str:
    """Return how a test is called: packed bytes hold the time, and differ between the processes that collect tests."""
    return value if isinstance(value, str) else "content"


PACKED = {
    "f.csv": TEXT,
    "f.CSV": TEXT,
    "f.tsv": TEXT,
    "f.txt": TEXT,
    "f.csv.gz": gzip.compress(TEXT),
    "f.csv.xz": lzma.compress(TEXT),
    "f.csv.zst": pa.compress(TEXT, "zstd", asbytes=True),
    "f.zip": zipped(("folder/", b""), ("folder/f.csv", TEXT), ("__MACOSX/folder/._f.csv", b"?")),
    "two parts.csv.gz": gzip.compress(TEXT[:12]) + gzip.compress(TEXT[12:]),
}


@pytest.mark.parametrize("name", sorted(PACKED))
def test_text_is_decompressed_as_it_is_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(PACKED[name])
    source = locate(path)
    assert source.form == "text"
    with source.stream() as stream:
        assert stream.read() == TEXT
    assert open_table(path).read(["a"])["a"].to_pylist() == [0.5, 0.25]
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_other_forms_may_be_compressed_too(form: str, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    getattr(pd.DataFrame({"a": [1, 2]}), f"to_{form}")(buffer)
    (tmp_path / "f.zip").write_bytes(zipped((f"f.{form}", buffer.getvalue())))
    (tmp_path / f"f.{form}.xz").write_bytes(lzma.compress(buffer.getvalue()))
    for path in sorted(tmp_path.iterdir()):
        assert open_table(path).read(["a"])["a"].to_pylist() == [1, 2]


BAD: dict[str, tuple[str, bytes, str]] = {
    "unknown suffix": ("f.xlsx", b"PK", r"f.xlsx ends in '.xlsx', which is not a table that pubench reads; use \.csv"),
    "no suffix": ("f", TEXT, r"f ends in '', which is not"),
    "packed unknown": ("f.doc.gz", gzip.compress(TEXT), "ends in '.doc'"),
    "packed twice": ("f.zip", zipped(("f.csv.gz", gzip.compress(TEXT))), r"'f.csv.gz' in .*f.zip ends in '.gz'"),
    "damaged gz": ("f.csv.gz", gzip.compress(TEXT)[:-9], "damaged, cut off or not what its name says"),
    "no gz at all": ("f.csv.gz", TEXT, r"not what its name says \(Not a gzipped file"),
    "damaged xz": ("f.csv.xz", lzma.compress(TEXT)[:-20], "damaged, cut off"),
    "no xz at all": ("f.csv.xz", TEXT, "damaged, cut off"),
    "damaged zst": ("f.csv.zst", pa.compress(TEXT, "zstd", asbytes=True)[:-5], "damaged, cut off"),
    "no zst at all": ("f.csv.zst", TEXT, "damaged, cut off"),
    "damaged zip": ("f.zip", zipped(("f.csv", TEXT))[:-10], "damaged, cut off"),
    "damaged zip entry": ("f.zip", zipped(("f.csv", TEXT), method=zipfile.ZIP_STORED).replace(b"0.5", b"0.6"), "damaged, cut off"),
    "empty zip": ("f.zip", zipped(), "holds 0 files; pack exactly one table"),
    "two in a zip": ("f.zip", zipped(("a.csv", TEXT), ("b.csv", TEXT)), "holds 2 files; pack exactly one table"),
    "escaping entry": ("f.zip", zipped(("../f.csv", TEXT)), r"entry '\.\./f.csv' that points outside of it"),
    "entry in the middle": ("f.zip", zipped(("a/../../f.csv", TEXT)), "points outside of it"),
    "absolute entry": ("f.zip", zipped(("/etc/f.csv", TEXT)), "entry '/etc/f.csv' that points outside"),
    "entry for Windows": ("f.zip", zipped((r"C:\f.csv", TEXT)), "points outside of it"),
    "one good, one escaping": ("f.zip", zipped(("f.csv", TEXT), (r"..\f.csv", TEXT)), "points outside of it"),
    "damaged parquet": ("f.parquet", b"PAR1" + bytes(50) + b"PAR1", "damaged, cut off"),
    "empty parquet": ("f.parquet", b"", "damaged, cut off"),
    "damaged feather": ("f.feather", b"ARROW1" + bytes(50), "damaged, cut off"),
}  # fmt: skip


@pytest.mark.parametrize("case", sorted(BAD))
def test_a_file_that_cannot_be_opened_gives_one_sentence(case: str, tmp_path: Path) -> None:
    name, content, message = BAD[case]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        open_table(path).read(["a"])
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_zip_with_a_password(tmp_path: Path) -> None:
    content = bytearray(zipped(("f.csv", TEXT)))
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + place] |= 1
    (tmp_path / "f.zip").write_bytes(content)
    with pytest.raises(DataError, match="is encrypted; pack the table again without a password"):
        locate(tmp_path / "f.zip")


def test_a_folder_a_missing_file_and_a_pipe(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a folder; name the table file in it"):
        locate(tmp_path)
    (tmp_path / "customers.csv").write_bytes(TEXT)
    with pytest.raises(DataError, match=r"custmers.csv does not exist. Did you mean 'customers.csv'\?"):
        locate(tmp_path / "custmers.csv")
    with pytest.raises(DataError, match="does not exist"):
        locate(tmp_path / "no folder" / "f.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match="is not a regular file"):
        locate(tmp_path / "pipe.csv")


@pytest.fixture
def not_root() -> Iterator[None]:
    """Give up the right to read everything for a while."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    yield
    if root:
        os.seteuid(0)


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    path = tmp_path / "closed.csv"
    path.write_bytes(TEXT)
    path.chmod(0)
    return path


@pytest.mark.usefixtures("closed", "not_root")
def test_a_file_without_permission(closed: Path) -> None:
    with pytest.raises(DataError, match="cannot be read: permission denied; ask its owner, or chmod it"):
        open_table(closed)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("f.csv.gz", gzip.compress(b"a,b\n" + b"0,0\n" * 100_000)),
        ("f.csv.xz", lzma.compress(b"a,b\n" + b"0,0\n" * 100_000)),
        ("f.csv.zst", pa.compress(b"a,b\n" + b"0,0\n" * 100_000, "zstd", asbytes=True)),
        ("f.zip", zipped(("f.csv", b"a,b\n" + b"0,0\n" * 100_000))),
        ("f.npz", zipped(("X.npy", bytes(400_000)))),
    ],
    ids=name_alone,
)
def test_a_file_that_grows_too_much_is_not_read(
    name: str, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "free_memory", lambda: 100_000)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(
        DataError, match=r"unpacks to more than 50,000 bytes, half of the memory that is free"
    ):
        open_table(tmp_path / name).read(["a"])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("f.csv", TEXT),
        ("f.csv.gz", gzip.compress(TEXT)),
        ("f.csv.XZ", lzma.compress(TEXT)),
        ("f.csv.zst", pa.compress(TEXT, "zstd", asbytes=True)),
    ],
    ids=name_alone,
)
def test_a_file_is_decompressed_by_its_name(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with open_compressed(tmp_path / name) as stream:
        assert stream.read() == TEXT


def test_a_member_of_an_archive_in_an_archive(tmp_path: Path) -> None:
    archive = zipped(("inner.zip", zipped(("deep/f.csv", TEXT), ("g.csv", b"x"))), ("h.csv", b"y"))
    (tmp_path / "f.zip").write_bytes(archive)
    (tmp_path / "f.zip.gz").write_bytes(gzip.compress(archive))
    for name in ("f.zip", "f.zip.gz"):
        with open_compressed(tmp_path / name, "inner.zip", "deep/f.csv") as stream:
            assert stream.read() == TEXT
    with pytest.raises(DataError, match=r"f\.zip has no member f\.csv"):
        open_compressed(tmp_path / "f.zip", "inner.zip", "f.csv")


def test_an_archive_in_an_archive_is_bounded_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "free_memory", lambda: 1000)
    inner = zipped(("f.csv", b"0\n" * 1000), method=zipfile.ZIP_STORED)
    (tmp_path / "f.zip").write_bytes(zipped(("inner.zip", inner)))
    with pytest.raises(DataError, match="unpacks to more than"):
        open_compressed(tmp_path / "f.zip", "inner.zip", "f.csv")


def test_a_stream_closes_what_it_opened(tmp_path: Path) -> None:
    path = tmp_path / "f.csv.gz"
    path.write_bytes(gzip.compress(TEXT))
    stream = TableSource(path, "text", ".gz").stream()
    stream.close()
    assert stream.closed


def test_shown_text_is_one_short_line() -> None:
    assert shown("a\n b") == "a b"
    assert shown("x" * 100) == "x" * 60 + "..."


def test_importing_loads_neither_pandas_nor_pyarrow() -> None:
    program = "import sys, pubench.data.user_file; print({'pandas', 'pyarrow'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"

"""Delimited text with a header that is none, or a row that is no text, is refused for the right reason."""

import gzip
from pathlib import Path

import pytest

from pubench.data.column_types import read_table
from pubench.data.table_file import open_table
from pubench.errors import DataError

MANY = b"1,2\n" * 300_000  # more than a MiB, where the header is looked for

BAD: dict[str, tuple[bytes, str]] = {
    "a header without an end": (b"a" * 2_000_000 + b",b\n1,2\n", "The header of .* has more than 1,048,576 bytes"),
    "one line": (b"1," * 600_000, "The header of .* has more than 1,048,576 bytes"),
    "a NUL far below": (b"a,b\n" + MANY + b"\0,3\n", "Column 'a' holds a NUL, which is no text, in row 300001 of"),
    "blank rows": (b"a,b\r\n\r\n\n", "has a header but no rows"),
    "a quoted header": (b'"a\nx",b\n', "has a header but no rows"),
}  # fmt: skip


@pytest.mark.parametrize("case", sorted(BAD))
@pytest.mark.parametrize("packing", ["", ".gz"])
def test_it_is_refused_for_the_right_reason(case: str, packing: str, tmp_path: Path) -> None:
    content, message = BAD[case]
    path = tmp_path / f"f.csv{packing}"
    path.write_bytes(gzip.compress(content) if packing else content)
    with pytest.raises(DataError, match=message):
        read_table(path)


def test_a_first_row_may_hold_a_long_text(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_bytes(b"a,b\n1," + b"x" * 200_000 + b"\n")
    assert open_table(tmp_path / "f.csv").read(["a"])["a"].to_pylist() == [1]

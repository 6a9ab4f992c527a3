"""TOML that people write is read, or refused with a sentence that names the file."""

import re
from pathlib import Path

import pytest

from pubench.errors import DataError
from pubench.system.toml_documents import read_toml_document


def test_tables_come_with_their_text(tmp_path: Path) -> None:
    path = tmp_path / "suite.toml"
    path.write_text('title = "grün"\n[limits]\nminutes = 5\n', encoding="utf-8")
    document, text = read_toml_document(path)
    assert document == {"title": "grün", "limits": {"minutes": 5}}
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"x = ", "is not TOML"),
        (b"x = 1\nx = 2", "is not TOML"),
        (b"\xff", "is not UTF-8 text"),
        (b"x = " + 20_000 * b"[", "is not TOML"),
        (b"#" * (2**22 + 1), "too large"),
    ],
    ids=["cut off", "twice", "bytes", "nested", "large"],
)
def test_what_is_not_toml_is_refused(content: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"^{re.escape(str(path))} .*{reason}") as caught:
        read_toml_document(path)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_toml_document(tmp_path / "missing.toml")
    with pytest.raises(DataError, match="only regular files are read"):
        read_toml_document(tmp_path)

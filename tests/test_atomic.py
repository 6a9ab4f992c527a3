"""Files appear whole or not at all."""

from pathlib import Path

import pytest

from pubench.atomic import replacing
from pubench.errors import DataError


def test_success_replaces(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    with replacing(target) as temporary:
        temporary.write_text("new")
        assert target.read_text() == "old"
        assert temporary.suffix == ".txt"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_failure_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(target) as temporary:
        temporary.write_text(f"half{1 / 0}")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    plain, target = tmp_path / "plain", tmp_path / "a"
    plain.touch()
    with replacing(target) as temporary:
        temporary.write_text("x")
    assert target.stat().st_mode == plain.stat().st_mode


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="can not be written"), replacing(tmp_path / "no" / "a"):
        pass

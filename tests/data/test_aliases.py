"""Aliases: names that users give to their own files."""

from pathlib import Path

import pytest

from pubench.data.aliases import add_alias, find_alias, list_aliases, remove_alias
from pubench.data.user_file import FileSpec
from pubench.errors import DataError, InputError

SPEC = FileSpec(Path("/data/mine.csv"), "bought", "yes", ("a", "b"), "no")


def test_an_alias_is_read_as_it_was_added(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "when needed"
    add_alias(folder, "mine", SPEC)
    assert find_alias(folder, "mine") == SPEC
    assert list_aliases(folder) == {"mine": SPEC}
    assert remove_alias(folder, "mine") == SPEC
    assert find_alias(folder, "mine") is None


def test_paths_are_saved_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    add_alias(tmp_path, "mine", FileSpec(Path("x.csv"), "s"))
    found = find_alias(tmp_path, "mine")
    assert found is not None
    assert found.path == tmp_path / "x.csv"


def test_a_taken_name_is_not_changed_by_accident(tmp_path: Path) -> None:
    add_alias(tmp_path, "mine", SPEC)
    other = FileSpec(Path("/data/other.csv"), "s")
    with pytest.raises(InputError, match=r"stands for .*mine.csv already"):
        add_alias(tmp_path, "mine", other)
    add_alias(tmp_path, "mine", other, replace=True)
    assert find_alias(tmp_path, "mine") == other


@pytest.mark.parametrize("name", ["", "Mine", "../mine", "a/b", ".hidden", "a..b", "mine ", "m" * 300])
def test_an_invalid_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be a name"):
        add_alias(tmp_path, name, SPEC)
    assert find_alias(tmp_path, name) is None
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_name_suggests_one(tmp_path: Path) -> None:
    add_alias(tmp_path, "mine", SPEC)
    with pytest.raises(InputError, match="Did you mean 'mine'"):
        remove_alias(tmp_path, "mien")


@pytest.mark.parametrize("text", ["", "[1]", '{"schema": 9}', '{"schema": 1, "path": 3}', "\x00"])
def test_a_damaged_alias_is_refused_with_its_file(text: str, tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(text)
    with pytest.raises(
        DataError, match=r"alias file .*mine\.json is damaged.*; remove it and add the name again"
    ):
        find_alias(tmp_path, "mine")

"""Files and folders appear whole or not at all, and their content is checked."""

import os
import time
from pathlib import Path

import pytest

from pubench.errors import DataError
from pubench.system.files import (
    FileDifferences,
    check_writable,
    checksum,
    compare_files,
    locked_folder,
    make_folder,
    remove_at_once,
    remove_old_temporaries,
    temporary_folder,
    temporary_path,
    write_folder,
    write_whole,
)
from pubench.system.foreign_files import files_in


def replaceable(_: Path) -> None:
    """Allow every folder to be replaced."""


def not_replaceable(folder: Path) -> None:
    raise DataError(f"{folder} is mine.")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A folder with an old file."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "a.txt").write_text("old")
    return folder


# --- files


@pytest.mark.parametrize("sync", [False, True])
def test_success_replaces(sync: bool, tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    with write_whole(target, sync=sync) as temporary:
        temporary.write_text("new")
        assert target.read_text() == "old"
        assert temporary.suffix == ".txt"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_failure_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(ZeroDivisionError), write_whole(target) as temporary:
        temporary.write_text(f"half{1 / 0}")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    plain, target = tmp_path / "plain", tmp_path / "a"
    plain.touch()
    with write_whole(target) as temporary:
        temporary.write_text("x")
    assert target.stat().st_mode == plain.stat().st_mode


def test_a_file_in_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written"), write_whole(tmp_path / "no" / "a"):
        pass


# --- folders


def test_a_new_folder_appears_whole(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    with write_folder(folder, not_replaceable) as temporary:
        (temporary / "x").write_text("x")
        assert not folder.exists()
    assert (folder / "x").read_text() == "x"
    assert os.listdir(folder.parent) == ["b"]  # noqa: PTH208 - hidden ones too


def test_an_old_folder_is_replaced_at_the_end(old: Path) -> None:
    with write_folder(old, replaceable) as temporary:
        (temporary / "b.txt").write_text("new")
        assert (old / "a.txt").exists()
    assert os.listdir(old) == ["b.txt"]  # noqa: PTH208
    assert os.listdir(old.parent) == ["site"]  # noqa: PTH208


def test_a_failure_leaves_the_old_folder(old: Path) -> None:
    def write_half(folder: Path) -> None:
        (folder / "b.txt").write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(DataError, match="No space left"), write_folder(old, replaceable) as temporary:
        write_half(temporary)
    assert os.listdir(old) == ["a.txt"]  # noqa: PTH208
    assert os.listdir(old.parent) == ["site"]  # noqa: PTH208


def test_a_failure_to_swap_moves_the_old_folder_back(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = Path.rename

    def fail_to_publish(self: Path, target: Path) -> Path:
        if target == old and (self / "b.txt").exists():
            raise PermissionError(13, "Permission denied")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_to_publish)
    with pytest.raises(DataError, match="Permission denied"), write_folder(old, replaceable) as temporary:
        (temporary / "b.txt").write_text("new")
    assert os.listdir(old) == ["a.txt"]  # noqa: PTH208
    assert os.listdir(old.parent) == ["site"]  # noqa: PTH208


def test_a_folder_that_may_not_be_replaced_is_found_before_the_work(old: Path) -> None:
    with pytest.raises(DataError, match="is mine"):
        check_writable(old, not_replaceable)
    with pytest.raises(DataError, match="is mine"), write_folder(old, not_replaceable):
        pytest.fail("worked in vain")


def test_a_folder_that_appears_meanwhile_is_checked_too(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    with pytest.raises(DataError, match="is mine"), write_folder(folder, not_replaceable):
        make_folder(folder / "theirs")
    assert (folder / "theirs").exists()


def test_an_empty_folder_is_replaced_without_being_asked_for(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with write_folder(tmp_path / "empty", not_replaceable) as temporary:
        (temporary / "x").touch()
    assert (tmp_path / "empty/x").exists()


def test_a_file_and_a_link_are_never_replaced(old: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(old)
    for name in ("file", "link"):
        with pytest.raises(DataError, match="not a folder"):
            check_writable(tmp_path / name, replaceable)
    with pytest.raises(DataError, match=r"cannot be made: .*file is not a folder"):
        check_writable(tmp_path / "file/inside", replaceable)
    with pytest.raises(DataError, match="cannot be made"):
        make_folder(tmp_path / "file/inside")


# --- leftovers


def test_only_old_temporaries_are_removed(tmp_path: Path) -> None:
    for name in ("notes.txt", ".git", ".notes-0123.txt"):
        (tmp_path / name).touch()
    old_file, old_folder, young = (temporary_path(tmp_path / name) for name in ("a.json", "b", "c.tar.gz"))
    for path in (old_file, young):
        path.touch()
    old_folder.mkdir()
    (old_folder / "x").touch()
    for path in tmp_path.iterdir():
        if path != young:
            os.utime(path, (time.time() - 100,) * 2)
    remove_old_temporaries(tmp_path, 50)
    assert {path.name for path in tmp_path.iterdir()} == {"notes.txt", ".git", ".notes-0123.txt", young.name}
    remove_old_temporaries(tmp_path / "missing", 50)


def test_removing_at_once_takes_files_links_and_folders(old: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(old)
    (tmp_path / "file").touch()
    for name in ("link", "file", "missing"):
        remove_at_once(tmp_path / name)
    assert list(tmp_path.iterdir()) == [old]
    assert (old / "a.txt").exists()
    remove_at_once(old)
    assert list(tmp_path.iterdir()) == []


def test_a_temporary_folder_stays_only_if_it_is_renamed(tmp_path: Path) -> None:
    with temporary_folder(tmp_path / "a") as temporary:
        (temporary / "x").touch()
    assert list(tmp_path.iterdir()) == []
    with temporary_folder(tmp_path / "a") as temporary:
        temporary.rename(tmp_path / "a")
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


# --- locks


def test_a_locked_folder_is_refused_to_others(old: Path) -> None:
    with (
        locked_folder(old),
        pytest.raises(DataError, match="Another process is working on"),
        locked_folder(old),
    ):
        pytest.fail("locked twice")
    with locked_folder(old):
        pass


def test_a_missing_folder_cannot_be_locked(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written"), locked_folder(tmp_path / "missing"):
        pass


# --- content


def test_checksums(old: Path) -> None:
    assert checksum(old / "a.txt").startswith("cba06b5736faf67e")
    assert len(checksum(old / "a.txt", "blake2b")) == 32


def test_differences_are_found_by_name_and_content(old: Path) -> None:
    for name in ("b", "c"):
        (old / name).write_text(name)
    listed = {name: checksum(path) for name, path in files_in(old).items()}
    assert compare_files(files_in(old), listed, checksum) == FileDifferences((), (), ())
    (old / "b").unlink()
    (old / "c").write_text("changed")
    (old / "d").touch()
    listed["../outside"] = "never opened"
    assert compare_files(files_in(old), listed, checksum) == FileDifferences(
        ("../outside", "b"), ("d",), ("c",)
    )

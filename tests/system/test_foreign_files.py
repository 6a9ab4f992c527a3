"""Files that may come from anybody: a link, a pipe or a device is refused, and never opened."""

import os
import socket
from pathlib import Path

import pytest

from pubench.errors import DataError
from pubench.system.foreign_files import files_in, read_bytes, read_text, scan_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file in it, and one in a folder below."""
    made = tmp_path / "folder"
    (made / "sub/deep").mkdir(parents=True)
    for name in ("a.txt", "sub.txt", "sub/deep/c"):
        (made / name).write_text(name)
    return made


def test_files_are_listed_by_their_path_in_order(folder: Path) -> None:
    assert list(files_in(folder)) == ["a.txt", "sub/deep/c", "sub.txt"]
    with pytest.raises(DataError, match="cannot be read"):
        files_in(folder / "missing")


def test_links_devices_pipes_and_sockets_are_refused_by_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "device").symlink_to("/dev/zero")
    (folder / "nowhere").symlink_to("missing")
    (folder / "sub/loop").symlink_to(folder)
    os.mkfifo(folder / "pipe")
    monkeypatch.chdir(folder)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
        found = scan_folder(folder)
    assert list(found.files) == ["a.txt", "sub/deep/c", "sub.txt"]
    assert list(found.refused) == ["device", "nowhere", "pipe", "socket", "sub/loop"]
    with pytest.raises(DataError, match="device is a link or no regular file"):
        files_in(folder)


@pytest.mark.parametrize("target", ["/dev/zero", "/dev/stdin"])
def test_a_device_is_not_read_even_where_links_are_followed(target: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(DataError, match="link is a link or no regular file"):
        read_bytes(tmp_path / "link", 10)


def test_a_pipe_without_a_writer_does_not_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="pipe is a link or no regular file"):
        read_text(tmp_path / "pipe")


def test_a_link_that_the_user_named_is_followed(folder: Path) -> None:
    (folder / "link").symlink_to("a.txt")
    assert read_bytes(folder / "link", 5) == b"a.txt"
    with pytest.raises(DataError, match="link is a link"):
        read_bytes(folder / "link", 5, follow_link=False)


def test_size_is_limited_whatever_a_file_claims(folder: Path) -> None:
    with pytest.raises(DataError, match=r"a\.txt is too large to be read: it has more than 4 bytes"):
        read_bytes(folder / "a.txt", 4)
    version = Path("/proc/version")
    assert version.stat().st_size == 0
    assert len(read_bytes(version, 10_000)) > 10
    with pytest.raises(DataError, match="more than 10 bytes"):
        read_bytes(version, 10)


def test_text_is_utf_8(folder: Path) -> None:
    (folder / "a.txt").write_bytes("1\r\n\u00e9\n".encode())
    assert read_text(folder / "a.txt") == "1\n\u00e9\n"
    (folder / "a.txt").write_bytes(b"1\xff")
    with pytest.raises(DataError, match=r"a\.txt is not UTF-8 text: byte 2 cannot be read"):
        read_text(folder / "a.txt")

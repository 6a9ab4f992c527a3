"""The site in files: it is there as a whole, or the old one stays."""

import json
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from pubench.errors import DataError
from pubench.json_files import read_json
from pubench.leaderboard.board import Board
from pubench.leaderboard.data_files import write_data_files
from pubench.leaderboard.site.details import dataset_page, method_page
from pubench.leaderboard.site.frame import asset, style
from pubench.leaderboard.site.overview import overview_page

#: Lists what belongs to the site: all other files in its folder are somebody else's.
MANIFEST = "site.json"


@dataclass(frozen=True)
class Built:
    """A site that was written: where, and how large it is."""

    folder: Path
    pages: int
    files: int
    bytes: int


def build_site(board: Board, out: Path) -> Built:
    """Write the site into a folder; one that was there is replaced at the end, and left alone by any failure.

    Raises:
        DataError: the folder holds files that are not of a site, or can not be written.
    """
    check_own(out)
    temporary = out.with_name(f".{out.name}-{secrets.token_hex(8)}")
    try:
        temporary.mkdir(parents=True)
        _write(board, temporary)
        manifest = write_manifest(temporary)
        _swap(temporary, out)
    except OSError as error:
        raise DataError(f"{out} can not be written: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    pages = sum(name.endswith(".html") for name in manifest)
    files = [out / name for name in (*manifest, MANIFEST)]
    return Built(out, pages, len(files), sum(path.stat().st_size for path in files))


def _write(board: Board, folder: Path) -> None:
    write_data_files(board, folder)
    for name, content in _pages(board):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")


def _pages(board: Board) -> Iterator[tuple[str, str]]:
    yield "index.html", overview_page(board)
    yield "site.css", style()
    yield "site.js", asset("site.js")
    for number, entry in enumerate(board.evidence.entries):
        yield f"methods/{entry.id}.html", method_page(board, number)
    for number, dataset in enumerate(board.evidence.datasets):
        yield f"datasets/{dataset.id}.html", dataset_page(board, number)


def _swap(new: Path, out: Path) -> None:
    """Put a folder in the place of another one, which comes back if that fails."""
    if not out.exists():
        new.rename(out)
        return
    old = out.with_name(f".{out.name}-{secrets.token_hex(8)}")
    out.rename(old)
    try:
        new.rename(out)
    except OSError:
        old.rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)


def write_manifest(folder: Path) -> dict[str, str]:
    """Write the list of a site's files and return it: path below the folder -> digest of the content."""
    listed = {
        path.relative_to(folder).as_posix(): _digest(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    content = {"kind": "pubench-site", "schema": 1, "files": listed}
    (folder / MANIFEST).write_text(f"{json.dumps(content, indent=1)}\n", encoding="utf-8")
    return listed


def read_manifest(folder: Path) -> Mapping[str, str]:
    """Return the list of a site's files; empty where the folder has none.

    Raises:
        DataError: it is no list of files below the folder.
    """
    path = folder / MANIFEST
    if not path.is_file():
        return {}
    content = read_json(path)
    listed = content.get("files")
    if content.get("kind") != "pubench-site" or not isinstance(listed, dict):
        raise DataError(f"{path} is no list of a site's files.")
    for name, digest in listed.items():
        if not isinstance(digest, str) or not _is_below(name):
            raise DataError(f"{path} lists '{name[:80]}', which is no file of a site.")
    return listed


def _is_below(name: str) -> bool:
    parts = name.split("/")
    return all(part and part not in {".", ".."} and "\\" not in part and ":" not in part for part in parts)


def check_own(folder: Path) -> None:
    """Refuse a folder that holds anything but a site.

    Raises:
        DataError: names the first file that is none of the site's, or says that it is no folder.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise DataError(f"{folder} is no folder; name another one.")
    own = {*read_manifest(folder), MANIFEST}
    for path in sorted(folder.rglob("*")):
        if not path.is_dir() and path.relative_to(folder).as_posix() not in own:
            raise DataError(
                f"{path} is no file of a site and would be lost; name another folder, or move it away."
            )


def check_whole(folder: Path) -> Mapping[str, str]:
    """Return the list of files of a whole site.

    Raises:
        DataError: it is none, or a file is missing or was changed.
    """
    listed = read_manifest(folder)
    if not listed:
        raise DataError(
            f"{folder} holds no site; make one with: pubench leaderboard build RECORDS --out {folder}"
        )
    for name, digest in listed.items():
        path = folder / name
        if path.is_symlink() or not path.is_file() or _digest(path) != digest:
            raise DataError(f"{path} is missing or was changed since the site was built; build it again.")
    return listed


def _digest(path: Path) -> str:
    return blake2b(path.read_bytes(), digest_size=16).hexdigest()

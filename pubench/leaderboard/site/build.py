"""Writes the site as a folder, which appears whole or not at all, with a manifest of its files."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pubench.errors import DataError, shown
from pubench.leaderboard.board import Board
from pubench.leaderboard.export import write_data_files
from pubench.leaderboard.site.dataset_page import dataset_page
from pubench.leaderboard.site.method_page import method_page
from pubench.leaderboard.site.overview import overview_page
from pubench.leaderboard.site.page_frame import packaged_text, site_style
from pubench.system.files import check_writable, checksum, compare_files, write_folder
from pubench.system.foreign_files import files_in
from pubench.system.json_documents import Node, read_json

#: The file that lists the files of the site; other files in its folder do not belong to it.
MANIFEST = "site.json"


@dataclass(frozen=True)
class SiteResult:
    """A site that was written: its folder, the number of pages and files, and their size."""

    folder: Path
    pages: int
    files: int
    bytes: int


def build_site(board: Board, out: Path) -> SiteResult:
    """Write the site to a folder; an earlier site there is replaced at the end, and kept on any error.

    Raises:
        DataError: the folder holds files that are not of a site, or cannot be written.
    """
    with write_folder(out, _check_replaceable) as temporary:
        _write(board, temporary)
        manifest = write_manifest(temporary)
    pages = sum(name.endswith(".html") for name in manifest)
    files = [out / name for name in (*manifest, MANIFEST)]
    return SiteResult(out, pages, len(files), sum(path.stat().st_size for path in files))


def _write(board: Board, folder: Path) -> None:
    write_data_files(board, folder)
    for name, content in _pages(board):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")


def _pages(board: Board) -> Iterator[tuple[str, str]]:
    yield "index.html", overview_page(board)
    yield "site.css", site_style()
    yield "site.js", packaged_text("site.js")
    for number, entry in enumerate(board.ranked.entries):
        yield f"methods/{entry.id}.html", method_page(board, number)
    for number, dataset in enumerate(board.ranked.datasets):
        yield f"datasets/{dataset.id}.html", dataset_page(board, number)


def write_manifest(folder: Path) -> dict[str, str]:
    """Write the manifest of a site and return it: path below the folder -> digest of the content."""
    listed = {name: _digest(path) for name, path in files_in(folder).items()}
    content = {"kind": "pubench-site", "schema": 1, "files": listed}
    (folder / MANIFEST).write_text(f"{json.dumps(content, indent=1)}\n", encoding="utf-8")
    return listed


def read_manifest(folder: Path) -> Mapping[str, str]:
    """Return the manifest of a site; empty if the folder has none.

    Raises:
        DataError: it is damaged, or lists paths outside the folder.
    """
    path = folder / MANIFEST
    if not path.is_file():
        return {}
    document = Node(read_json(path), path.name, f"The list of files {path}", "build the site again")
    if document["kind"].text() != "pubench-site":
        raise document["kind"].error("'pubench-site'")
    for name in document["files"].members():
        if not _is_below(name):
            raise DataError(f"{path} lists '{shown(name)}', which is no file of a site.")
    return {name: digest.text() for name, digest in document["files"].members().items()}


def _is_below(name: str) -> bool:
    parts = name.split("/")
    return all(part and part not in {".", ".."} and "\\" not in part and ":" not in part for part in parts)


def check_own(out: Path) -> None:
    """Raise `DataError` unless a site can be written to `out`; meant to be called before the work."""
    check_writable(out, _check_replaceable)


def _check_replaceable(folder: Path) -> None:
    """Raise `DataError` if a folder has a file that does not belong to the site in it; the message names the file."""
    own = {*read_manifest(folder), MANIFEST}
    for path in sorted(folder.rglob("*")):
        if not path.is_dir() and path.relative_to(folder).as_posix() not in own:
            raise DataError(
                f"{path} is no file of a site and would be lost; choose another folder, or move it away."
            )


def check_whole(folder: Path) -> Mapping[str, str]:
    """Return the manifest of a site, all files of which are unchanged.

    Raises:
        DataError: there is no site, or a file is missing or was changed.
    """
    listed = read_manifest(folder)
    if not listed:
        raise DataError(
            f"{folder} holds no site; make one with: pubench leaderboard build RECORDS --out {folder}"
        )
    paths = {name: folder / name for name in listed}
    files = {name: path for name, path in paths.items() if path.is_file() and not path.is_symlink()}
    differences = compare_files(files, listed, _digest)
    for name in (*differences.missing, *differences.changed):
        raise DataError(f"{paths[name]} is missing or was changed since the site was built; build it again.")
    return listed


def _digest(path: Path) -> str:
    return checksum(path, "blake2b")

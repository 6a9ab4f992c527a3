"""The site appears whole or not at all, and never replaces files that are not its own."""

import json
from pathlib import Path

import pytest

from pubench.errors import DataError
from pubench.leaderboard.board import load_board, make_board
from pubench.leaderboard.site.build import MANIFEST, build_site, check_whole, read_manifest
from tests.leaderboard.simulation import Simulate

ROOT = Path(__file__).parents[2]


def test_stand_ins_are_marked_on_every_page(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text()
        if "bank1" in text:
            assert "synthetic stand-in" in text, page


def test_the_same_records_give_the_same_files(written: Path, site: Path, tmp_path: Path) -> None:
    again = build_site(load_board(written), tmp_path / "again").folder
    assert read_manifest(again) == read_manifest(site)


def test_a_site_is_replaced_as_a_whole_and_other_files_are_refused(written: Path, tmp_path: Path) -> None:
    board, out = load_board(written), tmp_path / "site"
    build_site(board, out)
    (out / "methods" / "gone.html").write_text("of another author")
    with pytest.raises(DataError, match=r"gone\.html"):
        build_site(board, out)
    (out / "methods" / "gone.html").unlink()
    (out / "index.html").write_text("changed")
    with pytest.raises(DataError, match="was changed"):
        check_whole(out)
    build_site(board, out)
    check_whole(out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["site"]


def test_a_build_that_fails_leaves_the_old_site(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board, out = load_board(written), tmp_path / "site"
    build_site(board, out)
    before = read_manifest(out)

    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pubench.leaderboard.site.build.dataset_page", full)
    with pytest.raises(DataError, match="No space left"):
        build_site(board, out)
    assert check_whole(out) == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_the_old_site_is_restored_if_the_new_one_cannot_replace_it(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board, out = load_board(written), tmp_path / "site"
    build_site(board, out)
    before, rename, done = read_manifest(out), Path.rename, []

    def second_fails(self: Path, target: Path) -> Path:
        done.append(target)
        if len(done) == 2:
            raise OSError(13, "Permission denied")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", second_fails)
    with pytest.raises(DataError, match="Permission denied"):
        build_site(board, out)
    assert check_whole(out) == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_folder_that_is_no_site_is_refused(written: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match=r"notes\.txt"):
        build_site(load_board(written), tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    with pytest.raises(DataError, match="not a folder"):
        build_site(load_board(written), tmp_path / "notes.txt")


@pytest.mark.parametrize("name", ["../up.html", "/etc/passwd", "a/../../b", "", "a//b", "c:\\x", "."])
def test_a_manifest_cannot_refer_to_files_outside_its_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text(json.dumps({"kind": "pubench-site", "schema": 1, "files": {name: "0"}}))
    with pytest.raises(DataError, match="no file of a site"):
        read_manifest(tmp_path)


def test_invalid_files_are_named_on_the_page_without_their_location(written: Path, tmp_path: Path) -> None:
    folder = tmp_path / "secret-place" / "records"
    folder.mkdir(parents=True)
    for path in sorted(written.iterdir())[:12]:
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "torn.json").write_text("{")
    board = load_board(folder)
    assert [one.path.name for one in board.unreadable] == ["torn.json"]
    page = (build_site(board, tmp_path / "site").folder / "index.html").read_text()
    assert "torn.json" in page
    assert "secret-place" not in page


def test_ceilings_are_shown_and_not_ranked(simulate: Simulate, tmp_path: Path) -> None:
    records = simulate({"oracle": 2.0, "a": 1.0, "b": 0.5}, ["alpha"])
    board = make_board(records)
    assert [entry.method for entry in board.ranked.entries] == ["a", "b"]
    page = (build_site(board, tmp_path / "site").folder / "datasets/alpha.html").read_text()
    assert "given every true label: oracle" in page
    with pytest.raises(DataError, match="no record of a method"):
        make_board([one for one in records if one.spec.method == "oracle"])

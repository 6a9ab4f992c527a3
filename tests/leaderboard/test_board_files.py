"""The board as files: data.json keeps to its schema, tables hold every run, and a failed build leaves the old site."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pa_parquet
import pytest
from jsonschema import Draft202012Validator

from pubench.errors import DataError, PubenchError
from pubench.leaderboard.board import make_board
from pubench.leaderboard.data_files import DOWNLOADS, data_schema, to_document
from pubench.leaderboard.loading import load_board
from pubench.leaderboard.markdown import BEGIN, END, to_markdown, write_into
from pubench.leaderboard.site.writing import MANIFEST, build_site, check_whole, read_manifest
from pubench.records.record import Record

ROOT = Path(__file__).parents[2]


def test_data_json_keeps_to_its_schema(site: Path) -> None:
    Draft202012Validator.check_schema(data_schema())
    document = json.loads((site / "data.json").read_text())
    assert list(Draft202012Validator(data_schema()).iter_errors(document)) == []
    assert document["schema"] == 1
    assert {one["id"] for one in document["entries"]} == {one["entry"] for one in document["standings"]}
    assert sum(one["verified_runs"] for one in document["standings"]) == 2
    assert sum(one["mismatched_runs"] for one in document["standings"]) == 1


def test_a_document_that_lacks_something_breaks_the_schema(records: list[Record]) -> None:
    document = to_document(make_board(records))
    del document["standings"][0]["failures"]
    assert not Draft202012Validator(data_schema()).is_valid(document)


def test_every_run_is_in_the_tables_failures_too(site: Path, records: list[Record]) -> None:
    runs = pd.read_csv(site / "runs.csv")
    assert set(runs.key) == {one.spec.key for one in records}
    assert (runs.status == "timeout").sum() == sum(one.status.value == "timeout" for one in records) > 0
    table = pa_parquet.read_table(site / "runs.parquet").to_pandas()
    assert table.key.tolist() == runs.key.tolist()
    assert table.aul_pu.to_numpy() == pytest.approx(runs.aul_pu.to_numpy(), nan_ok=True)
    assert set(runs[runs.stand_in].dataset) == {"bank1 (synthetic stand-in)"}
    standings = pd.read_csv(site / "standings.csv")
    assert standings["rank"].is_monotonic_increasing
    assert len(pd.read_csv(site / "pairs.csv")) == 10
    assert set(DOWNLOADS) < {path.name for path in site.iterdir()}


def test_stand_ins_are_called_so_on_every_page_they_are_on(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text()
        if "bank1" in text:
            assert "synthetic stand-in" in text, page


def test_the_same_records_give_the_same_files(written: Path, site: Path, tmp_path: Path) -> None:
    again = build_site(load_board(written), tmp_path / "again").folder
    assert read_manifest(again) == read_manifest(site)


def test_a_site_is_replaced_as_a_whole_and_files_of_others_are_refused(written: Path, tmp_path: Path) -> None:
    board, out = load_board(written), tmp_path / "site"
    build_site(board, out)
    (out / "methods" / "gone.html").write_text("of somebody else")
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

    monkeypatch.setattr("pubench.leaderboard.site.writing.dataset_page", full)
    with pytest.raises(DataError, match="No space left"):
        build_site(board, out)
    assert check_whole(out) == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_the_old_site_comes_back_if_the_new_one_can_not_take_its_place(
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
    with pytest.raises(DataError, match="no folder"):
        build_site(load_board(written), tmp_path / "notes.txt")


@pytest.mark.parametrize("name", ["../up.html", "/etc/passwd", "a/../../b", "", "a//b", "c:\\x", "."])
def test_a_list_of_files_can_not_lead_out_of_its_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text(json.dumps({"kind": "pubench-site", "schema": 1, "files": {name: "0"}}))
    with pytest.raises(DataError, match="no file of a site"):
        read_manifest(tmp_path)


def test_what_is_no_record_is_named_on_the_page_without_where_it_lay(written: Path, tmp_path: Path) -> None:
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


def test_no_records_are_an_error_with_a_reason(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no folder of records"):
        load_board(tmp_path / "none")
    with pytest.raises(DataError, match="holds no record"):
        load_board(tmp_path)
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(DataError, match="no schema"):
        load_board(tmp_path)


def test_ceilings_are_shown_and_not_ranked(simulate: Callable[..., list[Record]], tmp_path: Path) -> None:
    records = simulate({"oracle": 2.0, "a": 1.0, "b": 0.5}, ["alpha"])
    board = make_board(records)
    assert [entry.method for entry in board.evidence.entries] == ["a", "b"]
    page = (build_site(board, tmp_path / "site").folder / "datasets/alpha.html").read_text()
    assert "given every true label: oracle" in page
    with pytest.raises(DataError, match="no record of a method"):
        make_board([one for one in records if one.spec.method == "oracle"])


def test_a_missing_library_is_named_with_how_to_get_it(
    records: list[Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scikit_posthocs", None)
    with pytest.raises(PubenchError, match=r"pip install 'pubench\[leaderboard\]'"):
        make_board(records)


def test_the_readme_of_the_records_is_up_to_date() -> None:
    """If this fails: pubench leaderboard show --markdown --into leaderboard/README.md."""
    folder = ROOT / "leaderboard" / "records"
    text = (ROOT / "leaderboard" / "README.md").read_text()
    assert text.partition(BEGIN)[2].partition(END)[0].strip() == to_markdown(load_board(folder)).strip()


def test_the_built_data_of_the_records_is_up_to_date() -> None:
    """If this fails: pubench leaderboard show --json > leaderboard/data.json."""
    document = json.loads((ROOT / "leaderboard" / "data.json").read_text())
    built = json.loads(json.dumps(to_document(load_board(ROOT / "leaderboard" / "records"))))
    assert document == {**built, "made_with": document["made_with"]}


def test_the_table_goes_between_the_marks(records: list[Record], tmp_path: Path) -> None:
    document = tmp_path / "README.md"
    document.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    table = to_markdown(make_board(records))
    assert write_into(document, table)
    assert not write_into(document, table)
    assert document.read_text() == f"before\n{BEGIN}\n{table}{END}\nafter\n"
    assert "| 1 | probtagging + lightgbm |" in table
    assert "stand-ins among the data sets: bank1" in table
    document.write_text("no marks")
    with pytest.raises(DataError, match="has no lines"):
        write_into(document, table)

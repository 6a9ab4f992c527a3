"""data.json matches its schema, the tables hold every run, and the ranking is a Markdown table."""

import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pa_parquet
import pytest
from jsonschema import Draft202012Validator

from pubench.errors import DataError
from pubench.leaderboard.board import load_board, make_board
from pubench.leaderboard.export import (
    BEGIN,
    DOWNLOADS,
    END,
    data_schema,
    insert_table,
    to_document,
    to_markdown,
)
from pubench.record.record import Record

ROOT = Path(__file__).parents[2]


def test_data_json_keeps_to_its_schema(site: Path) -> None:
    Draft202012Validator.check_schema(data_schema())
    document = json.loads((site / "data.json").read_text())
    assert list(Draft202012Validator(data_schema()).iter_errors(document)) == []
    assert document["schema"] == 1
    assert {one["id"] for one in document["entries"]} == {one["entry"] for one in document["standings"]}
    assert sum(one["verified_runs"] for one in document["standings"]) == 2
    assert sum(one["mismatched_runs"] for one in document["standings"]) == 1


def test_a_document_with_a_missing_field_breaks_the_schema(records: list[Record]) -> None:
    document = to_document(make_board(records))
    del document["standings"][0]["failures"]
    assert not Draft202012Validator(data_schema()).is_valid(document)


def test_every_run_is_in_the_tables_even_failed_ones(site: Path, records: list[Record]) -> None:
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


def test_the_built_data_of_the_records_is_up_to_date() -> None:
    """If this fails: pubench leaderboard show --json > leaderboard/data.json."""
    document = json.loads((ROOT / "leaderboard" / "data.json").read_text())
    built = json.loads(json.dumps(to_document(load_board(ROOT / "leaderboard" / "records"))))
    assert document == {**built, "made_with": document["made_with"]}


def test_the_readme_of_the_records_is_up_to_date() -> None:
    """If this fails: pubench leaderboard show --markdown --into leaderboard/README.md."""
    folder = ROOT / "leaderboard" / "records"
    text = (ROOT / "leaderboard" / "README.md").read_text()
    assert text.partition(BEGIN)[2].partition(END)[0].strip() == to_markdown(load_board(folder)).strip()


def test_the_table_is_written_between_the_marks(records: list[Record], tmp_path: Path) -> None:
    document = tmp_path / "README.md"
    document.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    table = to_markdown(make_board(records))
    assert insert_table(document, table)
    assert not insert_table(document, table)
    assert document.read_text() == f"before\n{BEGIN}\n{table}{END}\nafter\n"
    assert "| 1 | probtagging + lightgbm |" in table
    assert "stand-ins among the data sets: bank1" in table
    document.write_text("no marks")
    with pytest.raises(DataError, match="has no lines"):
        insert_table(document, table)

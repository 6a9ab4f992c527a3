"""The ranking as a Markdown table."""

from pathlib import Path

import pytest

from pubench.errors import DataError
from pubench.leaderboard.board import load_board, make_board
from pubench.leaderboard.markdown import BEGIN, END, insert_table, to_markdown
from pubench.record.record import Record

ROOT = Path(__file__).parents[2]


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

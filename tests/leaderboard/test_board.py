"""Any records give a board, or an error with a reason."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubench.errors import DataError, PubenchError
from pubench.leaderboard.board import load_board, make_board
from pubench.record.record import Record
from pubench.types import Status
from tests.leaderboard.simulation import Simulate


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y"]), st.integers(0, 2), st.booleans()),
        min_size=1,
        max_size=30,
        unique_by=lambda run: run[:3],
    )
)
def test_any_missing_and_failed_runs_give_a_board(
    simulate: Simulate, runs: list[tuple[str, str, int, bool]]
) -> None:
    everything = {
        (one.spec.method, one.spec.dataset, one.spec.fold): one
        for one in simulate(dict.fromkeys("abc", 1.0), ["x", "y"])
    }
    failed = {"status": Status.FAILED, "reason": "It broke.", "metrics": {}, "placements": ()}
    records = [replace(everything[run[:3]], **({} if run[3] else failed)) for run in runs]  # type: ignore[arg-type]
    board = make_board(records)
    n = len({run[0] for run in runs})
    assert len(board.standings) == n
    for one in board.standings:
        assert one.rank is None or 1 <= one.rank <= n
        assert one.low is None or one.low <= (one.rank or 0) <= (one.high or 0)


def test_no_records_are_an_error_with_a_reason(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no folder of records"):
        load_board(tmp_path / "none")
    with pytest.raises(DataError, match="holds no record"):
        load_board(tmp_path)
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(DataError, match="no schema"):
        load_board(tmp_path)


def test_a_missing_library_is_named_with_how_to_get_it(
    records: list[Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scikit_posthocs", None)
    with pytest.raises(PubenchError, match=r"pip install 'pubench\[leaderboard\]'"):
        make_board(records)

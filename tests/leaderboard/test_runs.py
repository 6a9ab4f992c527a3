"""Records are assigned to data sets and tasks."""

from dataclasses import replace

from pubench.leaderboard.runs import collect_runs
from pubench.types import Status
from tests.leaderboard.simulation import Simulate


def test_the_same_name_with_other_rows_is_another_data_set(simulate: Simulate) -> None:
    first = simulate({"a": 1.0, "b": 0.5}, ["alpha"])
    other = [
        replace(one, spec=replace(one.spec, seed=2), data=replace(one.data, hash="f" * 32))
        for one in first
        if one.data is not None
    ]
    early = replace(first[0], spec=replace(first[0].spec, seed=3), data=None, status=Status.FAILED, reason="It broke.",
                    metrics={}, placements=())  # fmt: skip
    board_runs = collect_runs([*first, *other, early])
    assert len(board_runs.datasets) == 2
    assert len({one.label for one in board_runs.datasets}) == 2
    assert all("alpha" in one.label for one in board_runs.datasets)
    assert len(board_runs.runs) == 13

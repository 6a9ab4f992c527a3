"""Failed runs are replaced, and the size of a task is limited."""

import numpy as np
import pytest

from pubench.errors import DataError
from pubench.leaderboard.ranking import standings
from pubench.leaderboard.runs import collect_runs
from pubench.leaderboard.task_results import CHANCE, filled, results_of
from pubench.types import Status
from tests.leaderboard.simulation import FIVE, Simulate, method_names, rank_records


def test_a_failed_fold_counts_as_chance_or_as_the_lowest(simulate: Simulate) -> None:
    records = simulate({"a": 3.0, "b": 1.0}, ["alpha"], failing=lambda m, _, fold: m == "a" and fold == 0)
    board_runs, tasks = rank_records(records)
    values = [one.metrics["aul_pu"] for one in records if one.spec.method == "a" and one.status is Status.OK]
    best = next(one for one in standings(board_runs, tasks) if method_names(board_runs)[one.entry] == "a")
    assert best.aul_pu == pytest.approx((sum(values) + CHANCE) / 3)
    low = filled(np.array([[0.2, 0.7], [np.nan, 0.6]]), np.array([[False, False], [True, False]]))
    assert low[1, 0] == 0.2


def test_a_task_that_would_exhaust_memory_is_refused(
    simulate: Simulate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pubench.leaderboard.task_results._MAX_CELLS", 10)
    with pytest.raises(DataError, match="leave records out"):
        results_of(collect_runs(simulate(FIVE)))

"""What choosing by AUL_PU costs."""

from dataclasses import replace

import pytest
from scipy.stats import kendalltau

from pubench.leaderboard.regret import regrets
from tests.leaderboard.simulation import FIVE, Simulate, rank_records


def test_regret_is_what_choosing_by_aul_costs(simulate: Simulate) -> None:
    auc = {"a": 0.8, "b": 0.9, "c": 0.7}
    records = [
        replace(one, metrics={**one.metrics, "auc": auc[one.spec.method]})
        for one in simulate({"a": 1.5, "b": 1.0, "c": 0.0}, ["alpha"])
    ]
    _, tasks = rank_records(records)
    (found,) = regrets(tasks)
    assert found.lost == pytest.approx(0.1)
    assert found.tau == pytest.approx(kendalltau([3, 2, 1], [2, 3, 1]).statistic)
    assert regrets(rank_records(simulate(FIVE, truth=False))[1]) == ()

"""Friedman's and Nemenyi's tests against the libraries."""

import numpy as np
import pytest
import scikit_posthocs
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare, rankdata

from pubench.leaderboard.significance import _complete, post_hoc
from tests.leaderboard.simulation import FIVE, Simulate, method_names, rank_records, results_frame


def test_friedman_and_nemenyi_are_those_of_the_libraries(simulate: Simulate) -> None:
    records = simulate(FIVE, [f"set{i}" for i in range(9)], thetas=(0.3, 0.5), noise=1.5)
    board_runs, tasks = rank_records(records)
    found = post_hoc(tasks, range(5))
    assert found is not None
    table = results_frame(records).pivot_table(index="dataset", columns="method", values="aul")
    statistic, p_value = friedmanchisquare(*table.to_numpy().T)
    assert (found.statistic, found.p_value) == pytest.approx((statistic, p_value))
    expected = scikit_posthocs.posthoc_nemenyi_friedman(table.to_numpy())
    order = [method_names(board_runs)[i] for i in found.entries]
    place = [list(table.columns).index(name) for name in order]
    np.testing.assert_allclose(found.p_values, expected.to_numpy()[np.ix_(place, place)])
    ranks = rankdata(-table.to_numpy(), axis=1).mean(axis=0)
    np.testing.assert_allclose(found.mean_ranks, ranks[place])
    assert found.critical_difference == pytest.approx(
        2.728 * np.sqrt(5 * 6 / (6 * 9)), rel=1e-3
    )  # Demšar, table 5
    apart = np.abs(found.mean_ranks[:, None] - found.mean_ranks) > found.critical_difference
    np.testing.assert_array_equal(found.p_values < 0.05, apart)
    for first, last in found.groups:
        assert not apart[first, last]


def test_incomplete_blocks_are_left_out_and_reported(simulate: Simulate) -> None:
    records = simulate(FIVE, [f"set{i}" for i in range(6)])
    extra = simulate({"a": 1.0}, ["zeta"]) + simulate({"new": 1.0}, ["set0"])
    board_runs, tasks = rank_records(records + extra)
    found = post_hoc(tasks, range(6))
    assert found is not None
    assert [board_runs.datasets[i].name for i in found.left_out_datasets] == ["zeta"]
    assert [method_names(board_runs)[i] for i in found.left_out_entries] == ["new"]
    assert post_hoc(rank_records(simulate(FIVE, ["alpha", "beta"]))[1], range(5)) is None


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=8))
def test_the_remaining_blocks_are_complete(known: list[list[bool]]) -> None:
    table = np.array(known)
    rows, columns = _complete(table)
    assert table[np.ix_(rows, columns)].all()
    if table.all():
        assert (len(rows), len(columns)) == table.shape

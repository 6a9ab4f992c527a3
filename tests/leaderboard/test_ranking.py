"""Ranks and intervals against independent computations on the same records."""

import numpy as np
import pytest

from pubench.leaderboard.board import make_board
from pubench.leaderboard.ranking import standings
from tests.leaderboard.simulation import FIVE, Simulate, method_names, rank_records, results_frame


def test_mean_ranks_are_those_of_pandas(simulate: Simulate) -> None:
    records = simulate(FIVE, thetas=(0.3, 0.5), seeds=(1, 2), noise=2.0)
    board_runs, tasks = rank_records(records)
    means = results_frame(records).groupby(["dataset", "theta", "method"]).aul.mean()
    expected = means.groupby(["dataset", "theta"]).rank(ascending=False).groupby("method").mean()
    found = {board_runs.entries[one.entry].method: one for one in standings(board_runs, tasks)}
    assert {name: one.rank for name, one in found.items()} == pytest.approx(expected.to_dict())
    assert {name: one.aul_pu for name, one in found.items()} == pytest.approx(
        means.groupby("method").mean().to_dict()
    )
    wins = (5 - expected) / 4
    assert {name: one.win_rate for name, one in found.items()} == pytest.approx(wins.to_dict())
    assert [one.rank for one in standings(board_runs, tasks)] == sorted(expected)


def test_a_data_set_counts_once_however_many_tasks_it_has(simulate: Simulate) -> None:
    many = simulate({"a": 2.0, "b": 0.0}, ["alpha"], thetas=(0.1, 0.3, 0.5))
    one = simulate({"a": 0.0, "b": 2.0}, ["beta"])
    board_runs, tasks = rank_records(many + one)
    assert [standing.rank for standing in standings(board_runs, tasks)] == [1.5, 1.5]


def test_a_planted_winner_is_first_and_its_interval_excludes_the_second(simulate: Simulate) -> None:
    datasets = [f"set{i}" for i in range(8)]
    records = simulate({"planted": 1.6, "b": 0.8, "c": 0.8, "d": 0.8}, datasets, noise=0.5)
    board = make_board(records)
    first, second = board.standings[:2]
    assert board.ranked.entries[first.entry].method == "planted"
    assert first.high is not None
    assert second.rank is not None
    assert first.high < second.rank
    assert first.low is not None
    assert first.low <= (first.rank or 0) <= first.high
    planted = [pair for pair in board.pairs if first.entry in (pair.a, pair.b)]
    assert all(pair.p_holm < 1e-3 for pair in planted)
    others = [pair for pair in board.pairs if first.entry not in (pair.a, pair.b)]
    assert all(pair.p_holm > 1e-2 for pair in others)


def test_contenders_of_equal_quality_have_intervals_that_overlap(simulate: Simulate) -> None:
    records = simulate({"a": 1.0, "b": 1.0, "c": 1.0}, [f"set{i}" for i in range(12)], noise=2.0)
    board_runs, tasks = rank_records(records)
    bounds = [(one.low or 0.0, one.high or 0.0) for one in standings(board_runs, tasks)]
    assert max(low for low, _ in bounds) < min(high for _, high in bounds)


def test_the_interval_covers_the_expected_rank(simulate: Simulate) -> None:
    """Each of two equally good methods has an expected mean rank of 1.5 on any data sets."""
    held = 0
    for trial in range(40):
        datasets = [f"{trial}-{i}" for i in range(10)]
        board_runs, tasks = rank_records(
            simulate({"a": 1.0, "b": 1.0}, datasets, labelled=5, folds=2, noise=2.0)
        )
        one = standings(board_runs, tasks)[0]
        held += (one.low or 9.0) <= 1.5 <= (one.high or 0.0)
    assert held >= 33


def test_with_one_fold_the_interval_is_the_bootstrap_over_data_sets(simulate: Simulate) -> None:
    datasets = [f"set{i}" for i in range(30)]
    board_runs, tasks = rank_records(simulate({"a": 1.0, "b": 1.0, "c": 0.9}, datasets, folds=1, noise=2.0))
    ranks = np.stack([task.ranks for task in tasks])
    drawn = np.random.default_rng(0).integers(0, 30, size=(20_000, 30))
    low, high = np.quantile(ranks[drawn].mean(axis=1), [0.025, 0.975], axis=0)
    for one in standings(board_runs, tasks):
        assert (one.low, one.high) == pytest.approx((low[one.entry], high[one.entry]), abs=0.07)
    assert (high - low).min() > 0.2


def test_the_order_of_records_changes_nothing(simulate: Simulate) -> None:
    records = simulate(FIVE, noise=1.0)
    assert standings(*rank_records(records)) == standings(*rank_records(records[::-1]))


def test_a_contender_that_fails_on_all_folds_gets_the_worst_rank_and_is_marked(simulate: Simulate) -> None:
    records = simulate(FIVE, ["alpha", "beta"], failing=lambda m, d, _: m in ("a", "b") and d == "beta")
    board_runs, tasks = rank_records(records)
    beta = tasks[1]
    found = dict(zip([method_names(board_runs)[i] for i in beta.results.entries], beta.ranks, strict=True))
    assert found == {"c": 1, "d": 2, "e": 3, "a": 5, "b": 5}
    standing = {method_names(board_runs)[one.entry]: one for one in standings(board_runs, tasks)}
    assert standing["a"].rank == pytest.approx(3)
    assert standing["a"].failures == pytest.approx(0.5)
    assert standing["a"].imputed
    assert not standing["c"].imputed
    assert standing["a"].runs == 6


def test_a_task_on_which_all_fail_ranks_all_last(simulate: Simulate) -> None:
    board_runs, tasks = rank_records(simulate(FIVE, ["alpha"], failing=lambda *_: True))
    for one in standings(board_runs, tasks):
        assert (one.rank, one.failures, one.aul_pu, one.fit_seconds) == (5, 1, None, None)


def test_ranks_of_few_contenders_are_stretched_to_the_field(simulate: Simulate) -> None:
    records = simulate(FIVE, ["alpha"]) + simulate({"a": 1.0, "e": -1.0}, ["beta"])
    _, tasks = rank_records(records)
    assert tasks[1].ranks.tolist() == [1, 5]
    alone = rank_records([*records, *simulate({"b": 1.0}, ["gamma"])])
    assert np.isnan(alone[1][2].ranks).all()
    b = next(one for one in standings(*alone) if method_names(alone[0])[one.entry] == "b")
    assert b.tasks == 2
    assert b.rank == 2


def test_one_fold_of_one_data_set_gives_no_interval(simulate: Simulate) -> None:
    board_runs, tasks = rank_records(simulate(FIVE, ["alpha"], folds=1))
    assert {one.low for one in standings(board_runs, tasks)} == {None}
    board_runs, tasks = rank_records(simulate(FIVE, ["alpha"], folds=4))
    assert None not in {one.low for one in standings(board_runs, tasks)}

"""Paired comparisons against independent computations on the same records."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import rankdata, ttest_rel, wilcoxon

from pubench.leaderboard.pairs import compare_pairs, placement_tests
from pubench.leaderboard.runs import collect_runs
from pubench.metrics.comparison import compare_aul
from pubench.record.record import Record
from tests.leaderboard.simulation import FIVE, Simulate, rank_records, results_frame


def split_of(record: Record) -> tuple[str, int, int]:
    return record.spec.dataset, record.spec.seed, record.spec.fold


def test_a_pair_on_one_fold_is_the_paired_t_test_with_one_additional_difference(simulate: Simulate) -> None:
    records = simulate({"a": 1.0, "b": 0.9}, ["alpha"], folds=1, noise=1.0)
    board_runs, tasks = rank_records(records)
    a, b = (np.array(one.placements) for one in sorted(records, key=lambda one: one.spec.method))
    (pair,) = compare_pairs(board_runs, tasks, [0, 1])
    assert pair.difference == pytest.approx((a - b).mean())
    assert pair.test == "placements"
    m = len(a)
    stderr = np.append(a - b, 0).std(ddof=1) / np.sqrt(m)
    tests = placement_tests(board_runs, {0: 0, 1: 1})
    assert tests.stderr[0, 1] == pytest.approx(stderr)
    assert pair.p_value == pytest.approx(ttest_rel(a, b).pvalue, rel=0.2)


def test_standard_errors_of_folds_add_up_and_those_of_seeds_are_averaged(simulate: Simulate) -> None:
    records = simulate({"a": 1.0, "b": 0.9}, ["alpha", "beta"], folds=3, seeds=(1, 2), noise=1.0)
    placements = {(*split_of(one), one.spec.method): np.array(one.placements) for one in records}

    def variance(dataset: str, seed: int, fold: int) -> float:
        difference = placements[dataset, seed, fold, "a"] - placements[dataset, seed, fold, "b"]
        return float(np.append(difference, 0).var(ddof=1) / len(difference))

    def of_dataset(dataset: str) -> float:
        return float(
            np.mean([np.sqrt(sum(variance(dataset, seed, fold) for fold in range(3))) / 3 for seed in (1, 2)])
        )

    expected = np.hypot(of_dataset("alpha"), of_dataset("beta")) / 2
    tests = placement_tests(collect_runs(records), {0: 0, 1: 1})
    assert tests.stderr[0, 1] == pytest.approx(expected)


def test_a_pair_agrees_with_compare_aul_on_real_scores(simulate: Simulate) -> None:
    generator = np.random.default_rng(3)
    s = np.arange(20_000) < 60
    scores = {"a": generator.normal(1.5 * s), "b": generator.normal(1.2 * s)}
    records = [
        replace(
            one,
            placements=tuple(((rankdata(scores[one.spec.method])[s] - 0.5) / len(s)).tolist()),
            metrics={"aul_pu": 0.5},
        )
        for one in simulate({"a": 1.0, "b": 1.0}, ["alpha"], folds=1)
    ]
    board_runs, tasks = rank_records(records)
    (pair,) = compare_pairs(board_runs, tasks, [0, 1])
    expected = compare_aul(s, scores["a"], scores["b"])
    assert pair.difference == pytest.approx(expected.difference, abs=1e-9)
    assert pair.p_value == pytest.approx(expected.p_value, rel=0.03)


def test_false_alarms_between_equal_methods_are_rare(simulate: Simulate) -> None:
    alarms = 0
    for trial in range(60):
        datasets = [f"{trial}-{i}" for i in range(3)]
        board_runs, tasks = rank_records(
            simulate({"a": 1.0, "b": 1.0}, datasets, thetas=(0.3, 0.5), noise=1.0)
        )
        alarms += compare_pairs(board_runs, tasks, [0, 1])[0].p_value < 0.05
    assert alarms <= 7


def test_without_placements_tasks_are_compared_by_wilcoxon(simulate: Simulate) -> None:
    records = [
        replace(one, placements=())
        for one in simulate({"a": 1.1, "b": 1.0}, [f"set{i}" for i in range(9)], noise=1.0)
    ]
    board_runs, tasks = rank_records(records)
    (pair,) = compare_pairs(board_runs, tasks, [0, 1])
    table = results_frame(records).pivot_table(index="dataset", columns="method", values="aul")
    assert pair.test == "wilcoxon"
    assert pair.p_value == pytest.approx(wilcoxon(table["a"], table["b"]).pvalue)
    assert pair.wins + pair.losses + pair.ties == 9
    few = [one for one in records if one.spec.dataset < "set4"]
    assert compare_pairs(*rank_records(few), [0, 1])[0].test == "none"


def test_pairs_are_corrected_together(simulate: Simulate) -> None:
    board_runs, tasks = rank_records(simulate(FIVE, noise=1.0))
    pairs = compare_pairs(board_runs, tasks, range(5))
    assert len(pairs) == 10
    worst = max(pairs, key=lambda pair: pair.p_value)
    best = min(pairs, key=lambda pair: pair.p_value)
    assert best.p_holm == pytest.approx(10 * best.p_value)
    assert worst.p_holm >= worst.p_value

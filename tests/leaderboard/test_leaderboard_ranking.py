"""Ranks, intervals and tests against independent computations on the same records."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare, kendalltau, rankdata, ttest_rel, wilcoxon

from pubench.errors import DataError
from pubench.leaderboard.board import make_board
from pubench.leaderboard.evidence import Evidence, gather
from pubench.leaderboard.pairs import compare_pairs, placement_tests
from pubench.leaderboard.posthoc import _complete, post_hoc
from pubench.leaderboard.ranking import rank_tasks, standings
from pubench.leaderboard.regret import regrets
from pubench.leaderboard.results import CHANCE, filled, results_of
from pubench.metrics.comparison import compare_aul
from pubench.records.record import Record
from pubench.types import Json, Status

Simulate = Callable[..., list[Record]]
FIVE = {"a": 1.2, "b": 1.0, "c": 0.9, "d": 0.3, "e": 0.0}


def ranked(records: list[Record]) -> tuple[Evidence, Any]:
    evidence = gather(records)
    return evidence, rank_tasks(evidence, results_of(evidence))


def frame(records: list[Record]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "method": one.spec.method,
            "dataset": one.spec.dataset,
            "theta": one.spec.view["theta_o"],
            "aul": one.metrics.get("aul_pu", np.nan),
        }
        for one in records
    )


def names(evidence: Evidence) -> list[str]:
    return [entry.method for entry in evidence.entries]


def test_mean_ranks_are_those_of_pandas(simulate: Simulate) -> None:
    records = simulate(FIVE, thetas=(0.3, 0.5), seeds=(1, 2), noise=2.0)
    evidence, tasks = ranked(records)
    means = frame(records).groupby(["dataset", "theta", "method"]).aul.mean()
    expected = means.groupby(["dataset", "theta"]).rank(ascending=False).groupby("method").mean()
    found = {evidence.entries[one.entry].method: one for one in standings(evidence, tasks)}
    assert {name: one.rank for name, one in found.items()} == pytest.approx(expected.to_dict())
    assert {name: one.aul_pu for name, one in found.items()} == pytest.approx(
        means.groupby("method").mean().to_dict()
    )
    wins = (5 - expected) / 4
    assert {name: one.win_rate for name, one in found.items()} == pytest.approx(wins.to_dict())
    assert [one.rank for one in standings(evidence, tasks)] == sorted(expected)


def test_a_data_set_counts_once_however_many_tasks_it_has(simulate: Simulate) -> None:
    many = simulate({"a": 2.0, "b": 0.0}, ["alpha"], thetas=(0.1, 0.3, 0.5))
    one = simulate({"a": 0.0, "b": 2.0}, ["beta"])
    evidence, tasks = ranked(many + one)
    assert [standing.rank for standing in standings(evidence, tasks)] == [1.5, 1.5]


def test_a_planted_winner_is_first_and_its_interval_excludes_the_second(simulate: Simulate) -> None:
    datasets = [f"set{i}" for i in range(8)]
    records = simulate({"planted": 1.6, "b": 0.8, "c": 0.8, "d": 0.8}, datasets, noise=0.5)
    board = make_board(records)
    first, second = board.standings[:2]
    assert board.evidence.entries[first.entry].method == "planted"
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
    evidence, tasks = ranked(records)
    bounds = [(one.low or 0.0, one.high or 0.0) for one in standings(evidence, tasks)]
    assert max(low for low, _ in bounds) < min(high for _, high in bounds)


def test_the_interval_covers_the_expected_rank(simulate: Simulate) -> None:
    """Of two equally good methods each has an expected mean rank of 1.5, on whatever data sets."""
    held = 0
    for trial in range(40):
        datasets = [f"{trial}-{i}" for i in range(10)]
        evidence, tasks = ranked(simulate({"a": 1.0, "b": 1.0}, datasets, labelled=5, folds=2, noise=2.0))
        one = standings(evidence, tasks)[0]
        held += (one.low or 9.0) <= 1.5 <= (one.high or 0.0)
    assert held >= 33


def test_with_one_fold_the_interval_is_the_bootstrap_over_data_sets(simulate: Simulate) -> None:
    datasets = [f"set{i}" for i in range(30)]
    evidence, tasks = ranked(simulate({"a": 1.0, "b": 1.0, "c": 0.9}, datasets, folds=1, noise=2.0))
    ranks = np.stack([task.ranks for task in tasks])
    drawn = np.random.default_rng(0).integers(0, 30, size=(20_000, 30))
    low, high = np.quantile(ranks[drawn].mean(axis=1), [0.025, 0.975], axis=0)
    for one in standings(evidence, tasks):
        assert (one.low, one.high) == pytest.approx((low[one.entry], high[one.entry]), abs=0.07)
    assert (high - low).min() > 0.2


def test_the_order_of_records_changes_nothing(simulate: Simulate) -> None:
    records = simulate(FIVE, noise=1.0)
    assert standings(*ranked(records)) == standings(*ranked(records[::-1]))


def test_who_fails_on_all_folds_gets_the_worst_rank_and_is_marked(simulate: Simulate) -> None:
    records = simulate(FIVE, ["alpha", "beta"], failing=lambda m, d, _: m in ("a", "b") and d == "beta")
    evidence, tasks = ranked(records)
    beta = tasks[1]
    found = dict(zip([names(evidence)[i] for i in beta.results.entries], beta.ranks, strict=True))
    assert found == {"c": 1, "d": 2, "e": 3, "a": 5, "b": 5}
    standing = {names(evidence)[one.entry]: one for one in standings(evidence, tasks)}
    assert standing["a"].rank == pytest.approx(3)
    assert standing["a"].failures == pytest.approx(0.5)
    assert standing["a"].imputed
    assert not standing["c"].imputed
    assert standing["a"].runs == 6


def test_a_failed_fold_counts_as_chance_or_as_the_lowest(simulate: Simulate) -> None:
    records = simulate({"a": 3.0, "b": 1.0}, ["alpha"], failing=lambda m, _, fold: m == "a" and fold == 0)
    evidence, tasks = ranked(records)
    values = [one.metrics["aul_pu"] for one in records if one.spec.method == "a" and one.status is Status.OK]
    best = next(one for one in standings(evidence, tasks) if names(evidence)[one.entry] == "a")
    assert best.aul_pu == pytest.approx((sum(values) + CHANCE) / 3)
    low = filled(np.array([[0.2, 0.7], [np.nan, 0.6]]), np.array([[False, False], [True, False]]))
    assert low[1, 0] == 0.2


def test_a_task_that_everybody_failed_leaves_everybody_last(simulate: Simulate) -> None:
    evidence, tasks = ranked(simulate(FIVE, ["alpha"], failing=lambda *_: True))
    for one in standings(evidence, tasks):
        assert (one.rank, one.failures, one.aul_pu, one.fit_seconds) == (5, 1, None, None)


def test_ranks_of_few_contenders_are_stretched_to_the_field(simulate: Simulate) -> None:
    records = simulate(FIVE, ["alpha"]) + simulate({"a": 1.0, "e": -1.0}, ["beta"])
    _, tasks = ranked(records)
    assert tasks[1].ranks.tolist() == [1, 5]
    alone = ranked([*records, *simulate({"b": 1.0}, ["gamma"])])
    assert np.isnan(alone[1][2].ranks).all()
    b = next(one for one in standings(*alone) if names(alone[0])[one.entry] == "b")
    assert b.tasks == 2
    assert b.rank == 2


def test_one_fold_of_one_data_set_gives_no_interval(simulate: Simulate) -> None:
    evidence, tasks = ranked(simulate(FIVE, ["alpha"], folds=1))
    assert {one.low for one in standings(evidence, tasks)} == {None}
    evidence, tasks = ranked(simulate(FIVE, ["alpha"], folds=4))
    assert None not in {one.low for one in standings(evidence, tasks)}


def test_friedman_and_nemenyi_are_those_of_the_libraries(simulate: Simulate) -> None:
    records = simulate(FIVE, [f"set{i}" for i in range(9)], thetas=(0.3, 0.5), noise=1.5)
    evidence, tasks = ranked(records)
    found = post_hoc(tasks, range(5))
    assert found is not None
    table = frame(records).pivot_table(index="dataset", columns="method", values="aul")
    statistic, p_value = friedmanchisquare(*table.to_numpy().T)
    assert (found.statistic, found.p_value) == pytest.approx((statistic, p_value))
    expected = scikit_posthocs.posthoc_nemenyi_friedman(table.to_numpy())
    order = [names(evidence)[i] for i in found.entries]
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


def test_blocks_with_holes_are_left_out_and_named(simulate: Simulate) -> None:
    records = simulate(FIVE, [f"set{i}" for i in range(6)])
    extra = simulate({"a": 1.0}, ["zeta"]) + simulate({"new": 1.0}, ["set0"])
    evidence, tasks = ranked(records + extra)
    found = post_hoc(tasks, range(6))
    assert found is not None
    assert [evidence.datasets[i].name for i in found.left_out_datasets] == ["zeta"]
    assert [names(evidence)[i] for i in found.left_out_entries] == ["new"]
    assert post_hoc(ranked(simulate(FIVE, ["alpha", "beta"]))[1], range(5)) is None


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=8))
def test_what_is_kept_has_no_hole(known: list[list[bool]]) -> None:
    table = np.array(known)
    rows, columns = _complete(table)
    assert table[np.ix_(rows, columns)].all()
    if table.all():
        assert (len(rows), len(columns)) == table.shape


def test_a_pair_on_one_fold_is_the_paired_t_test_with_one_difference_more(simulate: Simulate) -> None:
    records = simulate({"a": 1.0, "b": 0.9}, ["alpha"], folds=1, noise=1.0)
    evidence, tasks = ranked(records)
    a, b = (np.array(one.placements) for one in sorted(records, key=lambda one: one.spec.method))
    (pair,) = compare_pairs(evidence, tasks, [0, 1])
    assert pair.difference == pytest.approx((a - b).mean())
    assert pair.test == "placements"
    m = len(a)
    stderr = np.append(a - b, 0).std(ddof=1) / np.sqrt(m)
    tests = placement_tests(evidence, {0: 0, 1: 1})
    assert tests.stderr[0, 1] == pytest.approx(stderr)
    assert pair.p_value == pytest.approx(ttest_rel(a, b).pvalue, rel=0.2)


def test_standard_errors_of_folds_add_up_and_those_of_seeds_are_averaged(simulate: Simulate) -> None:
    records = simulate({"a": 1.0, "b": 0.9}, ["alpha", "beta"], folds=3, seeds=(1, 2), noise=1.0)
    placements = {(*_split(one), one.spec.method): np.array(one.placements) for one in records}

    def variance(dataset: str, seed: int, fold: int) -> float:
        difference = placements[dataset, seed, fold, "a"] - placements[dataset, seed, fold, "b"]
        return float(np.append(difference, 0).var(ddof=1) / len(difference))

    def of_dataset(dataset: str) -> float:
        return float(
            np.mean([np.sqrt(sum(variance(dataset, seed, fold) for fold in range(3))) / 3 for seed in (1, 2)])
        )

    expected = np.hypot(of_dataset("alpha"), of_dataset("beta")) / 2
    tests = placement_tests(gather(records), {0: 0, 1: 1})
    assert tests.stderr[0, 1] == pytest.approx(expected)


def _split(record: Record) -> tuple[str, int, int]:
    return record.spec.dataset, record.spec.seed, record.spec.fold


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
    evidence, tasks = ranked(records)
    (pair,) = compare_pairs(evidence, tasks, [0, 1])
    expected = compare_aul(s, scores["a"], scores["b"])
    assert pair.difference == pytest.approx(expected.difference, abs=1e-9)
    assert pair.p_value == pytest.approx(expected.p_value, rel=0.03)


def test_false_alarms_between_equal_methods_are_rare(simulate: Simulate) -> None:
    alarms = 0
    for trial in range(60):
        datasets = [f"{trial}-{i}" for i in range(3)]
        evidence, tasks = ranked(simulate({"a": 1.0, "b": 1.0}, datasets, thetas=(0.3, 0.5), noise=1.0))
        alarms += compare_pairs(evidence, tasks, [0, 1])[0].p_value < 0.05
    assert alarms <= 7


def test_without_placements_tasks_are_compared_by_wilcoxon(simulate: Simulate) -> None:
    records = [
        replace(one, placements=())
        for one in simulate({"a": 1.1, "b": 1.0}, [f"set{i}" for i in range(9)], noise=1.0)
    ]
    evidence, tasks = ranked(records)
    (pair,) = compare_pairs(evidence, tasks, [0, 1])
    table = frame(records).pivot_table(index="dataset", columns="method", values="aul")
    assert pair.test == "wilcoxon"
    assert pair.p_value == pytest.approx(wilcoxon(table["a"], table["b"]).pvalue)
    assert pair.wins + pair.losses + pair.ties == 9
    few = [one for one in records if one.spec.dataset < "set4"]
    assert compare_pairs(*ranked(few), [0, 1])[0].test == "none"


def test_pairs_are_corrected_together(simulate: Simulate) -> None:
    evidence, tasks = ranked(simulate(FIVE, noise=1.0))
    pairs = compare_pairs(evidence, tasks, range(5))
    assert len(pairs) == 10
    worst = max(pairs, key=lambda pair: pair.p_value)
    best = min(pairs, key=lambda pair: pair.p_value)
    assert best.p_holm == pytest.approx(10 * best.p_value)
    assert worst.p_holm >= worst.p_value


def test_regret_is_what_choosing_by_aul_costs(simulate: Simulate) -> None:
    auc = {"a": 0.8, "b": 0.9, "c": 0.7}
    records = [
        replace(one, metrics={**one.metrics, "auc": auc[one.spec.method]})
        for one in simulate({"a": 1.5, "b": 1.0, "c": 0.0}, ["alpha"])
    ]
    _, tasks = ranked(records)
    (found,) = regrets(tasks)
    assert found.lost == pytest.approx(0.1)
    assert found.tau == pytest.approx(kendalltau([3, 2, 1], [2, 3, 1]).statistic)
    assert regrets(ranked(simulate(FIVE, truth=False))[1]) == ()


def test_the_same_name_with_other_rows_is_another_data_set(simulate: Simulate) -> None:
    first = simulate({"a": 1.0, "b": 0.5}, ["alpha"])
    other = [
        replace(one, spec=replace(one.spec, seed=2), data=replace(one.data, hash="f" * 32))
        for one in first
        if one.data is not None
    ]
    early = replace(first[0], spec=replace(first[0].spec, seed=3), data=None, status=Status.FAILED, reason="It broke.",
                    metrics={}, placements=())  # fmt: skip
    evidence = gather([*first, *other, early])
    assert len(evidence.datasets) == 2
    assert len({one.label for one in evidence.datasets}) == 2
    assert all("alpha" in one.label for one in evidence.datasets)
    assert len(evidence.runs) == 13


def test_configurations_are_told_apart_by_what_differs(simulate: Simulate) -> None:
    records = simulate({"a": 1.0}, ["alpha"]) + simulate({"a": 1.0}, ["alpha"], tuned=["a"])
    others: list[dict[str, Json]] = [{"name": "lightgbm", "trees": 100}, {"name": "logistic"}]
    more = [
        replace(one, spec=replace(one.spec, configuration={**one.spec.configuration, "learner": learner}))
        for one in records[:3]
        for learner in others
    ]
    labels = [entry.label for entry in gather(records + more).entries]
    assert labels == [
        "a + lightgbm (trees 100)",
        "a + lightgbm (trees 60)",
        "a + logistic",
        "tuned a + lightgbm",
    ]


def told(records: Sequence[Record], prior: float) -> list[Record]:
    """The same runs of a method that is told a prior."""
    method: dict[str, Json] = {"name": "a", "prior_from": "given", "prior": prior}
    return [
        replace(one, spec=replace(one.spec, configuration={**one.spec.configuration, "method": method}))
        for one in records
    ]


def test_what_a_method_is_told_about_the_data_makes_no_other_method(simulate: Simulate) -> None:
    first, second = simulate({"a": 1.0}, ["alpha"]), simulate({"a": 1.0}, ["beta"])
    (entry,) = gather(told(first, 0.1) + told(second, 0.2)).entries
    assert entry.label == "a + lightgbm"
    assert entry.configuration["method"] == {"name": "a", "prior_from": "given"}
    both = gather(told(first, 0.1) + told(first, 0.2)).entries
    assert [one.label for one in both] == ["a + lightgbm (prior 0.1)", "a + lightgbm (prior 0.2)"]


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y"]), st.integers(0, 2), st.booleans()),
        min_size=1,
        max_size=30,
        unique_by=lambda run: run[:3],
    )
)
def test_any_holes_and_failures_give_a_board(
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


def test_a_task_that_would_fill_memory_is_refused(
    simulate: Simulate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pubench.leaderboard.results._MOST_CELLS", 10)
    with pytest.raises(DataError, match="leave records out"):
        results_of(gather(simulate(FIVE)))

"""The statistics of the report on peers."""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import ttest_rel

from peer_protocol import FAILED, OK, Cell, Result
from peer_report import (
    ahead,
    behind,
    best_peer,
    gain_lines,
    gains,
    mean_interval,
    paired_gain,
    ranks,
    report,
    systems_of,
    tasks,
    value_of,
)

COUNTS = {"test": 100, "test_positives": 10}


def result(
    table: str, system: str, auc: float | None, *, fold: int = 0, seed: int = 0, spread: float = 0.0
) -> Result:
    """A result with this AUC, of ten placements, or a failure."""
    cell = Cell(table, seed, fold, 30, system)
    if auc is None:
        return Result(cell, FAILED, "it broke", counts=COUNTS)
    steps = np.linspace(-spread, spread, 10)
    return Result(
        cell,
        OK,
        seconds=2.0,
        metrics={"auc": auc, "ap": auc / 2, "aul": auc},
        placements=tuple((auc + steps).tolist()),
        counts=COUNTS,
    )


def test_systems_stand_with_pubench_first() -> None:
    some = [result("a", system, 0.5) for system in ("flaml", "default", "autogluon", "tune")]
    assert systems_of(some) == ["tune", "default", "autogluon", "flaml"]


def test_a_value_is_the_mean_over_folds() -> None:
    (task,) = tasks([result("a", "tune", auc, fold=fold) for fold, auc in enumerate((0.9, 0.7, 0.8))])
    assert task.value("tune", "auc") == pytest.approx(0.8)


def test_a_failure_counts_as_chance() -> None:
    failure = result("a", "tune", None)
    assert [value_of(failure, metric) for metric in ("auc", "aul", "ap")] == [0.5, 0.5, 0.1]
    (task,) = tasks([failure, result("a", "tune", 0.9, fold=1)])
    assert task.value("tune", "auc") == pytest.approx(0.7)
    assert task.failures("tune") == 1
    assert "0.7000*" in report([failure, result("a", "tune", 0.9, fold=1)])


def test_a_task_is_complete_when_every_system_has_the_same_folds() -> None:
    some = [result("a", system, 0.9, fold=fold) for system in ("tune", "flaml") for fold in range(2)]
    assert tasks(some)[0].is_complete(["tune", "flaml"])
    assert not tasks(some)[0].is_complete(["tune", "flaml", "default"])
    assert not tasks(some[:-1])[0].is_complete(["tune", "flaml"])
    assert "1 are not complete" in report([*some, result("b", "tune", 0.9)])


def test_ranks_share_ties() -> None:
    some = [
        *(result("a", system, auc) for system, auc in (("tune", 0.9), ("x", 0.8), ("y", 0.7))),
        *(result("b", system, auc) for system, auc in (("tune", 0.8), ("x", 0.8), ("y", None))),
    ]
    assert ranks(tasks(some), ["tune", "x", "y"], "auc").tolist() == [[1, 2, 3], [1.5, 1.5, 3]]


def test_a_gain_of_nothing_is_half_ahead() -> None:
    some = [result(table, "tune", 0.8) for table in "abc"]
    some += [result(table, "x", auc) for table, auc in zip("abc", (0.7, 0.8, 0.9), strict=True)]
    difference = gains(tasks(some), "tune", "x", "auc")
    assert difference == pytest.approx([0.1, 0, -0.1])
    assert ahead(difference).tolist() == [1, 0.5, 0]


def test_the_bootstrap_draws_tables_with_all_their_tasks() -> None:
    generator = np.random.default_rng(1)
    values = generator.normal(size=40)
    alone = mean_interval(values, [f"t{index}" for index in range(40)])
    error = values.std() / np.sqrt(40)
    assert alone.mean == pytest.approx(values.mean())
    assert (alone.high - alone.low) == pytest.approx(2 * 1.96 * error, rel=0.1)
    twice = mean_interval(np.repeat(values, 2), [f"t{index // 2}" for index in range(80)])
    assert (twice.low, twice.high) == pytest.approx((alone.low, alone.high))
    single = mean_interval(values, ["t"] * 40)
    assert single.low == pytest.approx(single.high)


def drawn(system: str, seeds: Sequence[int], shift: float) -> dict[tuple[int, int], Result]:
    found = {}
    for seed in seeds:
        generator = np.random.default_rng(5)
        values = np.clip(generator.uniform(0.5, 0.9, 30) + shift * generator.uniform(0, 2, 30), 0, 1)
        found[seed, 0] = Result(
            Cell("a", seed, 0, 30, system), OK, metrics={"auc": values.mean()}, placements=tuple(values)
        )
    return found


def test_the_paired_interval_of_one_fold_is_that_of_a_t_test() -> None:
    first, second = drawn("x", [0], 0.05), drawn("tune", [0], 0)
    gain = paired_gain(first, second)
    expected = ttest_rel(first[0, 0].placements, second[0, 0].placements).confidence_interval()
    assert (gain.low, gain.high) == pytest.approx((expected.low, expected.high))
    again = paired_gain(drawn("x", [0, 1], 0.05), drawn("tune", [0, 1], 0))
    assert (again.low, again.high) == pytest.approx((gain.low, gain.high))


def test_folds_make_the_paired_interval_narrower() -> None:
    def folds(system: str, number: int, spread: float) -> dict[tuple[int, int], Result]:
        return {(0, fold): result("a", system, 0.8, fold=fold, spread=spread) for fold in range(number)}

    one, four = (paired_gain(folds("x", number, 0.1), folds("tune", number, 0)) for number in (1, 4))
    assert (four.high - four.low) == pytest.approx((one.high - one.low) / 2, rel=0.15)


def test_a_failure_is_paired_as_chance() -> None:
    gain = paired_gain({(0, 0): result("a", "x", 0.9)}, {(0, 0): result("a", "tune", None)})
    assert gain.mean == pytest.approx(0.4)


def test_tasks_behind_the_best_peer() -> None:
    some = [
        *(result("clear", system, auc) for system, auc in (("tune", 0.8), ("x", 0.85), ("y", 0.82))),
        *(result("near", system, auc) for system, auc in (("tune", 0.8), ("x", 0.804), ("y", 0.7))),
        *(result("before", system, auc) for system, auc in (("tune", 0.9), ("x", 0.8), ("y", 0.7))),
        *(
            result("noisy", system, auc, spread=0.1 * (system == "y"))
            for system, auc in (("tune", 0.8), ("x", 0.7))
        ),
        result("noisy", "y", 0.81, spread=0.15),
    ]
    found = tasks(some)
    assert [best_peer(task, ["x", "y"]) for task in found] == ["x", "x", "x", "y"]
    lags = behind(found, ["x", "y"])
    assert [(task.table, peer) for task, peer, _ in lags] == [("clear", "x"), ("noisy", "y")]
    assert [lag.low > 0.005 for _, _, lag in lags] == [True, False]
    text = report(some)
    assert (
        "tune more than 0.005 in AUC behind the best peer: 2 of 4 tasks, 1 beyond the paired interval" in text
    )


def test_the_largest_gains_are_left_out_once() -> None:
    difference = np.array([0.3, 0.2, 0.1, 0.01, -0.01, 0.0])
    whole, rest = gain_lines(difference, list("abcdef"))
    assert "mean +0.1000" in whole
    assert "median +0.0550" in whole
    assert "mean +0.0000" in rest
    assert len(gain_lines(difference[:3], list("abc"))) == 1


def test_the_report_names_systems_failures_and_gains() -> None:
    some = [
        result(table, system, auc, fold=fold)
        for table in "abcde"
        for fold in range(3)
        for system, auc in (("tune", 0.9), ("default", 0.85), ("flaml", None if table == "a" else 0.95))
    ]
    text = report(some, "ap")
    for expected in (
        "45 results: 5 tasks, 5 tables, 3 systems",
        "AP by task",
        "tune over default: mean +0.0250 [+0.0250, +0.0250], median +0.0250, 5 tasks",
        "without the 3 largest gains",
        "behind the best peer: 4 of 5 tasks, 4 beyond",
        "failed: it broke",
        "3 of 15",
    ):
        assert expected in text


def test_a_report_on_nothing() -> None:
    assert "0 results" in report([])

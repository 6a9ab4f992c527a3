"""How the time of a run is divided."""

import time
from typing import Any

import numpy as np
import pytest

from pubench.api.plugin import Kind
from pubench.api.registry import Registry
from pubench.configuration.configuration import PluginSpec, configure
from pubench.crossfit.folds import InnerFold
from pubench.tuning.budget import TimeBudget, full_seconds
from pubench.tuning.trial import Trial
from pubench.types import Status


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A clock that a test sets: `clock.now`."""

    class Clock:
        now = 1000.0

    monkeypatch.setattr(time, "monotonic", lambda: Clock.now)
    return Clock


def folds(sampled: int) -> tuple[InnerFold, ...]:
    rows = np.arange(sampled)
    return tuple(InnerFold(number, rows, rows, rows, 0.1) for number in range(3))


def judged(registry: Registry, seconds: float, last_fold: float, number: int = 1, seen: int = 3) -> Trial:
    configuration = configure({Kind.METHOD: PluginSpec("toy")}, registry)
    placements = (np.array([0.5]),) * seen
    return Trial(
        number, configuration, {}, Status.OK, placements=placements, seconds=seconds, last_fold=last_fold
    )


def test_without_a_timeout_there_is_no_deadline(registry: Registry) -> None:
    budget = TimeBudget()
    assert budget.deadline == float("inf")
    assert budget.search_deadline([judged(registry, 9.0, 3.0)], folds(100), 100) == float("inf")
    assert budget.trial_seconds(float("inf")) == float("inf")
    assert budget.model_deadline(0.2, needs=3.0, later=5.0) == float("inf")


def test_three_percent_remain_for_the_report(clock: Any) -> None:
    budget = TimeBudget(600.0, started=1000.0)
    assert budget.deadline == pytest.approx(1000 + 582)
    clock.now += 50
    assert budget.elapsed == 50


@pytest.mark.parametrize(
    ("remaining", "seconds"), [(1000.0, 100.0), (300.0, 30.0), (120.0, 30.0), (40.0, 10.0), (-3.0, 5.0)]
)
def test_a_trial_takes_a_tenth_of_the_search_or_a_larger_share_of_a_short_one(
    clock: Any, remaining: float, seconds: float
) -> None:
    assert TimeBudget(2000.0, started=1000.0).trial_seconds(clock.now + remaining) == pytest.approx(seconds)


def test_the_first_trials_tell_what_final_models_need(registry: Registry) -> None:
    budget = TimeBudget(700.0, started=1000.0)
    # 12 s for what is computed once, 6 s for three folds; the final models have three times as many rows.
    cheap = judged(registry, seconds=50.0, last_fold=1.0, number=0)  # it started the process
    trial = judged(registry, seconds=18.0, last_fold=2.0)
    # The default in full is ten drafts; each of four parts is twice 1.25 drafts, on the rows of the search and on all rows,
    # and cross-fitted on three folds.
    reserve = 3 * 12 + (3**0.8 * (10 + 2 * 4 * 1.25) + 4 * 3) * 2
    assert budget.search_deadline([cheap, trial], folds(100), 300) == pytest.approx(budget.deadline - reserve)
    stopped = judged(registry, seconds=16.0, last_fold=2.0, seen=2)
    assert budget.search_deadline([cheap, stopped], folds(100), 300) == pytest.approx(
        budget.deadline - reserve
    )
    assert budget.search_deadline([], folds(100), 300) == budget.deadline
    quick = judged(registry, seconds=0.3, last_fold=0.1)
    assert budget.search_deadline([quick], folds(100), 300) == pytest.approx(budget.deadline - 140)


def test_final_models_take_a_fifth_to_three_tenths_of_the_time(registry: Registry) -> None:
    budget = TimeBudget(100.0, started=1000.0)
    slow = judged(registry, seconds=90.0, last_fold=30.0)
    assert budget.search_deadline([slow], folds(100), 300) == pytest.approx(1000 + 97 - 30)


@pytest.mark.parametrize(("seconds", "reserve"), [(60.0, 18.0), (120.0, 30.0), (600.0, 120.0)])
def test_short_runs_leave_a_blend_half_a_minute(registry: Registry, seconds: float, reserve: float) -> None:
    budget, quick = TimeBudget(seconds, started=1000.0), judged(registry, seconds=0.3, last_fold=0.01)
    assert budget.search_deadline([quick], folds(100), 100) == pytest.approx(budget.deadline - reserve)


def test_each_final_model_leaves_time_for_the_next_and_all_for_scoring(clock: Any) -> None:
    budget = TimeBudget(100.0, started=1000.0)
    clock.now += 37  # 60 s before the deadline
    assert budget.model_deadline(0.2) == pytest.approx(clock.now + 60 * 0.9 * 0.2)
    assert budget.model_deadline(0.4, later=20.0) == pytest.approx(clock.now + 40 * 0.9 * 0.4)
    assert budget.model_deadline() == pytest.approx(clock.now + 60 * 0.9)


def test_a_final_model_gets_what_its_draft_takes_be_there_time_or_not(clock: Any) -> None:
    budget = TimeBudget(100.0, started=1000.0)
    clock.now += 90
    assert budget.model_deadline(0.4, needs=30.0, later=20.0) == pytest.approx(clock.now + 30)


def test_baselines_and_the_oracle_have_shares_of_their_own(clock: Any) -> None:
    budget = TimeBudget(1000.0, started=1000.0, baselines=0.1, oracle=0.02)
    assert budget.oracle_deadline == pytest.approx(1000 + 970)
    assert budget.deadline == pytest.approx(1000 + 950)
    assert budget.search_deadline([], folds(100), 300) == pytest.approx(1000 + 850)
    assert budget.first_deadline == pytest.approx(1000 + 550)
    clock.now += 500
    assert budget.baselines_deadline == pytest.approx(clock.now + 100)
    clock.now += 400
    assert budget.baselines_deadline == pytest.approx(budget.deadline)
    assert TimeBudget().baselines_deadline == float("inf")


def test_a_baseline_gets_half_of_the_time_or_what_its_trials_need(clock: Any) -> None:
    budget = TimeBudget(1000.0, started=1000.0)
    until = clock.now + 100
    assert budget.baseline_seconds(until, 0.0, is_last=False) == pytest.approx(50)
    assert budget.baseline_seconds(until, 25.0, is_last=False) == pytest.approx(75)
    assert budget.baseline_seconds(until, 50.0, is_last=False) == pytest.approx(100)
    assert budget.baseline_seconds(until, 0.0, is_last=True) == pytest.approx(100)
    assert budget.baseline_seconds(clock.now + 6, 0.0, is_last=False) == pytest.approx(5)
    assert budget.baseline_seconds(clock.now - 1, 0.0, is_last=True) == 0
    clock.now += 300
    assert TimeBudget(started=1000.0).baseline_seconds(float("inf"), 0.0, is_last=False) == pytest.approx(300)


def test_a_method_takes_what_its_trials_took_on_more_rows(registry: Registry) -> None:
    trial = judged(registry, seconds=18.0, last_fold=2.0)
    assert full_seconds([trial], folds(100), 300) == pytest.approx(3**0.8 * 2)
    assert full_seconds([], folds(100), 300) is None


def test_a_blend_has_the_parts_that_there_is_time_for(clock: Any) -> None:
    budget = TimeBudget(100.0, started=1000.0)  # four fifths of 97 s are for a blend
    assert budget.affordable([10.0] * 10) == list(range(7))
    assert budget.affordable([10.0, 300.0, 10.0]) == [0, 2]
    clock.now += 90
    assert budget.affordable([10.0] * 10) == [0]
    assert TimeBudget().affordable([10.0] * 10) == list(range(10))


def test_a_run_may_end_a_little_late_rather_than_train_on_fewer_rows(clock: Any) -> None:
    clock.now += 97
    assert TimeBudget(100.0, started=1000.0).left_in_need == pytest.approx(5)
    assert TimeBudget(1000.0, started=1000.0).left_in_need == pytest.approx(970 - 97 + 20)
    assert TimeBudget().left_in_need == float("inf")

"""Trials in real processes: judged, stopped early, failed, interrupted, resumed."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pubench.api.plugin import Kind
from pubench.api.registry import Registry, load_registry
from pubench.crossfit.folds import FoldPlan, InnerFold, inner_folds
from pubench.seeds import Seed
from pubench.tuning.budget import SearchBudget
from pubench.tuning.command import run_trial_worker
from pubench.tuning.pruning import PlacementPruner
from pubench.tuning.space import SearchSpace, narrowed
from pubench.tuning.study import Study
from pubench.tuning.study_storage import own_study
from pubench.tuning.trial import Trial, TuneCallbacks
from pubench.tuning.trial_worker import TrialContext, TrialWorker
from pubench.types import PUData, Status
from pubench.workers.limits import Deadline, Limits
from tests.tuning.conftest import TOY, plane

SEED = Seed(0).child("study")
PLAN = FoldPlan(test_unlabeled=100, test_per_labelled=2)


@pytest.fixture
def data() -> PUData:
    return plane(2400)  # enough labelled rows for trials to be stopped early


@pytest.fixture
def folder(tmp_path: Path, data: PUData) -> Path:
    path = tmp_path / "work"
    path.mkdir()
    TrialContext(data, PLAN, 0, 1, "cpu").write(path)
    return path


@pytest.fixture
def folds(data: PUData) -> tuple[InnerFold, ...]:
    return inner_folds(data.s, PLAN, SEED)


Search = Callable[..., list[Trial]]


@pytest.fixture
def search(registry: Registry, toy_file: Path, folder: Path, folds: tuple[InnerFold, ...]) -> Search:
    def run(
        trials: int | None,
        *,
        p_threshold: float = 0.0,
        limits: Limits | None = None,
        deadline: Deadline | None = None,
        **params: object,
    ) -> list[Trial]:
        space = SearchSpace(registry, {Kind.METHOD: ["toy"]})
        space = narrowed(space, {"method": {"toy": {"mode": "fine", **params}}})
        budget = SearchBudget(trials, deadline or Deadline(), limits or Limits())
        with own_study(folder) as own:
            study = Study(own, space, folds, SEED, PlacementPruner(p_threshold))
            study.retry_interrupted()
            study.run([TrialWorker(run_trial_worker, folder, [str(toy_file)])], budget, TuneCallbacks())
            return study.trials()

    return run


def test_trials_are_judged_and_the_search_finds_the_direction(search: Search) -> None:
    trials = search(25)
    assert [trial.number for trial in trials] == list(range(25))
    assert all(trial.status is Status.OK and len(trial.placements) == 5 for trial in trials)
    assert trials[0].configuration.method.params["angle"] == 0.3
    best = max(trials, key=lambda trial: trial.value or 0)
    assert best.configuration.method.params["angle"] > 0.8
    assert (best.value or 0) > (trials[0].value or 0)


def test_the_pruner_stops_bad_trials_and_the_best_one_sees_all_folds(search: Search, folder: Path) -> None:
    trials = search(25, p_threshold=0.02)
    early = [trial for trial in trials if trial.stopped_early]
    assert len(early) > 5
    best = max((trial for trial in trials if trial.is_complete), key=lambda trial: trial.value or 0)
    assert best.configuration.method.params["angle"] > 0.8
    assert all((trial.value or 0) < (best.value or 0) for trial in early)
    complete = {f"scores-{trial.number}.npy" for trial in trials if trial.is_complete}
    assert {path.name for path in folder.glob("scores-*.npy")} == complete


@pytest.mark.parametrize(
    ("mode", "status", "reason"),
    [
        ("crash", Status.FAILED, "SIGSEGV"),
        ("refuse", Status.NOT_APPLICABLE, "This is not for me."),
        ("raise", Status.FAILED, "ZeroDivisionError: oh no"),
        ("hang", Status.TIMEOUT, "longer than"),
        ("hog", Status.OUT_OF_MEMORY, "GiB of memory"),
    ],
)
def test_a_trial_that_fails_says_why_and_the_study_goes_on(
    search: Search, mode: str, status: Status, reason: str
) -> None:
    limits = Limits(20 if mode != "hang" else 6, memory_bytes=2**29)
    failed = search(1, limits=limits, mode=mode)[0]
    assert failed.status is status
    assert reason in failed.reason
    assert failed.value is None
    assert search(2, limits=limits)[1].status is Status.OK


def test_a_search_ends_at_its_deadline_and_loses_no_result(search: Search) -> None:
    search(2)
    started = time.monotonic()
    trials = search(None, deadline=Deadline(started + 6), pause=30.0)
    assert time.monotonic() - started < 9
    assert len([trial for trial in trials if trial.status is Status.OK]) == 2
    again = search(3)
    assert len([trial for trial in again if trial.status is Status.OK]) == 3


def test_a_person_can_stop_it(search: Search) -> None:
    stop = threading.Event()
    threading.Timer(4, stop.set).start()
    started = time.monotonic()
    search(None, deadline=Deadline(stop=stop), pause=30.0)
    assert time.monotonic() - started < 20


def test_start_up_draws_are_not_repeated_after_a_resume(search: Search) -> None:
    search(3)
    trials = search(6)
    angles = [trial.params["method.toy.angle"] for trial in trials]
    assert len(set(angles)) == 6


def test_a_search_whose_space_is_exhausted_ends_and_judges_no_configuration_twice(search: Search) -> None:
    assert [trial.number for trial in search(5, angle=0.5)] == [0]


def test_a_plugin_of_which_no_trial_was_in_time_is_not_tried_again(
    toy_file: Path, folder: Path, folds: tuple[InnerFold, ...]
) -> None:
    slow_file = toy_file.with_name("slow.py")
    slow_file.write_text(TOY.replace('name = "toy"', 'name = "slow"'))
    space = SearchSpace(load_registry([toy_file, slow_file]), {Kind.METHOD: ["toy", "slow"]})
    space = narrowed(space, {"method": {"toy": {"mode": "fine"}, "slow": {"mode": "hang"}}})
    worker = TrialWorker(run_trial_worker, folder, [str(toy_file), str(slow_file)])
    with own_study(folder) as own:
        study = Study(own, space, folds, SEED, PlacementPruner(0.0))
        study.run([worker], SearchBudget(12, limits=Limits(5)), TuneCallbacks())
        trials = study.trials()
    assert len(trials) == 12
    late = [trial for trial in trials if trial.status is Status.TIMEOUT]
    assert [trial.configuration.method.name for trial in late] == ["slow"]
    assert {trial.configuration.method.name for trial in trials if trial.status is Status.OK} == {"toy"}


def test_the_default_is_judged_to_its_end_however_bad_it_is(search: Search) -> None:
    trials = search(12, p_threshold=0.999)
    assert any(trial.stopped_early for trial in trials)
    default = next(trial for trial in trials if trial.params["method.toy.angle"] == 0.3)
    assert default.is_complete


DRIVER = """
import sys
from pathlib import Path
from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.seeds import Seed
from pubench.tuning.budget import SearchBudget
from pubench.crossfit.folds import inner_folds
from pubench.tuning.pruning import PlacementPruner
from pubench.tuning.space import SearchSpace, narrowed
from pubench.tuning.study_storage import own_study
from pubench.tuning.study import Study
from pubench.tuning.trial import TuneCallbacks
from pubench.tuning.command import run_trial_worker
from pubench.tuning.trial_worker import TrialContext, TrialWorker

toy, folder = Path(sys.argv[1]), Path(sys.argv[2])
context, seed = TrialContext.read(folder), Seed(0).child("study")
space = narrowed(SearchSpace(load_registry([toy]), {Kind.METHOD: ["toy"]}), {"method": {"toy": {"mode": "fine"}}})
with own_study(folder) as own:
    study = Study(own, space, inner_folds(context.data.s, context.plan, seed), seed, PlacementPruner(0.0))
    study.retry_interrupted()
    worker = TrialWorker(run_trial_worker, folder, [str(toy)])
    callbacks = TuneCallbacks(trial_ended=lambda t: print(t.number, t.value, flush=True))
    study.run([worker], SearchBudget(trials=200), callbacks)
"""


def test_nothing_is_lost_when_it_is_killed(
    search: Search, toy_file: Path, folder: Path, tmp_path: Path
) -> None:
    driver = tmp_path / "driver.py"
    driver.write_text(DRIVER)
    reported: dict[int, float] = {}
    generator = np.random.default_rng(0)
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, str(driver), str(toy_file), str(folder)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        for _ in range(int(generator.integers(2, 6))):
            number, value = process.stdout.readline().split()
            reported[int(number)] = float(value)
        time.sleep(float(generator.uniform(0, 0.05)))
        process.send_signal(signal.SIGKILL)
        rest = process.communicate()[0]
        reported |= {
            int(line.split()[0]): float(line.split()[1])
            for line in rest.splitlines(keepends=True)
            if line.endswith("\n")
        }
    count = len(reported)
    trials = {trial.number: trial for trial in search(count + 2)}
    assert all(trials[number].value == pytest.approx(value) for number, value in reported.items())
    done = [trial for trial in trials.values() if trial.status is Status.OK]
    assert len(done) >= count + 2

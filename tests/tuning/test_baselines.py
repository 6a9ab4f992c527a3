"""Baselines: which there are, and that each is trained as far as there is time, whatever it does."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pubench.api.plugin import Kind
from pubench.api.registry import Registry, load_registry
from pubench.configuration.configuration import PluginSpec, configure
from pubench.crossfit.folds import FoldPlan, inner_folds
from pubench.errors import ParameterError, UnknownPluginError
from pubench.seeds import Seed
from pubench.tuning.baselines import (
    PAPER,
    BaselineContext,
    Baselines,
    baseline_methods,
    requested_baselines,
)
from pubench.tuning.budget import TimeBudget
from pubench.tuning.command import run_trial_worker
from pubench.tuning.space import SearchSpace
from pubench.tuning.standings import Entrant, Role
from pubench.tuning.trial import Trial
from pubench.tuning.trial_worker import TrialContext, TrialWorker
from pubench.types import PUData, Status, Table
from pubench.workers.limits import Deadline

PLAN = FoldPlan(test_unlabeled=100, test_per_labelled=2)
ROWS = PUData(Table.from_array(np.zeros((500, 2))), np.arange(500) < 50)
BUILT_IN = load_registry(environ={"PUBENCH_DISABLE_PLUGIN_AUTOLOAD": "1"})


def test_all_are_those_that_a_search_tries() -> None:
    names = baseline_methods(("all",), BUILT_IN)
    assert {"probtagging", "naive", "bagging", "liu", "nnpu", "pu-auc"} <= set(names)
    assert not {"oracle", "elkan", "rank-average"} & set(names)


def test_the_papers_and_names_add_up() -> None:
    assert baseline_methods(("paper",), BUILT_IN) == PAPER
    assert baseline_methods(("naive", "paper", "liu"), BUILT_IN) == ("naive", *PAPER)
    assert baseline_methods(("none",), BUILT_IN) == ()


def test_wrong_names_are_refused() -> None:
    with pytest.raises(ParameterError, match="needs every true label"):
        baseline_methods(("oracle",), BUILT_IN)
    with pytest.raises(ParameterError, match="cannot be combined"):
        baseline_methods(("none", "naive"), BUILT_IN)
    with pytest.raises(UnknownPluginError, match="Did you mean 'bagging'"):
        baseline_methods(("baging",), BUILT_IN)


def trial(number: int, space: SearchSpace, method: str, value: float) -> Trial:
    params = {**space.default(), "method": method, "learner": "logistic"}
    return Trial(
        number, space.configuration(params), params, Status.OK, value=value, seconds=2.0, last_fold=0.5
    )


def test_each_method_stands_at_its_defaults_and_at_its_best_trial_once() -> None:
    names = {Kind.METHOD: ["naive", "liu", "probtagging"], Kind.SIMILARITY: ["knn"]}
    space = SearchSpace(BUILT_IN, {**names, Kind.LEARNER: ["lightgbm", "logistic"]})
    trials = [trial(0, space, "naive", 0.8), trial(1, space, "liu", 0.7), trial(2, space, "liu", 0.9)]
    default = space.configuration(space.default())
    tuned = trials[0].configuration
    found = requested_baselines(("naive", "liu", "probtagging"), space, trials, (tuned, default), ROWS)
    assert [(one.role, str(one.configuration)) for one in found] == [
        ("baseline", "naive + lightgbm"),
        ("baseline", "liu + lightgbm"),
        ("tuned", "liu + logistic"),
    ]
    without = requested_baselines(("naive",), space, [], (tuned, None), ROWS)
    assert [one.role for one in without] == ["baseline", "default"]
    assert requested_baselines((), space, trials, (tuned, None), ROWS) == []


@pytest.fixture
def worker(tmp_path: Path, data: PUData, toy_file: Path) -> Iterator[TrialWorker]:
    folder = tmp_path / "work"
    folder.mkdir()
    TrialContext(data, PLAN, 0, 1, "cpu").write(folder, data.X)
    created = TrialWorker(run_trial_worker, folder, [str(toy_file)])
    yield created
    created.stop()


def toy(registry: Registry, mode: str, pause: float = 0.0) -> Entrant:
    plugins = {Kind.METHOD: PluginSpec("toy", {"mode": mode, "pause": pause})}
    return Entrant(Role.BASELINE, configure(plugins, registry))


def baselines(requested: list[Entrant], context: BaselineContext, data: PUData, *trials: Trial) -> Baselines:
    folds = inner_folds(data.s, PLAN, Seed(0))
    return Baselines(requested, context, trials, folds, data.X.n_rows)


def test_whatever_one_does_the_others_are_judged(
    registry: Registry, data: PUData, worker: TrialWorker
) -> None:
    modes = ("fine", "crash", "refuse", "raise")
    judged = baselines(
        [toy(registry, mode) for mode in modes], BaselineContext(worker, TimeBudget(), 1), data
    )
    judged.train(float("inf"))
    by_mode = {one.configuration.method.params["mode"]: one for one in judged.entrants}
    assert {mode: by_mode[mode].status.value for mode in modes} == {
        "fine": "ok",
        "crash": "failed",
        "refuse": "not-applicable",
        "raise": "failed",
    }
    scores = by_mode["fine"].scores
    assert scores is not None
    np.testing.assert_allclose(scores, 0.3 * data.X.values[:, 0] + 0.7 * data.X.values[:, 1], rtol=1e-5)
    assert by_mode["refuse"].reason == "This is not for me."


def test_one_that_takes_too_long_is_ended_and_has_another_chance(
    registry: Registry, data: PUData, worker: TrialWorker
) -> None:
    context = BaselineContext(worker, TimeBudget(600.0), 1)
    judged = baselines([toy(registry, "hang"), toy(registry, "fine", pause=0.1)], context, data)
    started = time.monotonic()
    judged.train(started + 20)
    assert time.monotonic() - started < 30
    by_mode = {one.configuration.method.params["mode"]: one for one in judged.entrants}
    assert by_mode["hang"].status is Status.TIMEOUT
    assert "did not end within" in by_mode["hang"].reason
    assert by_mode["fine"].status is Status.OK
    judged.train(time.monotonic() + 5)  # half of what was not enough
    (hanging,) = [one for one in judged.entrants if one.status is Status.TIMEOUT]
    assert hanging.reason == by_mode["hang"].reason


def test_what_was_stopped_says_so(registry: Registry, data: PUData, worker: TrialWorker) -> None:
    stop = threading.Event()
    stop.set()
    context = BaselineContext(worker, TimeBudget(), 1, deadline=Deadline(stop=stop))
    judged = baselines([toy(registry, "fine")], context, data)
    judged.train(float("inf"))
    assert [one.reason for one in judged.entrants] == ["The run was stopped before its turn."]


def test_the_cheapest_come_first_and_one_without_enough_time_is_not_begun(
    registry: Registry, data: PUData, worker: TrialWorker
) -> None:
    slow = toy(registry, "fine")
    known = Trial(0, slow.configuration, {}, Status.OK, value=0.5, seconds=5000.0, last_fold=1000.0)
    judged = baselines([slow], BaselineContext(worker, TimeBudget(600.0), 1), data, known)
    judged.train(time.monotonic() + 10)
    (entrant,) = judged.entrants
    assert entrant.status is Status.TIMEOUT
    assert entrant.reason.startswith("It would take about")

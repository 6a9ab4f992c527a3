"""A run over rows in memory: its result, a second run in the same folder, and a run in which every trial fails."""

import threading
from pathlib import Path

import numpy as np
import pytest

from pubench.api.plugin import Kind
from pubench.api.registry import Registry
from pubench.crossfit.folds import FoldPlan
from pubench.tuning.budget import TimeBudget
from pubench.tuning.command import run_trial_worker
from pubench.tuning.model_costs import ModelCosts
from pubench.tuning.request import SearchRequest
from pubench.tuning.result import TuneResult
from pubench.tuning.run import TuneContext, TuningRun
from pubench.tuning.run_folder import RunFolder
from pubench.tuning.space import SearchSpace, narrowed
from pubench.tuning.trial import TuneCallbacks
from pubench.types import PUData, Resources, Status
from pubench.workers.watch import JobFailedError


def run(
    data: PUData,
    registry: Registry,
    toy_file: Path,
    folder: Path,
    *,
    trials: int = 3,
    mode: str = "fine",
    callbacks: TuneCallbacks | None = None,
    stop: threading.Event | None = None,
    memory_bytes: int | None = None,
    refit: bool = True,
    seconds: float | None = None,
) -> TuneResult:
    space = narrowed(SearchSpace(registry, {Kind.METHOD: ["toy"]}), {"method": {"toy": {"mode": mode}}})
    plan = FoldPlan(test_unlabeled=100, test_per_labelled=2)
    request = SearchRequest(trials, seconds, plan, racing=False, memory_bytes=memory_bytes, refit=refit)
    context = TuneContext(
        RunFolder(folder),
        run_trial_worker,
        Resources(),
        TimeBudget(seconds),
        plugin_files=(str(toy_file),),
        callbacks=callbacks or TuneCallbacks(),
        stop=stop,
    )
    return TuningRun(data, space, request, context).tune()


def test_the_result_describes_the_run_and_a_second_run_continues_it(
    data: PUData, registry: Registry, toy_file: Path, tmp_path: Path
) -> None:
    phases: dict[str, float] = {}
    callbacks = TuneCallbacks(phase=lambda name, share: phases.update({name: share}))
    result = run(data, registry, toy_file, tmp_path, callbacks=callbacks)
    assert result.out == tmp_path
    assert [trial.number for trial in result.trials] == [0, 1, 2]
    assert not set(result.split.train) & set(result.split.test)
    assert result.holdout.n_labelled == int(data.s[result.split.test].sum())
    assert list(result.holdout.contenders) == ["tuned", "default"]
    assert len(result.tuned.scores) == len(result.split.test)
    phases_done = ["data", "first trial", "search", "choice", "baselines", "final models", "refit"]
    assert list(result.timeline) == phases_done
    assert {"choice", "final models: tuned", "refit"} <= set(phases)
    assert result.is_refitted
    assert result.shipped.data is data
    assert result.shipped.own_scores is not None
    assert result.shipped.own_scores.shape == (len(data.s),)

    again = run(data, registry, toy_file, tmp_path, trials=4)
    assert len(again.trials) == 4
    for before, after in zip(result.trials, again.trials, strict=False):
        assert (before.params, before.value) == (after.params, after.value)
        assert all(np.array_equal(a, b) for a, b in zip(before.placements, after.placements, strict=True))


def test_a_run_that_is_stopped_continues_with_its_trials_so_far(
    data: PUData, registry: Registry, toy_file: Path, tmp_path: Path
) -> None:
    stop = threading.Event()
    callbacks = TuneCallbacks(trial_ended=lambda trial: stop.set())  # noqa: ARG005
    result = run(data, registry, toy_file, tmp_path, trials=50, callbacks=callbacks, stop=stop)
    assert [trial.number for trial in result.trials if trial.status is Status.OK] == [0]
    assert result.best.number == 0
    assert result.model.role == "default"
    assert "the default configuration" in result.conclusion.finding


def test_a_run_has_an_answer_however_short_its_time(
    data: PUData, registry: Registry, toy_file: Path, tmp_path: Path
) -> None:
    result = run(data, registry, toy_file, tmp_path, trials=50, seconds=1e-3)
    assert [trial.number for trial in result.trials] == [0]
    assert np.isfinite(result.tuned.scores).all()


def test_final_models_are_trained_on_fewer_rows_where_time_is_short(
    data: PUData, registry: Registry, toy_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ModelCosts, "trainable_share", lambda *_: 0.25)
    result = run(data, registry, toy_file, tmp_path, trials=2)
    assert result.shipped.data.n_labelled == data.n_labelled
    others = int((~data.s).sum())
    assert result.shipped.data.X.n_rows == data.n_labelled + round(others / 4)
    assert np.array_equal(result.shipped.data.X.values, data.X.values[result.shipped.rows])
    assert f"{result.shipped.data.X.n_rows:,} rows, all labelled ones among them" in result.shipped_sentence


def test_a_run_without_a_successful_trial_says_why(
    data: PUData, registry: Registry, toy_file: Path, tmp_path: Path
) -> None:
    with pytest.raises(JobFailedError, match="No trial succeeded: This is not for me") as caught:
        run(data, registry, toy_file, tmp_path, trials=1, mode="refuse")
    assert caught.value.status is Status.NOT_APPLICABLE


def test_the_memory_limit_holds_for_the_first_trial_too(
    data: PUData, registry: Registry, toy_file: Path, tmp_path: Path
) -> None:
    with pytest.raises(JobFailedError, match="memory") as caught:
        run(data, registry, toy_file, tmp_path, trials=1, mode="hog", memory_bytes=2**29)
    assert caught.value.status is Status.OUT_OF_MEMORY


def test_without_a_refit_the_model_that_was_judged_is_shipped(
    data: PUData, registry: Registry, toy_file: Path, tmp_path: Path
) -> None:
    result = run(data, registry, toy_file, tmp_path, refit=False)
    assert not result.is_refitted
    assert result.shipped.fitted is result.tuned.fitted
    assert result.shipped.data.X.n_rows == len(result.split.train)
    assert result.shipped.own_scores is not None
    assert len(result.shipped.own_scores) == len(result.split.train)


def test_another_space_takes_over_the_trials_that_fit(
    data: PUData, registry: Registry, toy_file: Path, tmp_path: Path
) -> None:
    first = run(data, registry, toy_file, tmp_path)
    (tmp_path / "record.json").unlink(missing_ok=True)
    spaces = {"angle": [0.0, 1.0]}
    space = narrowed(
        SearchSpace(registry, {Kind.METHOD: ["toy"]}), {"method": {"toy": {"mode": "fine", **spaces}}}
    )
    plan = FoldPlan(test_unlabeled=100, test_per_labelled=2)
    request = SearchRequest(6, plan=plan, racing=False)
    context = TuneContext(RunFolder(tmp_path), run_trial_worker, Resources(), plugin_files=(str(toy_file),))
    second = TuningRun(data, space, request, context).tune()
    fit = [trial for trial in first.trials if 0 <= trial.params["method.toy.angle"] <= 1]
    assert [trial.value for trial in second.trials[: len(fit)]] == [trial.value for trial in fit]
    assert any(f"{len(fit)} of its {len(first.trials)} trials" in notice for notice in second.notices)


def test_a_space_that_no_trial_fits_begins_anew_and_says_so(
    data: PUData, registry: Registry, toy_file: Path, tmp_path: Path
) -> None:
    run(data, registry, toy_file, tmp_path)
    (tmp_path / "record.json").unlink(missing_ok=True)
    space = narrowed(
        SearchSpace(registry, {Kind.METHOD: ["toy"]}), {"method": {"toy": {"mode": "fine", "angle": 0.123}}}
    )
    request = SearchRequest(1, plan=FoldPlan(test_unlabeled=100, test_per_labelled=2), racing=False)
    context = TuneContext(RunFolder(tmp_path), run_trial_worker, Resources(), plugin_files=(str(toy_file),))
    result = TuningRun(data, space, request, context).tune()
    assert [trial.number for trial in result.trials] == [0]
    assert any("none of its trials fits any more" in notice for notice in result.notices)


def test_the_default_is_derived_from_all_rows_and_written_down(
    data: PUData, registry: Registry, tmp_path: Path
) -> None:
    space = SearchSpace(registry, {Kind.METHOD: ["naive"], Kind.LEARNER: ["logistic"]})
    plan = FoldPlan(test_unlabeled=100, test_per_labelled=2)
    request = SearchRequest(1, plan=plan, racing=False, baselines=("bagging",))
    result = TuningRun(
        data, space, request, TuneContext(RunFolder(tmp_path), run_trial_worker, Resources())
    ).tune()
    derived = 0.5 / data.X.n_features
    assert result.trials[0].params == {"learner.logistic.c": derived}
    learners = [entrant.configuration.parts.learner for entrant in (result.model, *result.others)]
    shipped = result.shipped.configuration.parts.learner
    assert [learner.stated for learner in (*learners, shipped) if learner] == [{"c": derived}] * 3

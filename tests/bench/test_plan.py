"""From a suite to jobs: all of them, each once, checked before anything runs."""

from pathlib import Path

import pytest

from pubench.api.registry import Registry
from pubench.bench.plan import make_plan
from pubench.bench.suite_file import read_suite, shipped_suites
from pubench.errors import ParameterError
from tests.bench.suites import planned


def test_every_combination_is_planned_once(tmp_path: Path, registry: Registry) -> None:
    text = "methods = ['good', 'naive', 'good']\nlearners = ['lightgbm', 'logistic']\ntheta_o = [0.5, 0.2]\nseeds = [0, 1]"
    jobs = planned(tmp_path, text, registry).jobs
    assert len(jobs) == (1 + 2) * 2 * 2 * 3  # 'good' uses no learner
    assert len({job.spec.key for job in jobs}) == len(jobs)
    assert {(job.spec.fold, job.spec.folds) for job in jobs} == {(0, 3), (1, 3), (2, 3)}
    assert jobs[0].spec.configuration == {"method": {"name": "good", "nap": 0.0}}
    assert {job.spec.view["theta_o"] for job in jobs} == {0.5, 0.2}


def test_only_keeps_jobs_with_one_of_the_values_of_each_name(tmp_path: Path, registry: Registry) -> None:
    text = "methods = ['good', 'naive', 'bagging']\ntheta_o = [0.5, 0.2]"
    only = ("method=good", "method=naive", "theta_o=0.2", "fold=1")
    jobs = planned(tmp_path, text, registry, *only).jobs
    assert [(job.spec.method, job.spec.fold, job.spec.view["theta_o"]) for job in jobs] == [
        ("good", 1, 0.2),
        ("naive", 1, 0.2),
    ]
    assert len(planned(tmp_path, text, registry, "learner=lightgbm").jobs) == 12
    for wrong in ("method", "colour=red", "method=nobody"):
        with pytest.raises(ParameterError, match=wrong):
            planned(tmp_path, text, registry, wrong)


def test_parameters_are_resolved_and_a_wrong_one_stops_everything(tmp_path: Path, registry: Registry) -> None:
    text = "methods = ['good']\n[jobs.parameters.method.good]\n"
    (job, *_) = planned(tmp_path, f"{text}nap = 1", registry).jobs
    assert job.spec.configuration == {"method": {"name": "good", "nap": 1.0}}
    with pytest.raises(ParameterError, match="nap = -1"):
        planned(tmp_path, f"{text}nap = -1", registry)
    with pytest.raises(ParameterError, match="no parameter 'naps'"):
        planned(tmp_path, f"{text}naps = 1", registry)


def test_a_search_states_what_it_may_choose_from(tmp_path: Path, registry: Registry) -> None:
    text = "methods = ['naive']\ntrials = 5\n[jobs.parameters.learner.lightgbm]\ndepth = "
    (job, *_) = planned(tmp_path, f"{text}[2, 4]", registry).jobs
    assert job.spec.tuning == {"trials": 5}
    assert job.spec.configuration["learner"] == {"name": "lightgbm", "depth": [2, 4]}
    with pytest.raises(ParameterError, match="depth"):
        planned(tmp_path, f"{text}[2, 4000]", registry)


def test_methods_that_are_not_there_fail_or_are_left_out(tmp_path: Path, registry: Registry) -> None:
    plan = planned(tmp_path, "methods = ['good', 'nobody']\noptional_methods = ['naive', 'no-one']", registry)
    problems = {job.spec.method: job.problem for job in plan.jobs}
    assert set(problems) == {"good", "naive", "nobody"}
    assert problems["nobody"].startswith("There is no method 'nobody'")
    assert not problems["good"]


def test_shipped_suites_name_plugins_that_exist(registry: Registry) -> None:
    for path in shipped_suites():
        plan = make_plan(read_suite(path), registry)
        assert not [job.problem for job in plan.jobs if "There is no" in job.problem], path.name

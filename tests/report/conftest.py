"""The report of a small run with real models, and a browser that opens its page."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest

from pubench.api.plugin import Kind
from pubench.api.registry import Registry, load_registry
from pubench.configuration.configuration import PluginSpec, configure
from pubench.configuration.toml_file import to_toml
from pubench.crossfit.fold_cache import FoldCache
from pubench.crossfit.folds import FoldPlan, inner_folds
from pubench.data.splits import holdout
from pubench.decision.hidden_positives import hidden_from_prior
from pubench.report.values import Provenance, Report, ReportSubject, make_report, parameter_importances
from pubench.seeds import Seed
from pubench.tuning.final_models import TUNED, Contender, HoldoutResult, ship, train_contender
from pubench.tuning.model_choice import ModelChoice
from pubench.tuning.result import TuneResult
from pubench.tuning.space import SearchSpace
from pubench.tuning.standings import Entrant, Role
from pubench.tuning.trial import Trial
from pubench.tuning.whom_to_call import CallRequest
from pubench.types import Feature, PUData, Resources, Status, Table
from tests.html.browser import Browser, open_browser

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="session")
def plugins() -> Registry:
    return load_registry(environ={"PUBENCH_DISABLE_PLUGIN_AUTOLOAD": "1"})


@pytest.fixture(scope="session")
def rows() -> PUData:
    """1,500 rows of which 90 are labelled; one column has a hostile name, another one missing values."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(1_500, 5))
    positive = X[:, 0] + 0.5 * X[:, 1] + 0.5 * generator.normal(size=1_500) > 1.6
    s = positive & (generator.random(1_500) < 0.6)
    X[generator.random(1_500) < 0.1, 2] = np.nan
    X[:, 4] = generator.integers(0, 3, 1_500)
    names = (
        "income",
        "visits & more",
        HOSTILE,
        "a_rather_long_name_of_a_feature_that_has_no_spaces_in_it_at_all",
    )
    features = (*(Feature(name) for name in names), Feature("town", "categorical", ("Ulm", "Bonn", "Köln")))
    return PUData(Table(X, features), s)


def simulated_study(space: SearchSpace) -> tuple[optuna.Study, tuple[Trial, ...]]:
    """Return a study of 40 trials with invented values; some were stopped early and some failed."""
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    trials = []
    for number in range(40):
        optuna_trial = study.ask()
        configuration = space.suggest(optuna_trial)
        params = dict(optuna_trial.params)
        trial = Trial(number, configuration, params, Status.OK, seconds=1.5 + number / 10)
        if number % 13 == 5:
            study.tell(optuna_trial, state=optuna.trial.TrialState.FAIL)
            trials.append(replace(trial, status=Status.TIMEOUT, reason="It took longer than 60 s."))
            continue
        value = 0.86 + 0.03 * (params["learner"] == "logistic") + 0.02 * np.sin(number)
        study.tell(optuna_trial, value)
        trials.append(replace(trial, value=value, stopped_early=number % 4 == 3))
    return study, tuple(trials)


@pytest.fixture(scope="session")
def report(plugins: Registry, rows: PUData) -> Report:
    """The report of a run, with every section."""
    seed, resources = Seed(0), Resources()
    split = holdout(rows.s, 0.25, seed)
    inner, test = rows.take(split.train), rows.take(split.test)
    folds = inner_folds(inner.s, FoldPlan(), seed)
    names = {
        Kind.METHOD: ["probtagging"],
        Kind.SIMILARITY: ["knn"],
        Kind.LEARNER: ["logistic", "lightgbm", "histgb"],
    }
    study, trials = simulated_study(SearchSpace(plugins, names))
    cache = FoldCache(inner, folds, seed, for_all=True)

    def contender(method: str, **params: Any) -> Contender:
        parts = {Kind.METHOD: PluginSpec(method, params), Kind.LEARNER: PluginSpec("logistic")}
        if method == "probtagging":
            parts[Kind.SIMILARITY] = PluginSpec("knn")
        return train_contender(configure(parts, plugins), cache, test, seed, resources)

    contenders = {
        TUNED: contender("probtagging", members=5, tags="soft"),
        "default": contender("probtagging", members=5),
    }

    def entrant(role: Role, trained: Contender) -> Entrant:
        return Entrant(role, trained.configuration, trained.scores, trained.seconds)

    late = Entrant(
        Role.BASELINE, SearchSpace(plugins, {}).baseline("liu"), status=Status.TIMEOUT, reason="It was late."
    )
    others = (
        entrant(Role.DEFAULT, contenders["default"]),
        entrant(Role.BASELINE, contender("naive")),
        entrant(Role.BASELINE, contender("bagging")),
        late,
    )
    complete = [trial for trial in trials if trial.is_complete]
    best = max(complete, key=lambda trial: trial.value or 0)
    timeline = {"data": 0.3, "first trial": 4.0, "search": 190.0, "final models": 200.5, "refit": 212.0}
    choice = ModelChoice(
        best.number, {best.number: 1}, best.value or 0.0, why_single="no blend of trials is better"
    )
    shipped = ship(contenders[TUNED].configuration, rows, np.arange(rows.X.n_rows), seed, resources)
    result = TuneResult(
        out=Path("my runs"),
        data=rows,
        split=split,
        folds=folds,
        trials=trials,
        best=best,
        choice=choice,
        shipped=shipped,
        model=entrant(Role.TUNED, contenders[TUNED]),
        others=others,
        holdout=HoldoutResult(contenders, test.n_labelled),
        timeline=timeline,
        dataset="customers",
        notices=("A column was left out.",),
        calls=CallRequest(0.1, (50,), gain=40, cost=2),
        hidden=hidden_from_prior(0.1, rows.X.n_rows, rows.n_labelled),
    )
    provenance = Provenance(
        day=date(2026, 11, 16),
        command=(
            "pubench",
            "tune",
            "--storage",
            "postgresql://me:s3cret@db/x?sslkey=s3cret",
            "--out",
            "my runs",
        ),
        versions={"python": "3.11.7", "pubench": "0.1.0", "numpy": "2.3.1"},
        machine="Linux x86_64, 2 cores",
        configuration=to_toml(contenders[TUNED].configuration, 0),
    )
    subject = ReportSubject("customers", "Customers who bought", stand_in=True, source="made up")
    return make_report(subject, provenance, result, parameter_importances(study))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with open_browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened

"""What a report is made of."""

import optuna
import pytest

from pubench.metrics.scar import scar_diagnostic
from pubench.reporting.gathering import parameter_importances
from pubench.reporting.report import Report
from pubench.tuning.outcome import TUNED
from pubench.types import PUData


def tried(number: int) -> optuna.Study:
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(
        lambda trial: trial.suggest_float("matters", 0, 1) + 1e-3 * trial.suggest_float("idle", 0, 1), number
    )
    return study


def test_the_parameter_that_decides_is_the_most_important() -> None:
    shares = parameter_importances(tried(60))
    assert next(iter(shares)) == "matters"
    assert shares["matters"] > 0.8
    assert sum(shares.values()) == pytest.approx(1)


def test_too_few_trials_say_nothing() -> None:
    assert parameter_importances(tried(19)) == {}


def test_equal_trials_say_nothing() -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(lambda trial: 0 * trial.suggest_float("x", 0, 1), 30)
    assert parameter_importances(study) == {}


def test_the_facts_are_those_of_the_data(report: Report, rows: PUData) -> None:
    facts = report.facts
    assert (facts.rows, facts.labelled) == (rows.X.n_rows, rows.n_labelled)
    assert facts.searched + len(report.s) == facts.rows
    assert facts.searched_labelled + int(report.s.sum()) == facts.labelled
    assert dict(facts.kinds) == {"numeric": 4, "categorical": 1}
    assert facts.incomplete == 1
    assert 0.015 < facts.missing < 0.025


def test_the_curve_of_neighbours_is_that_of_the_tuned_model(report: Report) -> None:
    neighbours = report.neighbours
    assert neighbours is not None
    assert neighbours.owner == TUNED
    assert neighbours.k == neighbours.choice.k == report.found.outcome.contenders[TUNED].fitted.chosen["k"]
    assert not neighbours.given


def test_features_have_their_importance(report: Report, rows: PUData) -> None:
    importances = report.found.outcome.contenders[TUNED].fitted.importances()
    assert importances is not None
    assert list(report.features) == [feature.name for feature in rows.X.features]
    assert list(report.features.values()) == pytest.approx(importances.tolist())


def test_labelling_is_diagnosed_on_the_holdout(report: Report, rows: PUData) -> None:
    holdout = rows.take(report.found.split.test)
    scores = report.found.outcome.contenders[TUNED].scores
    assert report.scar == scar_diagnostic(holdout.X.values, holdout.s, scores, n_permutations=49)

"""The values of a report are computed from the run's result."""

from dataclasses import replace

import numpy as np
import optuna
import pytest

from pubench.api.method import FittedEnsemble
from pubench.decision.calibration import Calibration, reliability
from pubench.decision.hidden_positives import HiddenPositives
from pubench.metrics.scar_diagnostic import scar_diagnostic
from pubench.report.values import NeighbourCurve, Report, make_report, parameter_importances
from pubench.tuning.final_models import TUNED
from pubench.types import PUData


def study_of(n_trials: int) -> optuna.Study:
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(
        lambda trial: trial.suggest_float("matters", 0, 1) + 1e-3 * trial.suggest_float("idle", 0, 1),
        n_trials,
    )
    return study


def test_the_parameter_that_decides_is_the_most_important() -> None:
    shares = parameter_importances(study_of(60))
    assert next(iter(shares)) == "matters"
    assert shares["matters"] > 0.8
    assert sum(shares.values()) == pytest.approx(1)


def test_too_few_trials_give_no_importance() -> None:
    assert parameter_importances(study_of(19)) == {}


def test_equal_trials_give_no_importance() -> None:
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
    assert neighbours.contender == TUNED
    assert neighbours.k == neighbours.choice.k == report.result.holdout.contenders[TUNED].fitted.chosen["k"]
    assert not neighbours.is_given


def test_features_have_their_importance(report: Report, rows: PUData) -> None:
    importances = report.result.holdout.contenders[TUNED].fitted.importances()
    assert importances is not None
    assert list(report.features) == [feature.name for feature in rows.X.features]
    assert list(report.features.values()) == pytest.approx(importances.tolist())


def test_labelling_is_diagnosed_on_the_holdout(report: Report, rows: PUData) -> None:
    holdout = rows.take(report.result.split.test)
    scores = report.result.holdout.contenders[TUNED].scores
    assert report.scar == scar_diagnostic(holdout.X.values, holdout.s, scores, n_permutations=49)


def test_a_given_k_is_distinguished_from_the_rule(report: Report) -> None:
    neighbours = report.neighbours
    assert neighbours is not None
    assert NeighbourCurve(TUNED, neighbours.k + 1, neighbours.choice).is_given


def test_a_model_without_neighbours_has_no_curve(report: Report) -> None:
    tuned = report.result.tuned
    assert isinstance(tuned.fitted, FittedEnsemble)
    naive = replace(tuned, fitted=FittedEnsemble(tuned.fitted.ensemble))
    result = replace(report.result, holdout=replace(report.result.holdout, contenders={TUNED: naive}))
    assert make_report(report.subject, report.provenance, result, {}).neighbours is None


def test_the_reliability_is_that_of_a_calibration_which_did_not_see_the_holdout(
    report: Report, rows: PUData
) -> None:
    result = report.result
    own = result.shipped.own_scores
    assert own is not None
    train = result.split.train
    calibration = Calibration.of(rows.s[train], own[train])
    hidden = result.hidden.scaled(calibration.n_unlabeled / (rows.X.n_rows - rows.n_labelled))
    assert isinstance(hidden, HiddenPositives)
    assert report.reliability == reliability(calibration, report.s, result.tuned.scores, hidden, bins=2)
    assert sum(one.rows for one in report.reliability) == pytest.approx(np.sum(~report.s), abs=2)


def test_few_labelled_rows_tell_nothing_about_reliability(report: Report) -> None:
    few = np.flatnonzero(report.result.data.s)[:60]
    s = report.result.data.s.copy()
    s[few] = False
    result = replace(report.result, data=replace(report.result.data, s=s))
    assert make_report(report.subject, report.provenance, result, {}).reliability == ()

"""Rows taken in once, members side by side, their mean, and files."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import rankdata

from pubench.api.method import FittedEnsemble
from pubench.api.plugin import Kind, Learner
from pubench.api.registry import load_registry
from pubench.api.trainer import Ensemble, Trainer
from pubench.errors import DataError
from pubench.seeds import Seed
from pubench.types import Feature, Resources, Table, Tags

REGISTRY = load_registry()
LEARNERS = REGISTRY.names(Kind.LEARNER)
TWO = Resources(n_threads=2)


def made(name: str, **params: Any) -> Learner:
    plugin: Any = REGISTRY.find(name, Kind.LEARNER).plugin
    return plugin(**params)  # type: ignore[no-any-return]


def mixed(rows: int = 600) -> tuple[Table, Tags]:
    generator = np.random.default_rng(0)
    values = generator.normal(size=(rows, 3))
    values[:, 1] = generator.integers(0, 4, rows)
    target = (values[:, 0] + (values[:, 1] == 2) + 0.5 * generator.normal(size=rows)) > 1
    values[generator.random(rows) < 0.1, 0] = np.nan
    features = (Feature("amount"), Feature("city", "categorical", tuple("abcd")), Feature("noise"))
    return Table(values, features), Tags(target.astype(float))


def trained(name: str, resources: Resources = TWO, count: int = 5) -> tuple[Trainer, list[Any]]:
    X, tags = mixed()
    trainer = Trainer.of(made(name), X, resources)
    weights = [
        np.random.default_rng(member).integers(0, 2, 600).astype(float) + 0.5 for member in range(count)
    ]
    members = trainer.members(lambda member: Tags(tags.positive, weights[member]), count, Seed(0), resources)
    return trainer, list(members)


@pytest.mark.parametrize("name", LEARNERS)
def test_members_do_not_depend_on_threads_or_number(name: str) -> None:
    X, _ = mixed()
    many = Ensemble.of(*trained(name, count=6), TWO)
    one = Resources(n_threads=1)
    # A learner that is an ensemble itself divides its trees among its members: there the number is the same.
    is_divided = made(name).member_of(3) != made(name).member_of(6)
    few = Ensemble.of(*trained(name, one, count=6 if is_divided else 3), one)
    for a, b in zip(few.members, many.members, strict=False):
        left, right = (replace(few, members=(model,)).predict(X, one) for model in (a, b))
        assert np.array_equal(left, right)


def stopping(count: int, resources: Resources, **params: Any) -> tuple[Trainer, list[Any]]:
    X, tags = mixed()
    learner = made("lightgbm", trees=200, learning_rate=0.3, l2=0.1, **params)
    trainer = Trainer.of(learner, X, resources)
    return trainer, list(trainer.members(lambda _: tags, count, Seed(0), resources))


def test_members_stop_on_rows_of_their_own_whatever_their_number() -> None:
    trainer, many = stopping(4, TWO, stop_share=0.2)
    _, few = stopping(2, replace(TWO, n_threads=1), stop_share=0.2)
    rounds = [member.decided["trees"] for member in many]
    assert [member.decided["trees"] for member in few] == rounds[:2]
    assert len(set(rounds)) > 1
    assert min(rounds) >= 20
    assert FittedEnsemble(Ensemble.of(trainer, many, TWO)).chosen == {"learners": {"trees": rounds}}
    _, whole = stopping(1, TWO)
    assert dict(whole[0].decided) == {}


def test_a_single_training_stops_too_and_is_the_same_again_from_what_was_decided() -> None:
    X, tags = mixed()
    learner = made("lightgbm", trees=200, learning_rate=0.3, l2=0.1, stop_share=0.2)
    trainer = Trainer.of(learner, X, TWO)
    model = trainer.train(tags, Seed(0), TWO)
    decided = FittedEnsemble(Ensemble.of(trainer, [model], TWO)).chosen["learner"]
    assert decided == model.decided
    same = replace(trainer, learner=made("lightgbm", **{**learner.params, **model.decided}))
    again = same.train(tags, Seed(0), TWO)
    assert np.array_equal(model.predict(X, TWO), again.predict(X, TWO))
    assert dict(again.decided) == {}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("combine", ["probabilities", "ranks"])
def test_files_bring_back_every_bit(name: str, combine: Any, tmp_path: Path) -> None:
    X, _ = mixed()
    trainer, members = trained(name)
    ensemble = Ensemble.of(trainer, members, TWO, combine)
    ensemble.save(tmp_path)
    again = Ensemble.load(tmp_path, made(name))
    assert np.array_equal(again.predict(X, TWO), ensemble.predict(X, TWO))
    assert np.array_equal(again.importances(), ensemble.importances())


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_gets_categories_it_can_digest(name: str) -> None:
    X, tags = mixed()
    trainer = Trainer.of(made(name), X, TWO)
    ensemble = Ensemble.of(trainer, [trainer.train(tags, Seed(0), TWO)], TWO)
    found = ensemble.predict(X, TWO)
    city, known = X.values[:, 1], ~np.isnan(X.values[:, 0])
    assert found[known & (city == 2)].mean() > found[known & (city == 1)].mean() + 0.05
    importances = ensemble.importances()
    assert importances.shape == (3,)
    assert importances.sum() == pytest.approx(1)
    assert importances[0] > importances[2]


def test_the_mean_is_the_mean() -> None:
    X, _ = mixed()
    trainer, members = trained("lightgbm")
    each = [model.predict(trainer.X, TWO) for model in members]
    assert np.allclose(Ensemble.of(trainer, members, TWO).predict(X, TWO), np.mean(each, axis=0), rtol=1e-12)


def test_ranks_ignore_how_a_member_spreads_its_probabilities() -> None:
    X, _ = mixed()
    trainer, members = trained("lightgbm")
    ranks = Ensemble.of(trainer, members, TWO, "ranks").predict(X, TWO)
    each = [model.predict(trainer.X, TWO) for model in members]
    exact = np.mean(
        [(rankdata(p) - 0.5) / len(p) for p in each], axis=0
    )  # equal probabilities have equal ranks
    assert np.abs(ranks - exact).max() < 0.02
    assert 0 <= ranks.min() < ranks.max() <= 1


def test_progress_is_told_and_can_stop_the_work() -> None:
    reported: list[float] = []
    trained("logistic", replace(TWO, progress=reported.append))
    assert reported == [0.2, 0.4, 0.6, 0.8, 1.0]

    def stop(share: float) -> None:
        if share > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained("logistic", replace(TWO, progress=stop))


def test_members_wait_for_each_other_where_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = mixed()
    trainer = Trainer.of(made("lightgbm"), X, TWO)
    assert trainer._parallel_trainings(TWO) == 2
    assert trainer._parallel_trainings(replace(TWO, device="cuda")) == 1
    monkeypatch.setattr("pubench.api.trainer.free_memory", lambda: 1000)
    assert trainer._parallel_trainings(TWO) == 1


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"members": 0}', '{"members": "2"}', '{"members": 1e9}', '{"members": 2, "quantiles": [[1]]}',
     '{"members": 5, "quantiles": "x", "intake": null}', '{"members": 5, "intake": 3}', '{"members": 6}'],
)  # fmt: skip
def test_damaged_files_are_refused(content: str, tmp_path: Path) -> None:
    trainer, members = trained("lightgbm")
    Ensemble.of(trainer, members, TWO).save(tmp_path)
    (tmp_path / "ensemble.json").write_text(content)
    with pytest.raises(DataError):
        Ensemble.load(tmp_path, made("lightgbm"))

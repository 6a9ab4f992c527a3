"""Contenders with equal plugin names have different labels."""

from collections.abc import Sequence
from dataclasses import replace

from pubench.leaderboard.runs import collect_runs
from pubench.record.record import Record
from pubench.types import Json
from tests.leaderboard.simulation import Simulate


def test_labels_name_the_settings_that_differ(simulate: Simulate) -> None:
    records = simulate({"a": 1.0}, ["alpha"]) + simulate({"a": 1.0}, ["alpha"], tuned=["a"])
    others: list[dict[str, Json]] = [{"name": "lightgbm", "trees": 100}, {"name": "logistic"}]
    more = [
        replace(one, spec=replace(one.spec, configuration={**one.spec.configuration, "learner": learner}))
        for one in records[:3]
        for learner in others
    ]
    labels = [entry.label for entry in collect_runs(records + more).entries]
    assert labels == [
        "a + lightgbm (trees 100)",
        "a + lightgbm (trees 60)",
        "a + logistic",
        "tuned a + lightgbm",
    ]


def with_prior(records: Sequence[Record], prior: float) -> list[Record]:
    """Return the runs with a method that has a given prior."""
    method: dict[str, Json] = {"name": "a", "prior_from": "given", "prior": prior}
    return [
        replace(one, spec=replace(one.spec, configuration={**one.spec.configuration, "method": method}))
        for one in records
    ]


def test_a_parameter_that_describes_the_data_makes_no_other_contender(simulate: Simulate) -> None:
    first, second = simulate({"a": 1.0}, ["alpha"]), simulate({"a": 1.0}, ["beta"])
    (entry,) = collect_runs(with_prior(first, 0.1) + with_prior(second, 0.2)).entries
    assert entry.label == "a + lightgbm"
    assert entry.configuration["method"] == {"name": "a", "prior_from": "given"}
    both = collect_runs(with_prior(first, 0.1) + with_prior(first, 0.2)).entries
    assert [one.label for one in both] == ["a + lightgbm (prior 0.1)", "a + lightgbm (prior 0.2)"]

"""A record is made of what is known of a run when it ends, however it ends."""

import numpy as np
import pytest

from pubench.api.registry import load_registry
from pubench.configuration.configuration import configure, parse_plugins
from pubench.metrics.intervals import aul_pu_interval
from pubench.record.draft import RecordDraft, data_facts, rows_hash
from pubench.record.record import RunSpec
from pubench.record.record_file import from_document, to_document
from pubench.types import Status, Table

SPEC = RunSpec("d", {"theta_o": 0.5, "rows": None}, "naive", {"method": {"name": "naive"}}, 0, 3, 1)
S = np.array([1, 0, 0, 1, 0, 0], dtype=np.bool_)
SCORES = np.array([0.9, 0.1, 0.2, 0.3, 0.4, 0.5])


def test_a_run_that_succeeds_has_everything() -> None:
    draft = RecordDraft.begin(2)
    configuration = configure(
        parse_plugins({"method": {"name": "naive"}, "learner": {"name": "logistic"}}, "x"), load_registry()
    )
    draft.add_plugins(configuration)
    with draft.timed("fit"):
        pass
    draft.add_scores(S, SCORES)
    draft.add_scores(S, -SCORES, "default_")
    draft.metrics["auc"] = 0.8
    record = draft.record(SPEC)
    interval = aul_pu_interval(S, SCORES)
    assert record.metrics["aul_pu"] == interval.estimate
    assert record.metrics["aul_pu_stderr"] == interval.stderr
    assert set(record.metrics) == {
        "aul_pu",
        "aul_pu_stderr",
        "default_aul_pu",
        "default_aul_pu_stderr",
        "auc",
    }
    assert len(record.placements) == 2
    assert set(record.seconds) == {"fit"}
    assert record.environment["threads"] == 2
    assert set(record.environment) == {"hardware", "threads", "versions"}
    versions = record.environment["versions"]
    assert isinstance(versions, dict)
    assert {"python", "pubench", "scikit-learn"} <= set(versions)
    assert set(record.origins) == {"method", "learner"}
    assert from_document(to_document(record)).spec == SPEC


def test_a_run_that_fails_has_what_was_known_but_no_metrics() -> None:
    draft = RecordDraft.begin(1)
    draft.add_scores(S, SCORES)
    with pytest.raises(ZeroDivisionError), draft.timed("fit"):
        raise ZeroDivisionError
    record = draft.record(SPEC, Status.FAILED, "x" * 5000)
    assert (record.metrics, record.placements, record.seconds) == ({}, (), {})
    assert len(record.reason) == 1000
    from_document(to_document(record))


def test_facts_about_rows() -> None:
    table = Table.from_array(np.arange(12.0).reshape(6, 2))
    facts = data_facts(table, rows_hash(table, S), S[:4], S[4:], stand_in=True)
    assert (facts.rows, facts.features, facts.train_rows, facts.train_labelled) == (6, 2, 4, 2)
    assert (facts.test_rows, facts.test_labelled, facts.stand_in) == (2, 0, True)
    assert facts.hash == rows_hash(table, S.copy())
    assert facts.hash != rows_hash(table, ~S)
    assert facts.hash != rows_hash(Table.from_array(table.values[::-1]), S)

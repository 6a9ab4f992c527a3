"""The records of a run: one per contender, which belong together over several tables and can be run again."""

import shutil
import threading
from pathlib import Path

import pytest

from pubench.api.plugin import Kind
from pubench.api.registry import Registry, load_registry
from pubench.bench.job import JobContext, do_job
from pubench.data.sources import DatasetRequest
from pubench.leaderboard.board import load_board
from pubench.leaderboard.verification import repeatable_spec
from pubench.leaderboard.verification_files import compare_records
from pubench.record.record import Record
from pubench.record.record_file import read_record, read_records
from pubench.system.cache import ignore_notice, machine_cache
from pubench.tuning import command
from pubench.tuning.request import SearchRequest, TuneRequest
from pubench.tuning.trial import TuneCallbacks
from pubench.types import Resources, Status

NAMES = {Kind.METHOD: ["naive", "bagging"], Kind.LEARNER: ["logistic"], Kind.SIMILARITY: ["knn", "kernel"]}


def asked(rows: int, out: Path, trials: int, *baselines: str) -> TuneRequest:
    search = SearchRequest(trials=trials)
    return TuneRequest(DatasetRequest("digits", rows=rows), search, out, NAMES, baselines, n_threads=1)


@pytest.fixture(scope="module")
def built_in() -> Registry:
    return load_registry(environ={"PUBENCH_DISABLE_PLUGIN_AUTOLOAD": "1"})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, built_in: Registry) -> list[Path]:
    """Two runs that ask for the same on different rows."""
    folders = []
    for rows in (500, 600):
        out = tmp_path_factory.mktemp("runs") / f"digits-{rows}"
        request = asked(rows, out, 6, "naive", "bagging")
        command.tune(request, built_in, Resources(), TuneCallbacks(), threading.Event())
        folders.append(out)
    return folders


def records_of(run: Path) -> list[Record]:
    records, unreadable = read_records(run / "records")
    assert unreadable == []
    return records


def test_what_was_asked_for_identifies_a_contender_and_what_was_found_is_chosen(runs: list[Path]) -> None:
    model = read_record(runs[0] / "record.json")
    assert model.spec.method == "blend"
    assert model.spec.configuration == {
        "method": {"name": "blend", "among": ["bagging", "naive"]},
        "similarity": {"name": "any", "among": ["kernel", "knn"]},
        "learner": {"name": "logistic"},
    }
    assert model.spec.tuning == {"trials": 6}
    assert model.spec.view == {"theta_o": 0.5, "rows": 500, "holdout": 0.25}
    assert "configuration" in model.chosen
    assert model.spec.key in {record.spec.key for record in records_of(runs[0])}


def test_the_same_contenders_stand_in_both_runs(runs: list[Path]) -> None:
    first, second = (
        {(one.spec.method, str(one.spec.configuration), str(one.spec.tuning)) for one in records_of(run)}
        for run in runs
    )
    assert {method for method, *_ in first} == {"blend", "naive", "bagging", "oracle"}
    shared = {key for key in first & second if key[0] in {"blend", "oracle"}}
    assert len(shared) == 2


def test_runs_merge_into_one_board(runs: list[Path]) -> None:
    board = load_board(*runs)
    assert len(board.ranked.tasks) == 2
    labels = [entry.label for entry in board.ranked.entries]
    blend = labels.index("tuned blend + logistic")
    assert len(board.ranked.runs_by_entry[blend]) == 2
    assert {entry.method for entry in board.ceilings.entries} == {"oracle"}
    repeated = load_board(runs[0], runs[0])
    assert len(repeated.unreadable) == len(records_of(runs[0]))


def test_every_record_can_be_run_again(runs: list[Path], built_in: Registry) -> None:
    context = JobContext(built_in, (), machine_cache(ignore_notice), 1, runs[0])
    records = records_of(runs[0])
    assert any("blend" in record.chosen["configuration"] for record in records)  # type: ignore[operator]
    for record in records:
        assert record.status is Status.OK
        again = do_job(repeatable_spec(record), context)
        assert again.status is Status.OK, again.reason
        # The parts of a blend rank rows among scores of another cross-fitting; there are three labelled rows in the holdout.
        tolerance = 0.02 if "blend" in str(record.chosen["configuration"]) else 0.005
        assert compare_records(record, again, tolerance).agrees, record.spec


def test_the_records_of_an_earlier_end_of_the_run_are_removed(
    runs: list[Path], built_in: Registry, tmp_path: Path
) -> None:
    copied = tmp_path / "copied"
    shutil.copytree(runs[1], copied)
    command.tune(asked(600, copied, 7, "none"), built_in, Resources(), TuneCallbacks(), threading.Event())
    trials = {record.spec.tuning.get("trials") for record in records_of(copied)}
    assert trials == {7, None}
    assert "oracle" not in {record.spec.method for record in records_of(copied)}

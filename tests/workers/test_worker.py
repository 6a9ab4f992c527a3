"""A worker answers, keeps its limits, is started again after it died, and ends with its host."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from pubench.types import Status
from pubench.workers.limits import Deadline, Limits
from pubench.workers.watch import JobFailedError
from pubench.workers.worker import ClosedError, StoppedError, Worker, WorkerCommand
from tests.workers.targets import answer, ends_soon

ROOT = str(Path(__file__).parents[2])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def worker(log: Path) -> Iterator[Worker]:
    command = WorkerCommand(answer, ("Ann",), {"PYTHONPATH": ROOT, "VARIABLE": "set"})
    started = Worker(command, log)
    yield started
    started.close()


def test_it_answers_with_its_arguments_and_variables_and_prints_to_its_log(worker: Worker, log: Path) -> None:
    worker.begin({"do": "hello"})
    assert worker.receive() == {"name": "Ann", "said": "hello", "variable": "set"}
    worker.stop()
    worker.begin({"do": "again"})
    assert worker.receive()["said"] == "again"
    assert log.exists()


def test_a_job_may_ask_back(worker: Worker) -> None:
    worker.begin({"do": "talk"}, Limits(20), Deadline(time.monotonic() + 20))
    assert worker.receive() == {"asks": 1}
    worker.send({"more": [1, 2]})
    assert worker.receive() == {"got": {"more": [1, 2]}}


@pytest.mark.parametrize(
    ("request_", "limits", "status", "reason"),
    [
        ({"do": "sleep"}, Limits(4), Status.TIMEOUT, "It took longer than 4 s."),
        ({"do": "hoard", "bytes": 2**28}, Limits(20, 2**27), Status.OUT_OF_MEMORY, "more than 0.12 GiB"),
        (
            {"do": "hoard in a child", "bytes": 2**28},
            Limits(20, 2**27),
            Status.OUT_OF_MEMORY,
            "GiB of memory",
        ),
        ({"do": "kill itself", "signal": "SIGSEGV"}, Limits(), Status.FAILED, "(SIGSEGV); see "),
        ({"do": "kill itself", "signal": "SIGKILL"}, Limits(), Status.OUT_OF_MEMORY, "killed from outside"),
        ({"do": "exit", "code": 3}, Limits(), Status.FAILED, "(exit code 3); see "),
    ],
)
def test_a_job_that_fails_says_why_and_the_next_one_is_done(
    worker: Worker, request_: dict[str, object], limits: Limits, status: Status, reason: str
) -> None:
    worker.begin(request_, limits)
    if request_["do"] == "sleep":
        worker.receive()
    with pytest.raises(JobFailedError) as caught:
        worker.receive()
    assert caught.value.status is status
    assert reason in str(caught.value)
    worker.begin({"do": "hello"}, limits)
    assert worker.receive()["said"] == "hello"


def test_a_job_that_closes_the_output_is_killed(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pubench.workers.worker._ENDING_SECONDS", 0.2)
    worker.begin({"do": "close its output"})
    with pytest.raises(JobFailedError):
        worker.receive()


@pytest.mark.parametrize("is_stopped_by_person", [False, True])
def test_a_deadline_and_a_person_stop_it(worker: Worker, is_stopped_by_person: bool) -> None:
    stop = threading.Event()
    worker.begin(
        {"do": "sleep"},
        deadline=Deadline(stop=stop) if is_stopped_by_person else Deadline(time.monotonic() + 4),
    )
    pid = int(worker.receive()["pid"])
    threading.Timer(0.2, stop.set).start()
    started = time.monotonic()
    with pytest.raises(StoppedError):
        worker.receive()
    assert time.monotonic() - started < 10
    assert not psutil.pid_exists(pid)


def test_a_closed_worker_takes_no_jobs(worker: Worker) -> None:
    worker.begin({"do": "sleep"})
    worker.receive()
    threading.Timer(0.2, worker.close).start()
    with pytest.raises((ClosedError, JobFailedError)):
        worker.receive()
    with pytest.raises(ClosedError):
        worker.begin({"do": "hello"})


def test_the_interpreter_is_a_parameter(tmp_path: Path) -> None:
    interpreter = tmp_path / "python"
    interpreter.write_text(f'#!/bin/sh\nVARIABLE=other exec {sys.executable} "$@"\n')
    interpreter.chmod(0o755)
    worker = Worker(WorkerCommand(answer, environment={"PYTHONPATH": ROOT}, interpreter=str(interpreter)))
    worker.begin({"do": "hello"})
    assert worker.receive()["variable"] == "other"
    worker.close()


HOST = """
from pubench.workers.worker import Worker, WorkerCommand
from tests.workers.targets import answer
worker = Worker(WorkerCommand(answer))
worker.begin({"do": "sleep"})
print(worker.receive()["pid"], flush=True)
worker.receive()
"""


def test_it_dies_with_its_host_in_the_middle_of_a_job() -> None:
    host = subprocess.Popen(
        [sys.executable, "-c", HOST], stdout=subprocess.PIPE, cwd=ROOT, env={**os.environ, "PYTHONPATH": ROOT}
    )
    assert host.stdout is not None
    pid = int(host.stdout.readline())
    assert psutil.pid_exists(pid)
    host.send_signal(signal.SIGKILL)
    host.communicate()
    assert ends_soon(pid)

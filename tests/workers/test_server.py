"""A fork server runs each job in a process of its own and reports how it ended."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pubench.workers.limits import Limits
from pubench.workers.server import CANNOT_WRITE, LOG, RESULT, ForkServer
from pubench.workers.watch import ExitStatus
from pubench.workers.worker import ClosedError
from tests.workers.targets import ends_soon, serve

ROOT = str(Path(__file__).parents[2])
LIMITS = Limits(20, 2**32)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ForkServer]:
    monkeypatch.setenv("PYTHONPATH", ROOT)
    started = ForkServer(serve, ("Ben",), 1)
    yield started
    started.close()


def run(
    server: ForkServer, folder: Path, do: str, limits: Limits = LIMITS, **more: Any
) -> tuple[ExitStatus | None, dict[str, Any]]:
    folder.mkdir()
    status = server.run({"do": do, **more}, limits, folder)
    result = folder / RESULT
    return status, json.loads(result.read_text()) if result.is_file() else {}


def test_jobs_have_a_process_each_and_leave_a_result_and_a_log(server: ForkServer, tmp_path: Path) -> None:
    pids = set()
    for number in (1, 2):
        status, result = run(server, tmp_path / str(number), "hello")
        assert status is not None
        assert (status.code, status.exceeded) == (0, "")
        assert status.peak_bytes > 2**20
        assert (result["name"], result["job"]) == ("Ben", number)
        assert (tmp_path / str(number) / LOG).read_text() == "printed by the job\n"
        pids.add(result["pid"])
    assert len(pids) == 2


def test_limits_are_enforced_and_no_limit_is_possible(server: ForkServer, tmp_path: Path) -> None:
    status, _ = run(server, tmp_path / "a", "sleep", Limits(0.3, 2**32))
    assert status is not None
    assert (status.exceeded, status.code) == ("time", -9)
    status, _ = run(server, tmp_path / "b", "hoard", Limits(20, 2**27), bytes=2**28)
    assert status is not None
    assert status.exceeded == "memory"
    assert status.peak_bytes > 2**27
    status, result = run(server, tmp_path / "c", "hello", Limits())
    assert result["said"] == "hello"


def test_a_job_that_fails_or_cannot_write_has_an_exit_code(server: ForkServer, tmp_path: Path) -> None:
    status, _ = run(server, tmp_path / "a", "fail")
    assert status is not None
    assert status.code == 1
    assert "RuntimeError: It broke." in (tmp_path / "a" / LOG).read_text()
    status, _ = run(server, tmp_path / "b", "fill the disk")
    assert status is not None
    assert status.code == CANNOT_WRITE


def test_a_server_that_dies_is_started_again(server: ForkServer, tmp_path: Path) -> None:
    status, _ = run(server, tmp_path / "a", "kill the server")
    assert status is None
    status, result = run(server, tmp_path / "b", "hello")
    assert (status is not None, result["job"]) == (True, 1)


def test_a_closed_server_kills_its_job_with_its_children(server: ForkServer, tmp_path: Path) -> None:
    job = threading.Thread(target=run, args=(server, tmp_path / "a", "leave a child"))
    job.start()
    child = tmp_path / "a" / "child"
    deadline = time.monotonic() + 20
    while not (child.exists() and child.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    server.close()
    job.join()
    assert ends_soon(int(child.read_text()))
    with pytest.raises(ClosedError):
        run(server, tmp_path / "b", "hello")

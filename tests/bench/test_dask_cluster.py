"""A suite on a real Dask cluster, a worker of which is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from click.testing import Result

from pubench.record.record_file import read_records

Bench = Callable[..., Result]
WriteSuite = Callable[..., Path]
NAPS = "seeds = [0, 1, 2]\n[jobs.parameters.method.good]\nnap = 0.7\n"
TASK_CODE = "from {} import main; main()"


class Cluster:
    """A scheduler and workers as processes of their own, which end with the test."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack, self._folder = stack, folder
        path = folder / "scheduler.json"
        quiet = ("--no-dashboard", "--no-show", "--port", "0", "--scheduler-file", str(path))
        self._start("distributed.cli.dask_scheduler", *quiet)
        deadline = time.monotonic() + 40
        while not path.exists() or not path.read_text().strip():
            assert time.monotonic() < deadline, "the scheduler does not start"
            time.sleep(0.05)
        self.address = str(json.loads(path.read_text())["address"])

    def add_worker(self) -> "subprocess.Popen[bytes]":
        quiet = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--local-directory", str(self._folder))
        return self._start("distributed.cli.dask_worker", self.address, *quiet)

    def _start(self, module: str, *arguments: str) -> "subprocess.Popen[bytes]":
        log = self._stack.enter_context((self._folder / f"{module}.log").open("ab"))
        process = subprocess.Popen([sys.executable, "-m", module, *arguments], stdout=log, stderr=log)
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(stack, tmp_path)


def test_a_worker_dies_and_another_joins_and_every_job_is_recorded_once(
    cluster: Cluster, write_suite: WriteSuite, faulty: Path, tmp_path: Path
) -> None:
    suite, out = write_suite("good", "crashes", more=NAPS), tmp_path / "out"
    doomed, _ = cluster.add_worker(), cluster.add_worker()
    command = [sys.executable, "-c", "from pubench.cli.main import main; main()", "bench", str(suite)]
    command += ["--cluster", cluster.address, "--plugin", str(faulty), "--out", str(out), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as runner:
        deadline = time.monotonic() + 60
        while not list((out / "records").glob("[0-9a-f]*.json")):
            assert time.monotonic() < deadline, "no job ends"
            assert runner.poll() is None, runner.communicate()
            time.sleep(0.05)
        os.kill(doomed.pid, signal.SIGKILL)
        cluster.add_worker()
        output, messages = runner.communicate(timeout=90)
    assert runner.returncode == 0, messages
    assert json.loads(output)["ended"] == {"ok": 6, "failed": 6}
    records, unreadable = read_records(out / "records")
    assert (len(records), unreadable) == (12, [])
    assert {record.reason for record in records if record.reason} == {"Its process crashed (SIGSEGV)."}


def test_a_scheduler_that_does_not_answer_is_one_sentence(bench: Bench, write_suite: WriteSuite) -> None:
    result = bench(write_suite("good"), "--cluster", "nonsense://nowhere")
    assert result.exit_code == 1
    assert "does not answer" in result.output.strip().splitlines()[-1]

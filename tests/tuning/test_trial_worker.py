"""A trial worker: both sides, without a study."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from pubench.api.registry import Registry
from pubench.configuration.configuration import configure, parse_plugins
from pubench.crossfit.folds import FoldPlan
from pubench.tuning.command import run_trial_worker
from pubench.tuning.trial_worker import TrialContext, TrialWorker
from pubench.types import FloatVector, PUData
from pubench.workers.limits import Deadline, Limits

PLAN = FoldPlan(test_unlabeled=100, test_per_labelled=2)
ROOT = str(Path(__file__).parents[2])


@pytest.fixture
def folder(tmp_path: Path, data: PUData) -> Path:
    path = tmp_path / "work"
    path.mkdir()
    TrialContext(data, PLAN, 0, 1, "cpu").write(path)
    return path


def test_a_context_comes_back_and_rows_are_mapped_from_the_file(folder: Path, data: PUData) -> None:
    assert {path.name for path in folder.iterdir()} == {"job.json", "values.npy", "labelled.npy"}
    context = TrialContext.read(folder)
    np.testing.assert_array_equal(context.data.X.values, data.X.values)
    np.testing.assert_array_equal(context.data.s, data.s)
    assert context.data.X.features == data.X.features
    assert (context.plan, context.seed, context.n_threads, context.device) == (PLAN, 0, 1, "cpu")


def test_folds_come_one_by_one_and_scores_of_a_whole_trial_are_written(
    folder: Path, registry: Registry, toy_file: Path
) -> None:
    configuration = configure(parse_plugins({"method": {"name": "toy"}}, "x"), registry)
    worker = TrialWorker(run_trial_worker, folder, [str(toy_file)], 3)
    folds: list[tuple[int, FloatVector]] = []
    shares: list[float] = []

    def go_on(fold: int, placements: FloatVector) -> bool:
        folds.append((fold, placements))
        return len(folds) != 6  # the second trial is stopped after its first fold

    try:
        complete = [
            worker.judge(configuration, trial, go_on, Limits(60), Deadline(), shares.append)
            for trial in (7, 8)
        ]
    finally:
        worker.stop()
    assert complete == [True, False]
    assert [fold for fold, _ in folds] == [0, 1, 2, 3, 4, 0]
    np.testing.assert_array_equal(folds[0][1], folds[5][1])
    assert [path.name for path in folder.glob("scores-*.npy")] == ["scores-7.npy"]
    assert (folder / "worker-3.log").exists()


HOST = """
import json, sys
from pathlib import Path
from pubench.api.registry import load_registry
from pubench.configuration.configuration import configure, parse_plugins
from pubench.tuning.command import run_trial_worker
from pubench.tuning.trial_worker import TrialWorker
from pubench.workers.limits import Deadline, Limits
folder, toy = Path(sys.argv[1]), sys.argv[2]
configuration = configure(
    parse_plugins({"method": {"name": "toy", "mode": "hang"}}, "x"), load_registry([Path(toy)])
)
worker = TrialWorker(run_trial_worker, folder, [toy])
worker.judge(configuration, 0, lambda fold, placements: True, Limits(), Deadline(), lambda share: None)
"""


def test_a_trial_dies_with_its_study(folder: Path, toy_file: Path) -> None:
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, str(folder), str(toy_file)], env={**os.environ, "PYTHONPATH": ROOT}
    )
    deadline = time.monotonic() + 60
    while not (workers := psutil.Process(host.pid).children()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(2)  # it has begun the trial
    host.send_signal(signal.SIGKILL)
    host.wait()
    _, alive = psutil.wait_procs(workers, timeout=10)
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []

"""A run that was interrupted is resumed: no record is lost, no job is done twice."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
from click.testing import Result

from pubench.api.registry import load_registry
from pubench.bench.executors import LocalExecutor
from pubench.bench.job_server import local_servers
from pubench.bench.plan import make_plan
from pubench.bench.suite_file import read_suite
from pubench.record.record_file import read_records
from pubench.seeds import Seed
from pubench.types import Status
from pubench.workers.limits import Limits

Bench = Callable[..., Result]
WriteSuite = Callable[..., Path]
NAPS = "seeds = [0, 1, 2, 3]\n[jobs.parameters.method.good]\nnap = 0.15\n"


def stamps(out: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (out / "records").glob("[0-9a-f]*.json")}


def test_what_has_a_record_is_not_run_again_unless_it_is_damaged_or_failed_and_asked_for(
    bench: Bench, write_suite: WriteSuite, tmp_path: Path
) -> None:
    suite, out = write_suite("good", "complains"), tmp_path / "out"
    assert bench(suite, "--resume").exit_code == 2  # there is nothing yet
    first = json.loads(bench(suite, "--only", "method=good", "--json").stdout)
    assert (first["ran"], first["jobs"]) == (2, 2)
    second = json.loads(bench(suite, "--resume", "--json").stdout)
    assert (second["ran"], second["ended"]) == (2, {"ok": 2, "failed": 2})
    before = stamps(out)
    third = json.loads(bench(suite, "--retry", "timeout", "--json").stdout)
    assert third["ran"] == 0
    assert stamps(out) == before
    fourth = json.loads(bench(suite, "--retry", "failed", "--json").stdout)
    assert fourth["ran"] == 2
    changed = {name for name, stamp in stamps(out).items() if stamp != before[name]}
    assert changed == {
        f"{r.spec.key}.json" for r in read_records(out / "records")[0] if r.status is Status.FAILED
    }
    next((out / "records").glob("*.json")).write_text("{")
    assert json.loads(bench(suite, "--json").stdout)["ran"] == 1
    assert read_records(out / "records")[1] == []


def test_killed_at_any_moment_it_goes_on_and_no_record_is_lost_or_doubled(
    write_suite: WriteSuite, faulty: Path, tmp_path: Path
) -> None:
    suite, out = write_suite("good", more=NAPS), tmp_path / "out"
    command = [sys.executable, "-c", "from pubench.cli.main import main; main()", "bench", str(suite)]
    command += ["--plugin", str(faulty)]
    generator = Seed(0).generator()
    seen: dict[str, int] = {}
    for _ in range(3):
        runner = subprocess.Popen([*command, "--out", str(out), "--quiet"], stdout=subprocess.DEVNULL)
        wait_for_more(out, len(seen))
        time.sleep(float(generator.uniform(0, 0.4)))
        servers = psutil.Process(runner.pid).children(recursive=True)
        os.kill(runner.pid, signal.SIGKILL)
        runner.wait()
        assert seen.items() <= stamps(out).items()  # what was there is there, and was not written again
        seen = stamps(out)
        _, alive = psutil.wait_procs(servers, timeout=5)
        assert alive == []  # jobs end with their runner
    done = subprocess.run([*command, "--out", str(out), "--json", "--quiet"], capture_output=True, check=True)
    summary = json.loads(done.stdout)
    assert summary["ended"] == {"ok": 8}
    assert summary["ran"] == 8 - len(seen)
    assert seen.items() <= stamps(out).items()
    records, unreadable = read_records(out / "records")
    assert (len(records), unreadable) == (8, [])


def wait_for_more(out: Path, count: int) -> None:
    deadline = time.monotonic() + 30
    while len(list((out / "records").glob("[0-9a-f]*.json"))) <= count:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_two_runners_do_not_share_a_folder(write_suite: WriteSuite, bench: Bench, tmp_path: Path) -> None:
    suite = write_suite("good")
    (tmp_path / "out").mkdir()
    holder = (
        "import fcntl, sys, time\n"
        f"file = open({str(tmp_path / 'out' / 'lock')!r}, 'w')\n"
        "fcntl.flock(file, fcntl.LOCK_EX); print('held', flush=True); time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", holder], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        result = bench(suite)
        assert result.exit_code == 2
        assert "Another process is working on" in result.output
    finally:
        process.kill()
        process.communicate()


def test_equal_jobs_give_equal_figures_whatever_runs_beside_them(
    write_suite: WriteSuite, faulty: Path
) -> None:
    registry = load_registry([faulty])
    jobs = make_plan(read_suite(write_suite("good")), registry).jobs
    limits = Limits(60, 4 * 2**30)
    figures = []
    for workers in (1, 2):
        with local_servers(workers, (str(faulty),)) as servers:
            ended = LocalExecutor(servers).run(jobs, limits, lambda _: None)
            records = {job.spec.key: finished.record for job, finished in ended}
        assert {tuple(sorted(one.seconds)) for one in records.values()} == {
            ("fit", "load", "predict", "total")
        }
        figures.append({key: (one.metrics, one.placements) for key, one in records.items()})
    assert figures[0] == figures[1]
    assert len(figures[0]) == 2

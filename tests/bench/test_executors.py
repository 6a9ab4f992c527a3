"""Whatever a plugin does, its job ends with a record that says so, and the suite goes on."""

import json
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from click.testing import Result

from pubench.record.record import Record
from pubench.record.record_file import read_records
from pubench.types import Status

Bench = Callable[..., Result]
WriteSuite = Callable[..., Path]

ENDINGS = {
    "good": (Status.OK, ""),
    "hoards": (Status.OUT_OF_MEMORY, "GiB of memory, more than"),
    "grabs": (Status.OUT_OF_MEMORY, "Memory ran out"),
    "sleeps": (Status.TIMEOUT, "longer than"),
    "closes-all": (Status.TIMEOUT, "longer than"),
    "leaves-children": (Status.TIMEOUT, "longer than"),
    "crashes": (Status.FAILED, "SIGSEGV"),
    "leaves": (Status.FAILED, "exit code 3"),
    "declines": (Status.NOT_APPLICABLE, "It does not like these rows."),
    "complains": (Status.FAILED, "RuntimeError: It broke in two lines."),
    "exhausts": (Status.OUT_OF_MEMORY, "no more"),
    "nan": (Status.FAILED, "scores must be finite"),
    "few": (Status.FAILED, "rows"),
    "boasts": (Status.FAILED, "not JSON compliant"),
    "sees-all": (Status.OK, ""),
    "nobody-has-it": (Status.FAILED, "There is no method 'nobody-has-it'"),
}


def records_in(out: Path) -> dict[tuple[str, int], Record]:
    records, unreadable = read_records(out / "records")
    assert unreadable == []
    return {(record.spec.method, record.spec.fold): record for record in records}


def test_every_fault_becomes_a_record_and_the_suite_goes_on(
    bench: Bench, write_suite: WriteSuite, tmp_path: Path
) -> None:
    suite = write_suite(*ENDINGS)
    limits = ("--time-limit", "3s", "--memory-limit", "300M", "--only", "fold=0", "--workers", "2")
    result = bench(suite, *limits, "--json")
    assert result.exit_code == 0, result.output
    records = records_in(tmp_path / "out")
    assert set(records) == {(method, 0) for method in ENDINGS}
    for method, (status, reason) in ENDINGS.items():
        record = records[method, 0]
        assert record.status is status, (method, record.reason)
        assert reason in record.reason, method
    assert 300 * 2**20 < (records["hoards", 0].peak_memory_bytes or 0) < 1000 * 2**20
    assert 3 <= records["sleeps", 0].seconds["total"] < 6
    assert records["good", 0].chosen == {"labelled": 15}  # half of the positives of its training fold
    assert records["sees-all", 0].chosen == {"labelled": 30}
    summary = json.loads(result.stdout)
    assert summary["ended"] == Counter(status.value for status, _ in ENDINGS.values())
    assert not [p for p in psutil.process_iter() if "pubench-test-child" in _words(p)]
    log = tmp_path / "out" / "logs" / f"{records['crashes', 0].spec.key}.log"
    assert "Segmentation fault" in log.read_text()


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def test_data_that_is_not_there_fails_or_is_left_out(
    bench: Bench, write_suite: WriteSuite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUBENCH_DATA", str(tmp_path / "empty"))
    suite = write_suite("good", datasets='["tiny", "creditcard", "nowhere"]')
    bench(suite)
    records, _ = read_records(tmp_path / "out" / "records")
    reasons = {record.spec.dataset: record.reason for record in records}
    assert reasons["tiny"] == ""
    assert "pubench datasets fetch creditcard" in reasons["creditcard"]
    assert "There is no data set 'nowhere'" in reasons["nowhere"]
    suite.write_text('missing_data = "skip"\n' + suite.read_text())
    planned = bench(suite, "--dry-run", "--json")
    assert {(job["spec"]["dataset"], job["due"]) for job in json.loads(planned.stdout)["jobs"]} == {
        ("tiny", False)
    }
    assert "jobs have a record. 0 jobs, about" in " ".join(bench(suite, "--dry-run").stdout.split())
    assert len(json.loads(planned.stdout)["notices"]) == 2


def test_a_suite_of_which_nothing_goes_well_fails(bench: Bench, write_suite: WriteSuite) -> None:
    assert bench(write_suite("nobody-has-it")).exit_code == 1


def test_a_suite_that_is_none_leaves_no_process(bench: Bench) -> None:
    before = {process.pid for process in psutil.Process().children()}  # of other tests
    result = bench("nosuch")
    assert result.exit_code == 2
    left = [process for process in psutil.Process().children() if process.pid not in before]
    assert not [process for process in left if "pubench.workers.entry" in _words(process)]


def test_a_full_disk_stops_the_run_with_a_sentence_and_no_half_record(
    write_suite: WriteSuite, faulty: Path, tmp_path: Path
) -> None:
    suite, out = write_suite("good"), tmp_path / "out"

    def run(most: int) -> subprocess.CompletedProcess[str]:
        program = (
            "import resource, signal, sys\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            f"resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most}))\n"
            "from pubench.cli.main import main\n"
            "main()\n"
        )
        given = ["bench", str(suite), "--plugin", str(faulty), "--out", str(out), "--quiet"]
        return subprocess.run(
            [sys.executable, "-c", program, *given], capture_output=True, text=True, check=False
        )

    full = run(1000)
    assert full.returncode in {1, 2}
    assert full.stderr.strip().startswith("Error: ")
    assert len(full.stderr.strip().splitlines()) == 1
    assert read_records(out / "records") == ([], [])
    assert run(resource.RLIM_INFINITY).returncode == 0
    assert len(records_in(out)) == 2

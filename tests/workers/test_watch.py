"""A process is watched until it is done, has ended, or has to be killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pubench.types import Status
from pubench.workers.limits import Limits
from pubench.workers.watch import ExitStatus, watch

LIMITS = Limits(20, 4 * 2**30)


@contextmanager
def watched(
    program: str, limits: Limits = LIMITS
) -> Iterator[tuple[ExitStatus, bool, subprocess.Popen[bytes]]]:
    """Run a program, which has the descriptor `done`, and yield what came of watching it."""
    ending, done = os.pipe()
    command = [sys.executable, "-c", f"import os, sys, time; done = {done}; {program}"]
    with subprocess.Popen(command, pass_fds=(done,), start_new_session=True) as process:
        os.close(done)
        status, lingers = watch(process.pid, ending, limits, lambda: False)
        os.close(ending)
        yield status, lingers, process


def test_a_process_that_is_done_is_killed_and_left_to_be_waited_for() -> None:
    with watched("os.write(done, b'5000'); time.sleep(60)") as (status, lingers, process):
        assert (status.code, status.exceeded, lingers) == (0, "", True)
        assert status.peak_bytes >= 5000
        assert process.wait(5) == -signal.SIGKILL


def test_a_process_that_held_much_memory_is_waited_for() -> None:
    with watched("os.write(done, b'99000000000'); time.sleep(0.2); sys.exit(7)") as (status, lingers, _):
        assert (status.code, lingers) == (7, False)
        assert status.seconds >= 0.2


def test_what_is_no_number_does_not_count() -> None:
    with watched("os.write(done, b'done'); sys.exit(3)") as (status, lingers, _):
        assert (status.code, lingers) == (3, False)


def test_a_process_that_seems_to_have_ended_keeps_to_its_limits() -> None:
    with watched("os.close(done); time.sleep(60)", Limits(0.5, 2**32)) as (status, lingers, _):
        assert (status.code, status.exceeded, lingers) == (-signal.SIGKILL, "time", False)


def test_a_process_that_leaves_another_behind_has_ended_all_the_same() -> None:
    left = "os.fork() or (time.sleep(60), os._exit(0))"
    with watched(f"{left}; os._exit(4)") as (status, lingers, _):
        assert (status.code, status.exceeded, lingers) == (4, "", False)
        assert status.seconds < 10


@pytest.mark.parametrize(
    ("status", "expected", "reason"),
    [
        (ExitStatus(-9, "time"), Status.TIMEOUT, "It took longer than 90.5 s."),
        (
            ExitStatus(-9, "memory", peak_bytes=3 * 2**29),
            Status.OUT_OF_MEMORY,
            "It took 1.50 GiB of memory, more than 1.00 GiB.",
        ),
        (
            ExitStatus(-9),
            Status.OUT_OF_MEMORY,
            "Its process was killed from outside; most likely memory ran out.",
        ),
        (ExitStatus(-11), Status.FAILED, "Its process crashed (SIGSEGV): details."),
        (ExitStatus(3), Status.FAILED, "Its process crashed (exit code 3): details."),
    ],
)
def test_how_a_process_ended_is_said_in_a_sentence(status: ExitStatus, expected: Status, reason: str) -> None:
    assert status.failure(Limits(90.5, 2**30), ": details") == (expected, reason)
    assert ExitStatus.from_json(status.to_json()) == status

"""A process is watched until it is done, has ended, or has to be killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pubench.experiment.limits import Limits
from pubench.experiment.watching import Ending, watch

LIMITS = Limits(20, 4 * 2**30)


@contextmanager
def watched(program: str, limits: Limits = LIMITS) -> Iterator[tuple[Ending, bool, subprocess.Popen[bytes]]]:
    """Run a program, which has the descriptor `held`, and yield what came of watching it."""
    alive, held = os.pipe()
    command = [sys.executable, "-c", f"import os, sys, time; held = {held}; {program}"]
    with subprocess.Popen(command, pass_fds=(held,), start_new_session=True) as process:
        os.close(held)
        ending, lingers = watch(process.pid, alive, limits, lambda: False)
        os.close(alive)
        yield ending, lingers, process


def test_a_process_that_is_done_is_killed_and_left_to_be_waited_for() -> None:
    with watched("os.write(held, b'5000'); time.sleep(60)") as (ending, lingers, process):
        assert (ending.code, ending.broken, lingers) == (0, "", True)
        assert ending.peak_bytes >= 5000
        assert process.wait(5) == -signal.SIGKILL


def test_a_process_that_held_much_memory_is_waited_for() -> None:
    with watched("os.write(held, b'99000000000'); time.sleep(0.2); sys.exit(7)") as (ending, lingers, _):
        assert (ending.code, lingers) == (7, False)
        assert ending.seconds >= 0.2


def test_what_is_no_number_does_not_count() -> None:
    with watched("os.write(held, b'done'); sys.exit(3)") as (ending, lingers, _):
        assert (ending.code, lingers) == (3, False)


def test_a_process_that_seems_to_have_ended_keeps_to_its_limits() -> None:
    with watched("os.close(held); time.sleep(60)", Limits(0.5, 2**32)) as (ending, lingers, _):
        assert (ending.code, ending.broken, lingers) == (-signal.SIGKILL, "time", False)


def test_a_process_that_leaves_another_behind_has_ended_all_the_same() -> None:
    left = "os.fork() or (time.sleep(60), os._exit(0))"
    with watched(f"{left}; os._exit(4)") as (ending, lingers, _):
        assert (ending.code, ending.broken, lingers) == (4, "", False)
        assert ending.seconds < 10

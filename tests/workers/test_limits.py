"""Limits, deadlines, and what the system enforces."""

import json
import subprocess
import sys
import threading
import time
from math import inf

import pytest

from pubench.workers.limits import Deadline, Limits


@pytest.mark.parametrize("limits", [Limits(), Limits(3), Limits(memory_bytes=2**30), Limits(0.5, 2**20)])
def test_limits_come_back_from_json(limits: Limits) -> None:
    assert Limits.from_json(json.loads(json.dumps(limits.to_json(), allow_nan=False))) == limits
    assert limits.are_set == (limits != Limits())


def test_a_deadline_passes_with_time_or_when_a_person_stops_the_work() -> None:
    stop = threading.Event()
    assert not Deadline().is_set
    assert not Deadline().has_passed
    assert Deadline(time.monotonic() - 1).has_passed
    assert not Deadline(time.monotonic() + 60, stop).has_passed
    stop.set()
    assert Deadline(inf, stop).is_set
    assert Deadline(inf, stop).has_passed


def test_the_system_limits_memory_of_a_process_that_nobody_watches() -> None:
    program = (
        "from pubench.workers.limits import Limits, apply_hard_limits\n"
        "apply_hard_limits(Limits(memory_bytes=2**20))\n"
        "held = b'x' * 3 * 2**30\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "MemoryError" in done.stderr

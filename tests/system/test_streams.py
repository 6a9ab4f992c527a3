"""Output of foreign code is redirected, native or not."""

import os
import subprocess
import sys

import pytest

from pubench.system.streams import silence, stdout_on_stderr


def shout() -> None:
    print("python")
    sys.stdout.flush()
    os.write(1, b"native\n")


def test_stdout_goes_to_stderr_and_comes_back(capfd: pytest.CaptureFixture[str]) -> None:
    with stdout_on_stderr():
        shout()
    shout()
    captured = capfd.readouterr()
    assert sorted(captured.out.split()) == ["native", "python"]
    assert sorted(captured.err.split()) == ["native", "python"]


def test_silence_is_silent_and_ends(capfd: pytest.CaptureFixture[str]) -> None:
    with silence():
        shout()
        os.write(2, b"native error\n")
    assert capfd.readouterr() == ("", "")
    shout()
    assert "native" in capfd.readouterr().out


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_closed_streams_are_left_alone(closed: str) -> None:
    program = "from pubench.system.streams import *; c = stdout_on_stderr(); c.__enter__(); c.__exit__(None, None, None)"
    command = f"'{sys.executable}' -c '{program}' {closed}"
    assert subprocess.run(["bash", "-c", command], check=False).returncode == 0

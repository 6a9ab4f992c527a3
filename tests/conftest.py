"""Fixtures and rules for the whole suite."""

import os
from collections.abc import Iterator
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

matplotlib.use("Agg")  # before anything draws: no test opens a window

ROOT = Path(__file__).parents[1]


@pytest.fixture
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's plugins, aliases, caches and taste in terminals out of every test."""
    terminal = ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE")
    for name in ("PUBENCH_PLUGINS", "PUBENCH_CACHE_LIMIT", *terminal):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PUBENCH_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PUBENCH_CONFIG", str(tmp_path_factory.mktemp("config")))
    monkeypatch.setenv("PUBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(autouse=True)
def _no_figure_stays_open() -> Iterator[None]:
    """Close what a test drew, so that none sees the figures of another."""
    yield
    plt.close("all")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """With PUBENCH_NO_SKIPS set, a skipped test fails the run: CI provides whatever a test may ask for."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not os.environ.get("PUBENCH_NO_SKIPS"):
        return
    skipped = len(reporter.stats.get("skipped", []))
    if skipped:
        reporter.write_line(f"{skipped} tests were skipped, and PUBENCH_NO_SKIPS is set", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED

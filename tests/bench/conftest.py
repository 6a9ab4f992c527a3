"""A suite of small, fast and faulty runs."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pubench.api.registry import Registry, load_registry
from pubench.cli.main import main

FAULTY = Path(__file__).parent / "faulty_plugin.py"

Bench = Callable[..., Result]
WriteSuite = Callable[..., Path]


@pytest.fixture
def faulty() -> Path:
    return FAULTY


@pytest.fixture(scope="session")
def registry() -> Registry:
    """All plugins, and the faulty one."""
    return load_registry([FAULTY])


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Run `pubench bench` with the faulty plugin, into a folder of the test."""

    def run(*arguments: str | Path) -> Result:
        given = ["bench", *map(str, arguments), "--plugin", str(FAULTY), "--out", str(tmp_path / "out")]
        return CliRunner().invoke(main, given)

    return run


@pytest.fixture
def write_suite(tmp_path: Path) -> WriteSuite:
    """Write a suite of these methods on the small data set."""

    def write(*methods: str, more: str = "", datasets: str = '["tiny"]') -> Path:
        path = tmp_path / "mine.toml"
        listed = ", ".join(f'"{method}"' for method in methods)
        path.write_text(
            f'title = "A test"\n[[jobs]]\ndatasets = {datasets}\nmethods = [{listed}]\ntheta_o = 0.5\nfolds = 2\n{more}'
        )
        return path

    return write

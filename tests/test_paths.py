"""Where things are kept."""

from pathlib import Path

from pubench.paths import cache_folder, data_folder


def test_the_environment_decides() -> None:
    assert data_folder({"PUBENCH_DATA": "/somewhere"}) == Path("/somewhere")
    assert cache_folder({"PUBENCH_CACHE": "/elsewhere"}) == Path("/elsewhere")


def test_an_empty_variable_counts_as_unset() -> None:
    assert data_folder({"PUBENCH_DATA": ""}) == data_folder({})
    assert data_folder({}) != cache_folder({})

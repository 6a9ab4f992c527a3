"""Folders and limits from the environment."""

from pathlib import Path

import pytest

from pubench.errors import ParameterError
from pubench.system.paths import DEFAULT_CACHE_LIMIT, cache_folder, cache_limit, data_folder


def test_the_environment_decides() -> None:
    assert data_folder({"PUBENCH_DATA": "/somewhere"}) == Path("/somewhere")
    assert cache_folder({"PUBENCH_CACHE": "/elsewhere"}) == Path("/elsewhere")


def test_an_empty_variable_counts_as_unset() -> None:
    assert data_folder({"PUBENCH_DATA": ""}) == data_folder({})
    assert data_folder({}) != cache_folder({})


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("5GB", 5 * 10**9),
        ("5 gb", 5 * 10**9),
        (" 1.5GiB ", 3 * 2**29),
        ("200MB", 2 * 10**8),
        ("1kib", 1024),
        ("2TB", 2 * 10**12),
        ("0", 0),
        ("", DEFAULT_CACHE_LIMIT),
    ],
)
def test_the_environment_sets_the_limit(text: str, limit: int) -> None:
    assert cache_limit({"PUBENCH_CACHE_LIMIT": text}) == limit


@pytest.mark.parametrize(
    "text", ["5", "plenty", "-1GB", "GB", "1e3GB", "5GBs", "٣GB", "nan", "9" * 400 + "GB"]
)
def test_a_limit_that_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="PUBENCH_CACHE_LIMIT is"):
        cache_limit({"PUBENCH_CACHE_LIMIT": text})

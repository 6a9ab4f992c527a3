"""The folders of pubench on this machine, and the size limit of its cache."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from platformdirs import user_cache_path, user_config_path, user_data_path

from pubench.errors import ParameterError

#: Some twenty tables of a million rows and thirty features with what was computed from them; little compared to the
#: disks of machines that hold such tables.
DEFAULT_CACHE_LIMIT = 5 * 2**30
_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([KMGT])(I?)B", re.IGNORECASE | re.ASCII)


def data_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where data sets are searched first and downloaded to: `PUBENCH_DATA`, or the system's folder for data."""
    return Path(environ.get("PUBENCH_DATA") or user_data_path("pubench")).expanduser()


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where results are cached: `PUBENCH_CACHE`, or the system's folder for caches."""
    return Path(environ.get("PUBENCH_CACHE") or user_cache_path("pubench")).expanduser()


def cache_limit(environ: Mapping[str, str] = os.environ) -> int:
    """The maximum size of the cache in bytes: `PUBENCH_CACHE_LIMIT`, such as 5GB, 500 MiB or 0, else 5 GiB.

    Raises:
        ParameterError: `PUBENCH_CACHE_LIMIT` is no size.
    """
    text = environ.get("PUBENCH_CACHE_LIMIT", "").strip()
    if not text:
        return DEFAULT_CACHE_LIMIT
    if text == "0":
        return 0
    size = _SIZE.fullmatch(text)
    if size is None:
        raise ParameterError(
            f"PUBENCH_CACHE_LIMIT is '{text}', which is no size; write one such as 5GB or 500MB, or 0 for no cache."
        )
    number, letter, binary = size.groups()
    return int(float(number) * (1024 if binary else 1000) ** ("KMGT".index(letter.upper()) + 1))


def config_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the user's own settings are: `PUBENCH_CONFIG`, or the system's folder for settings."""
    return Path(environ.get("PUBENCH_CONFIG") or user_config_path("pubench")).expanduser()


def runs_folder() -> Path:
    """Where run folders are made without `--out`: `runs` below the current folder."""
    return Path("runs").resolve()

"""Where pubench keeps things on this machine."""

import os
from collections.abc import Mapping
from pathlib import Path

from platformdirs import user_cache_path, user_config_path, user_data_path


def data_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where data sets are looked for first and downloaded to: `PUBENCH_DATA`, or the system's place for data."""
    return Path(environ.get("PUBENCH_DATA") or user_data_path("pubench")).expanduser()


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where results are kept that can be computed again: `PUBENCH_CACHE`, or the system's place for caches."""
    return Path(environ.get("PUBENCH_CACHE") or user_cache_path("pubench")).expanduser()


def config_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where a person's own settings are kept: `PUBENCH_CONFIG`, or the system's place for settings."""
    return Path(environ.get("PUBENCH_CONFIG") or user_config_path("pubench")).expanduser()


def runs_folder() -> Path:
    """Where run folders are made unless `--out` says otherwise: `runs` below the current folder."""
    return Path("runs").resolve()

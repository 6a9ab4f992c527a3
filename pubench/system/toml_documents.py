"""TOML files that people write: suites, configurations and search spaces; see `json_documents` for JSON."""

import tomllib
from pathlib import Path
from typing import Any

from pubench.errors import DataError
from pubench.system.foreign_files import read_text


def read_toml_document(path: Path) -> tuple[dict[str, Any], str]:
    """Return the tables in a TOML file, and its text.

    Raises:
        DataError: it cannot be read, is too large, or is not TOML.
    """
    text = read_text(path)
    try:
        return tomllib.loads(text), text
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not TOML: {error}.") from error

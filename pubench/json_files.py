"""JSON objects in files that may come from anywhere."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from pubench.errors import DataError
from pubench.types import Json

#: Larger files are no document of ours; reading them would only fill memory.
_MOST_BYTES = 2**28


def write_json(path: Path, content: Mapping[str, Json]) -> None:
    """Write a JSON object; a float is written with as many digits as make it come back exactly."""
    path.write_text(json.dumps(content, allow_nan=False), encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in `path`, of plain JSON values alone.

    Raises:
        DataError: it can not be read, is no JSON object, or holds NaN or infinity.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise DataError(f"{path} is too large to be read as JSON.")
        content = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
    except OSError as error:
        raise DataError(f"{path} can not be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not a JSON object, or it is damaged.") from error
    if not isinstance(content, dict):
        raise DataError(f"{path} is not a JSON object.")
    return content


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")

"""JSON documents that may come from anybody, against the schema that is published for them."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

_LONGEST_MESSAGE = 200


@cache
def packaged_schema(package: str, name: str) -> dict[str, Any]:
    """Return a JSON Schema that is shipped in a package."""
    return dict(json.loads(files(package).joinpath(name).read_text(encoding="utf-8")))


def broken_rule(document: Mapping[str, Any], package: str, name: str) -> str:
    """Return where and how a document breaks a packaged schema, or an empty text if it does not."""
    errors = list(_validator(package, name).iter_errors(document))
    if not errors:
        return ""
    deepest = max(errors, key=lambda error: len(error.instance_path))
    place = ".".join(str(step) for step in deepest.instance_path) or "it"
    return f"{place}: {deepest.message[:_LONGEST_MESSAGE]}"


@cache
def _validator(package: str, name: str) -> Any:
    import jsonschema_rs  # noqa: PLC0415 - heavy imports happen when used

    return jsonschema_rs.validator_for(packaged_schema(package, name))

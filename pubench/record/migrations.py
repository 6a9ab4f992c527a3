"""Migrates records of older schemas to the current one, one version at a time."""

from collections.abc import Callable, Mapping
from typing import Any

from pubench.errors import DataError
from pubench.record.record import RunSpec

SCHEMA_VERSION = 1

Document = dict[str, Any]


def up_to_date(document: Mapping[str, Any]) -> Document:
    """Return a document of the current version.

    Raises:
        DataError: it has no version, or one that this pubench does not know yet.
    """
    version = document.get("schema", 0)
    if type(version) is not int or version < 0:
        raise DataError("This is not a record: its schema is no version.")
    if version > SCHEMA_VERSION:
        raise DataError(
            f"The record is of schema {version}, and this pubench knows up to {SCHEMA_VERSION}; update pubench."
        )
    migrated = dict(document)
    for step in range(version, SCHEMA_VERSION):
        migrated = _STEPS[step](migrated)
    return migrated


def _from_0(document: Document) -> Document:
    """Bring a record to version 1: version 0 stated no version, knew searches only, and nothing of their rows."""
    try:
        spec, metrics = dict(document["spec"]), dict(document["metrics"])
        spec = {"folds": 1, "tuning": {"trials": int(metrics.pop("trials"))}, **spec}
        spec["method"] = spec["method"].removeprefix("tuned ")
        metrics["aul_pu"] = metrics.pop("aul_pu.tuned")
        metrics["aul_pu_stderr"] = metrics.pop("aul_pu.tuned.stderr")
        key = RunSpec(**spec).key
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(
            "This is not a record: it states no schema, and it is not one of version 0."
        ) from error
    blank: Document = {"data": None, "placements": [], "seconds": {}, "peak_memory_bytes": None}
    return {
        **blank,
        "chosen": {},
        "origins": {},
        **document,
        "schema": 1,
        "spec": spec,
        "key": key,
        "metrics": metrics,
    }


_STEPS: Mapping[int, Callable[[Document], Document]] = {0: _from_0}

"""Brings records of older schemas up to date, one version at a time."""

from collections.abc import Callable, Mapping
from typing import Any

from pubench.errors import DataError

SCHEMA_VERSION = 1

Document = dict[str, Any]


def up_to_date(document: Mapping[str, Any]) -> Document:
    """Return a document of the present version.

    Raises:
        DataError: it states no version, or one that this pubench does not know yet.
    """
    version = document.get("schema", 0)
    if type(version) is not int or version < 0:
        raise DataError("This is no record: its schema is no version.")
    if version > SCHEMA_VERSION:
        raise DataError(
            f"The record is of schema {version}, and this pubench knows up to {SCHEMA_VERSION}; update pubench."
        )
    found = dict(document)
    for step in range(version, SCHEMA_VERSION):
        found = _STEPS[step](found)
    return found


def _from_0(document: Document) -> Document:
    """Bring a record up to version 1: version 0 had no version, one kind of run (a search), and none of its rows."""
    from pubench.records.record import RunSpec  # noqa: PLC0415 - a record's key is made anew with its spec

    try:
        spec, metrics = dict(document["spec"]), dict(document["metrics"])
        spec = {"folds": 1, "tuning": {"trials": int(metrics.pop("trials"))}, **spec}
        spec["method"] = spec["method"].removeprefix("tuned ")
        metrics["aul_pu"] = metrics.pop("aul_pu.tuned")
        metrics["aul_pu_stderr"] = metrics.pop("aul_pu.tuned.stderr")
        key = RunSpec(**spec).key
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError("This is no record: it states no schema and is none of version 0.") from error
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

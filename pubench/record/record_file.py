"""Records in files: written once and whole, checked each time they are read, and migrated from older schemas."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pubench.errors import DataError, one_line
from pubench.record.record import DataFacts, Record, RunSpec
from pubench.system.files import make_folder, write_whole
from pubench.system.foreign_files import refusal, scan_folder
from pubench.system.json_documents import DocumentSchema, check_depth, read_json
from pubench.types import Json, Status

SCHEMA_VERSION = 1
#: A larger file is not a record: that of a fold with 100,000 labelled rows has about a megabyte.
_MAX_BYTES = 4 * 2**20
#: No record nests deeper; JSON that does is meant to do harm.
_MAX_DEPTH = 12
#: Digits of placements: finer than a rank among ten million rows.
_DIGITS = 8
_SCHEMA = DocumentSchema("pubench.record", "record.schema.json", f"record of version {SCHEMA_VERSION}")

Document = dict[str, Any]


@dataclass(frozen=True)
class Unreadable:
    """A file that is not a record, and why."""

    path: Path
    reason: str


def to_document(record: Record) -> dict[str, Json]:
    """Return a record as the JSON object that the schema describes."""
    return {
        "schema": SCHEMA_VERSION,
        "key": record.spec.key,
        "spec": record.spec.to_json(),
        "status": record.status.value,
        "reason": record.reason,
        "data": None if record.data is None else asdict(record.data),
        "metrics": dict(record.metrics),
        "placements": [round(placement, _DIGITS) for placement in record.placements],
        "seconds": {name: round(seconds, 4) for name, seconds in record.seconds.items()},
        "peak_memory_bytes": record.peak_memory_bytes,
        "chosen": dict(record.chosen),
        "origins": dict(record.origins),
        "environment": dict(record.environment),
    }


def from_document(document: Mapping[str, Any]) -> Record:
    """Return the record that a JSON object describes, in this version of the schema or an older one.

    Raises:
        DataError: it breaks the schema, comes from a newer one, or its key does not belong to its spec.
    """
    check_depth(document, _MAX_DEPTH, "This is not a record: it")
    document = up_to_date(document)
    _SCHEMA.check(document)
    _check_counts(document)
    record = Record(
        spec=RunSpec(**document["spec"]),
        status=Status(document["status"]),
        reason=one_line(document["reason"]),
        data=None if document["data"] is None else DataFacts(**document["data"]),
        metrics=document["metrics"],
        placements=tuple(document["placements"]),
        seconds=document["seconds"],
        peak_memory_bytes=document["peak_memory_bytes"],
        chosen=document["chosen"],
        origins=document["origins"],
        environment=document["environment"],
    )
    if record.spec.key != document["key"]:
        raise DataError("The key of a record does not belong to its spec; one of them was changed.")
    return record


def _check_counts(document: Mapping[str, Any]) -> None:
    """Raise `DataError` for a number like 1e3 where a count belongs: a whole number to JSON Schema, a float to Python."""
    spec = document["spec"]
    counts = {"view.rows": spec["view"]["rows"], "peak_memory_bytes": document["peak_memory_bytes"]}
    counts |= {name: spec[name] for name in ("fold", "folds", "seed")} | (document["data"] or {})
    for name, count in counts.items():
        if isinstance(count, float):
            raise DataError(f"This is no record: {name}: {count} is not written as a whole number.")


def write_record(folder: Path, record: Record, *, replace: bool = False) -> Path:
    """Write a record into `folder` as KEY.json and return its path; it appears whole or not at all.

    An existing record is not overwritten, unless it is to be replaced: a run that was done twice is recorded once.

    Raises:
        DataError: the record breaks the schema, or cannot be written.
    """
    document = to_document(record)
    _SCHEMA.check(document)
    path = folder / f"{record.spec.key}.json"
    make_folder(folder)
    if path.exists() and not replace:
        return path
    with write_whole(path, sync=True) as temporary:
        temporary.write_text(f"{json.dumps(document, indent=1, sort_keys=True, allow_nan=False)}\n", "utf-8")
    return path


def read_record(path: Path, *, follow_link: bool = True) -> Record:
    """Return the record in a file.

    Args:
        path: the file.
        follow_link: whether the path itself may be a link, as it may if the user named it.

    Raises:
        DataError: it is not a record; the message names the file.
    """
    try:
        return from_document(read_json(path, max_bytes=_MAX_BYTES, follow_link=follow_link))
    except DataError as error:
        message = str(error)
        raise DataError(message if str(path) in message else f"{path}: {message}") from error


def read_records(folder: Path) -> tuple[list[Record], list[Unreadable]]:
    """Return the records below `folder`, by key, and what is not a record: .json files, and whatever is no regular file.

    Hidden files are ignored. Of two files with one key the first by path counts; the other one is unreadable.

    Raises:
        DataError: the folder, or one below it, cannot be read.
    """
    found = scan_folder(folder)
    records: dict[str, Record] = {}
    unreadable = [
        Unreadable(path, refusal(path)) for name, path in found.refused.items() if not _is_hidden(name)
    ]
    for name, path in found.files.items():
        if _is_hidden(name) or path.suffix != ".json":
            continue
        try:
            record = read_record(path, follow_link=False)
        except DataError as error:
            unreadable.append(Unreadable(path, str(error)))
            continue
        if records.setdefault(record.spec.key, record) is not record:
            unreadable.append(Unreadable(path, f"{path} repeats the record {record.spec.key}."))
    return [records[key] for key in sorted(records)], unreadable


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in name.split("/"))


def schema() -> dict[str, Any]:
    """Return the JSON Schema of records."""
    return _SCHEMA.document()


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

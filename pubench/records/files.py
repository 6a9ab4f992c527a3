"""Records in files: written once and whole, checked whenever they are read."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pubench.atomic import replacing
from pubench.errors import DataError, one_line
from pubench.json_files import read_json
from pubench.records.migrations import SCHEMA_VERSION, up_to_date
from pubench.records.record import DataFacts, Record, RunSpec
from pubench.schemas import broken_rule, packaged_schema
from pubench.types import Json, Status

#: A larger file is no record: that of a fold with 100,000 labelled rows has about a megabyte.
_MOST_BYTES = 4 * 2**20
#: Deeper than any record; JSON that nests further is meant to do harm.
_DEEPEST = 12
#: Placements are kept with so many digits: finer than a rank among ten million rows.
_DIGITS = 8
_SCHEMA = ("pubench.records", "record.schema.json")


@dataclass(frozen=True)
class Unreadable:
    """A file that holds no record, and why."""

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
    _check_depth(document)
    document = up_to_date(document)
    _check(document)
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


def write_record(folder: Path, record: Record, *, replace: bool = False) -> Path:
    """Write a record into `folder` as KEY.json and return its place; it appears whole or not at all.

    A record that is there stays, and the new one is dropped, unless it is to be replaced: whoever comes first wins,
    so that a run that was done twice is recorded once.

    Raises:
        DataError: the record breaks the schema, or can not be written.
    """
    document = to_document(record)
    _check(document)
    path = folder / f"{record.spec.key}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder} can not be made: {error.strerror or error}.") from error
    if path.exists() and not replace:
        return path
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        json.dump(document, file, indent=1, sort_keys=True, allow_nan=False)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())  # a record that is there after a power cut is whole
    return path


def read_record(path: Path) -> Record:
    """Return the record in a file.

    Raises:
        DataError: it is no record; the message names the file.
    """
    try:
        too_large = path.stat().st_size > _MOST_BYTES
    except OSError as error:
        raise DataError(f"{path} can not be read: {error.strerror or error}.") from error
    if too_large:
        raise DataError(f"{path} is too large for a record.")
    try:
        return from_document(read_json(path))
    except DataError as error:
        message = str(error)
        raise DataError(message if str(path) in message else f"{path}: {message}") from error


def read_records(folder: Path) -> tuple[list[Record], list[Unreadable]]:
    """Return the records below `folder`, by key, and the .json files that are none; hidden files are left out.

    Of two files with one key the first by path counts, and the other is named.
    """
    found: dict[str, Record] = {}
    unreadable = []
    for path in sorted(folder.rglob("*.json")):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        try:
            record = read_record(path)
        except DataError as error:
            unreadable.append(Unreadable(path, str(error)))
            continue
        if found.setdefault(record.spec.key, record) is not record:
            unreadable.append(Unreadable(path, f"{path} repeats the record {record.spec.key}."))
    return [found[key] for key in sorted(found)], unreadable


def schema() -> dict[str, Any]:
    """Return the JSON Schema of records."""
    return packaged_schema(*_SCHEMA)


def _check(document: Mapping[str, Any]) -> None:
    broken = broken_rule(document, *_SCHEMA)
    if broken:
        raise DataError(f"This is no record of version {SCHEMA_VERSION}: {broken}.")


def _check_depth(document: object, depth: int = 0) -> None:
    if depth > _DEEPEST:
        raise DataError("This is no record: it nests too deeply.")
    inner = document.values() if isinstance(document, Mapping) else document
    for item in inner if isinstance(inner, Iterable) and not isinstance(inner, str) else ():
        _check_depth(item, depth + 1)

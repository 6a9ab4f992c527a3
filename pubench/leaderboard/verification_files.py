"""What a verification is: a comparison of a record with a second run of its spec, and the file that holds it."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from pubench.errors import DataError, one_line
from pubench.leaderboard.display_names import canonical
from pubench.record.record import Record
from pubench.record.record_file import to_document
from pubench.system.files import make_folder, write_whole
from pubench.system.json_documents import DocumentSchema, read_document
from pubench.types import Json

_SCHEMA_VERSION = 1
_SCHEMA = DocumentSchema("pubench.leaderboard", "verification.schema.json", "verification")
_MAX_BYTES = 2**18
_MAX_DIFFERENCES = 64
_MAX_TEXT_LENGTH = 200


@dataclass(frozen=True)
class Difference:
    """A value that a record states, and what the second run gave instead, as texts."""

    what: str
    recorded: str
    found: str


@dataclass(frozen=True)
class Verification:
    """The comparison of a record with a second run of its spec.

    Attributes:
        key: of the record.
        record: digest of the record's content; for a record that was changed later the verification does not count.
        tolerance: largest difference of a metric that is accepted.
        differences: empty if the second run agrees.
        environment: of the second run.
    """

    key: str
    record: str
    tolerance: float
    differences: tuple[Difference, ...] = ()
    environment: Mapping[str, Json] = field(default_factory=dict)

    @property
    def agrees(self) -> bool:
        """Whether the second run gave the same result."""
        return not self.differences


def record_digest(record: Record) -> str:
    """Return a digest of everything that a record states, 32 hex digits."""
    return blake2b(canonical(to_document(record)).encode(errors="surrogatepass"), digest_size=16).hexdigest()


def compare_records(record: Record, second: Record, tolerance: float) -> Verification:
    """Return the comparison of a record with that of a second run: status, data, and all metrics but standard errors."""
    differences = tuple(_differences(record, second, tolerance))
    return Verification(record.spec.key, record_digest(record), tolerance, differences, second.environment)


def _differences(record: Record, second: Record, tolerance: float) -> Iterator[Difference]:
    if record.status is not second.status:
        text = one_line(f"{second.status.value} {second.reason}")[:_MAX_TEXT_LENGTH]
        yield Difference("status", record.status.value, text)
        return
    if record.data is not None and second.data is not None and record.data.hash != second.data.hash:
        yield Difference("data", record.data.hash, second.data.hash)
    for name in sorted({*record.metrics, *second.metrics}):
        if name.endswith("stderr"):
            continue
        recorded, found = record.metrics.get(name), second.metrics.get(name)
        if recorded is None or found is None or abs(recorded - found) > tolerance:
            yield Difference(name, _metric_text(recorded), _metric_text(found))


def _metric_text(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.6f}"


def verified_folder(records: Path) -> Path:
    """Return the folder of the verifications of a folder of records, which is beside it."""
    return records.absolute().parent / "verified"


def write_verification(folder: Path, verification: Verification) -> Path:
    """Write a verification to KEY.json in `folder`; an earlier one is replaced.

    Raises:
        DataError: the file cannot be written.
    """
    document = {
        "schema": _SCHEMA_VERSION,
        "key": verification.key,
        "record": verification.record,
        "agrees": verification.agrees,
        "tolerance": verification.tolerance,
        "differences": [asdict(difference) for difference in verification.differences[:_MAX_DIFFERENCES]],
        "environment": dict(verification.environment),
    }
    path = folder / f"{verification.key}.json"
    make_folder(folder)
    with write_whole(path) as temporary:
        temporary.write_text(f"{json.dumps(document, indent=1, sort_keys=True, allow_nan=False)}\n", "utf-8")
    return path


def read_verifications(folder: Path, records: Iterable[Record]) -> tuple[dict[str, Verification], list[str]]:
    """Return the verifications of the records by key, and one sentence about each file that does not count.

    A verification does not count if it breaks the schema or if its record was changed since.
    """
    verifications: dict[str, Verification] = {}
    problems = []
    for record in records:
        path = folder / f"{record.spec.key}.json"
        if not os.path.lexists(path):
            continue
        try:
            verifications[record.spec.key] = _read(path, record)
        except DataError as error:
            problems.append(str(error))
    return verifications, problems


def _read(path: Path, record: Record) -> Verification:
    document = read_document(path, _SCHEMA, max_bytes=_MAX_BYTES, follow_link=False)
    if document["key"] != record.spec.key or document["record"] != record_digest(record):
        raise DataError(f"{path} verifies another record than the one of its name; verify it again.")
    differences = tuple(
        Difference(*(one_line(difference[name]) for name in ("what", "recorded", "found")))
        for difference in document["differences"]
    )
    verification = Verification(
        document["key"], document["record"], document["tolerance"], differences, document["environment"]
    )
    if verification.agrees is not document["agrees"]:
        raise DataError(
            f"{path} says that the record agrees and lists differences, or neither; verify it again."
        )
    return verification


def verification_schema() -> dict[str, Any]:
    """Return the JSON Schema of verifications."""
    return _SCHEMA.document()

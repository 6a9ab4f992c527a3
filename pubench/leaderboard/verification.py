"""Records are believed the more, the more often somebody ran them again and found the same."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeAlias

from pubench.atomic import replacing
from pubench.errors import DataError, ParameterError, one_line
from pubench.json_files import read_json
from pubench.leaderboard.labels import canonical
from pubench.records.files import to_document
from pubench.records.record import Record, RunSpec
from pubench.schemas import broken_rule, packaged_schema
from pubench.seeds import Seed
from pubench.types import Json

#: How far a metric may be off: libraries and processors round differently, and trees that split elsewhere move it a
#: little; a fold's own standard error is several times larger.
TOLERANCE = 0.005
_SCHEMA_VERSION = 1
_SCHEMA = ("pubench.leaderboard", "verification.schema.json")
_MOST_BYTES = 2**18

Rerun: TypeAlias = Callable[[RunSpec], Record]


@dataclass(frozen=True)
class Difference:
    """What a record states and what was found instead, as texts."""

    what: str
    recorded: str
    found: str


@dataclass(frozen=True)
class Verification:
    """What came of running a record's spec again.

    Attributes:
        key: of the record.
        record: digest of the record's content: of a record that was changed later nothing is verified.
        tolerance: how far a metric may be off.
        differences: empty where everything agrees.
        environment: where it was run again.
    """

    key: str
    record: str
    tolerance: float
    differences: tuple[Difference, ...] = ()
    environment: Mapping[str, Json] = field(default_factory=dict)

    @property
    def agrees(self) -> bool:
        """Whether the same was found."""
        return not self.differences


def record_digest(record: Record) -> str:
    """Return 32 hex digits that stand for everything a record states."""
    return blake2b(canonical(to_document(record)).encode(errors="surrogatepass"), digest_size=16).hexdigest()


def verify_record(record: Record, rerun: Rerun, tolerance: float = TOLERANCE) -> Verification:
    """Run a record's spec again and compare: status, data, and every metric but standard errors.

    Raises:
        ParameterError: the tolerance is no share.
        PubenchError: what `rerun` raises, where it can not run at all.
    """
    if not 0 <= tolerance <= 1:
        raise ParameterError(f"A tolerance lies between 0 and 1; got {tolerance:g}.")
    found = rerun(record.spec)
    differences = tuple(_differences(record, found, tolerance))
    return Verification(record.spec.key, record_digest(record), tolerance, differences, found.environment)


def _differences(record: Record, found: Record, tolerance: float) -> Iterator[Difference]:
    if record.status is not found.status:
        yield Difference("status", record.status.value, _cut(f"{found.status.value} {found.reason}"))
        return
    if record.data is not None and found.data is not None and record.data.hash != found.data.hash:
        yield Difference("data", record.data.hash, found.data.hash)
    for name in sorted({*record.metrics, *found.metrics}):
        if name.endswith("stderr"):
            continue
        was, now = record.metrics.get(name), found.metrics.get(name)
        if was is None or now is None or abs(was - now) > tolerance:
            yield Difference(name, _figure(was), _figure(now))


def _figure(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.6f}"


def _cut(text: str) -> str:
    return one_line(text)[:200]


def choose(records: Sequence[Record], done: Iterable[str], sample: int, seed: int) -> list[Record]:
    """Return at most `sample` records drawn from those that are not `done`, by key.

    Raises:
        ParameterError: `sample` is less than 1.
    """
    if sample < 1:
        raise ParameterError(f"A sample has at least one record; got {sample}.")
    known = set(done)
    left = sorted((one for one in records if one.spec.key not in known), key=lambda one: one.spec.key)
    order = Seed(seed).child("verify").generator().permutation(len(left))[:sample]
    return [left[i] for i in sorted(order.tolist())]


def write_verification(folder: Path, verification: Verification) -> Path:
    """Write a verification into `folder` as KEY.json; an earlier one is replaced, and a disagreement is written too."""
    document = {
        "schema": _SCHEMA_VERSION,
        "key": verification.key,
        "record": verification.record,
        "agrees": verification.agrees,
        "tolerance": verification.tolerance,
        "differences": [asdict(one) for one in verification.differences[:64]],
        "environment": dict(verification.environment),
    }
    path = folder / f"{verification.key}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder} can not be made: {error.strerror or error}.") from error
    with replacing(path) as temporary:
        temporary.write_text(f"{json.dumps(document, indent=1, sort_keys=True, allow_nan=False)}\n", "utf-8")
    return path


def read_verifications(folder: Path, records: Iterable[Record]) -> tuple[dict[str, Verification], list[str]]:
    """Return what is verified of the records, by key, and a sentence about each file that does not count.

    A verification of a record that was changed since does not count.
    """
    found: dict[str, Verification] = {}
    problems = []
    for record in records:
        path = folder / f"{record.spec.key}.json"
        if not path.is_file():
            continue
        try:
            found[record.spec.key] = _read(path, record)
        except DataError as error:
            problems.append(str(error))
    return found, problems


def _read(path: Path, record: Record) -> Verification:
    if path.stat().st_size > _MOST_BYTES:
        raise DataError(f"{path} is too large for a verification.")
    document = read_json(path)
    _check(document, path)
    if document["key"] != record.spec.key or document["record"] != record_digest(record):
        raise DataError(f"{path} verifies another record than the one of its name; verify it again.")
    differences = tuple(
        Difference(*(one_line(one[name]) for name in ("what", "recorded", "found")))
        for one in document["differences"]
    )
    made = Verification(
        document["key"], document["record"], document["tolerance"], differences, document["environment"]
    )
    if made.agrees is not document["agrees"]:
        raise DataError(
            f"{path} says that the record agrees and lists differences, or neither; verify it again."
        )
    return made


def verification_schema() -> dict[str, Any]:
    """Return the JSON Schema of verifications."""
    return packaged_schema(*_SCHEMA)


def _check(document: Mapping[str, Any], path: Path) -> None:
    broken = broken_rule(document, *_SCHEMA)
    if broken:
        raise DataError(f"{path} is no verification: {broken}.")

"""Records from elsewhere join a folder of records: all of those given, or none."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from pubench.errors import DataError
from pubench.leaderboard.evidence import rows_key
from pubench.records.files import read_record, read_records, write_record
from pubench.records.record import Record
from pubench.types import Json, Status


def add_records(paths: Sequence[Path], folder: Path) -> list[Path]:
    """Check records and copy them into a folder as KEY.json; return the new files.

    Raises:
        DataError: a file is no record or of a newer schema, the folder has a record of the same run, or the data is
            not what the folder's records of the same data set ran on. Nothing is copied then.
    """
    known = read_records(folder)[0] if folder.is_dir() else []
    keys = {record.spec.key for record in known}
    hashes = _hashes(known)
    added: list[Record] = []
    for path in paths:
        record = read_record(path)
        key = record.spec.key
        if key in keys:
            raise DataError(f"{path} repeats the run {key}, of which there is a record; leave it out.")
        keys.add(key)
        _check_data(path, record, hashes)
        added.append(record)
    return [write_record(folder, record) for record in added]


def _hashes(records: Iterable[Record]) -> dict[tuple[str, Json], set[str]]:
    found: dict[tuple[str, Json], set[str]] = {}
    for record in records:
        if record.data is not None:
            found.setdefault(rows_key(record), set()).add(record.data.hash)
    return found


def _check_data(path: Path, record: Record, hashes: dict[tuple[str, Json], set[str]]) -> None:
    """Refuse a record of other data, and take note of data that is new."""
    if record.data is None:
        if record.status is Status.OK:
            raise DataError(f"{path} does not say which data it ran on; run it again with 'pubench bench'.")
        return
    known = hashes.setdefault(rows_key(record), {record.data.hash})
    if record.data.hash not in known:
        raise DataError(
            f"{path} ran on other rows of '{record.spec.dataset}' ({record.data.hash[:12]}) than the records that are "
            f"there ({min(known)[:12]}); fetch the data set anew and run it again."
        )

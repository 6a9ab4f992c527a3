"""Adds submitted records to a folder of records: all of them, or none."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from pubench.errors import DataError
from pubench.leaderboard.runs import rows_key
from pubench.record.record import Record
from pubench.record.record_file import read_record, read_records, write_record
from pubench.system.files import make_folder, temporary_folder
from pubench.types import Json, Status


def add_records(paths: Sequence[Path], folder: Path) -> list[Path]:
    """Check records and copy them into a folder as KEY.json; return the new files.

    Raises:
        DataError: a file is no record or has a newer schema, the folder has a record of the same run, or the data
            differs from that of the folder's records of the same data set; or the folder cannot be written. No record is
            copied then.
    """
    existing = read_records(folder)[0] if folder.is_dir() else []
    keys = {record.spec.key for record in existing}
    hashes = _hashes(existing)
    added: list[Record] = []
    for path in paths:
        record = read_record(path)
        key = record.spec.key
        if key in keys:
            raise DataError(f"{path} repeats the run {key}, of which there is a record; leave it out.")
        keys.add(key)
        _check_data(path, record, hashes)
        added.append(record)
    return _write_all(added, folder)


def _write_all(records: Sequence[Record], folder: Path) -> list[Path]:
    """Write records into a folder beside the others first, as the disk may get full, and then move them there."""
    make_folder(folder)
    moved: list[Path] = []
    try:
        with temporary_folder(folder / "added") as temporary:
            for written in [write_record(temporary, record) for record in records]:
                moved.append(written.rename(folder / written.name))  # noqa: PERF401 - known when an error comes
    except OSError as error:
        for path in moved:
            path.unlink(missing_ok=True)
        raise DataError(f"{folder} cannot be written: {error.strerror or error}.") from error
    return moved


def _hashes(records: Iterable[Record]) -> dict[tuple[str, Json], set[str]]:
    hashes: dict[tuple[str, Json], set[str]] = {}
    for record in records:
        if record.data is not None:
            hashes.setdefault(rows_key(record), set()).add(record.data.hash)
    return hashes


def _check_data(path: Path, record: Record, hashes: dict[tuple[str, Json], set[str]]) -> None:
    """Raise `DataError` for a record of other data; the hash of a new data set is added to `hashes`."""
    if record.data is None:
        if record.status is Status.OK:
            raise DataError(f"{path} does not state the data it ran on; run it again with 'pubench bench'.")
        return
    known = hashes.setdefault(rows_key(record), {record.data.hash})
    if record.data.hash not in known:
        raise DataError(
            f"{path} ran on other rows of '{record.spec.dataset}' ({record.data.hash[:12]}) than the existing records "
            f"({min(known)[:12]}); fetch the data set again and repeat the run."
        )

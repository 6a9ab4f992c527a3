"""Verifies some of a folder's records and writes down what came of it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pubench.errors import DataError, ParameterError, suggestion
from pubench.leaderboard.loading import read_folder, verified_folder
from pubench.leaderboard.verification import (
    Rerun,
    Verification,
    choose,
    read_verifications,
    verify_record,
    write_verification,
)
from pubench.records.record import Record


@dataclass(frozen=True)
class Wish:
    """What is to be verified.

    Attributes:
        keys: of these records; none: a sample.
        sample: so many of those that are not verified yet.
        seed: draws the sample.
        tolerance: how far a metric may be off.
    """

    keys: tuple[str, ...]
    sample: int
    seed: int
    tolerance: float


@dataclass(frozen=True)
class Outcome:
    """What came of it.

    Attributes:
        verifications: of the records that were run again.
        impossible: a sentence about each that can not be run here.
        left: how many records are not verified yet.
    """

    verifications: tuple[Verification, ...]
    impossible: tuple[str, ...]
    left: int


def verify_folder(folder: Path, wish: Wish, rerun: Rerun, tell: Callable[[Verification], None]) -> Outcome:
    """Run some records again, compare, and write the outcome beside the folder, one file each as it comes.

    Raises:
        DataError: there is no such folder or no record in it, or not one of those chosen can be run here.
        ParameterError: there is no record of a key.
    """
    records, _ = read_folder(folder)
    if not records:
        raise DataError(f"{folder} holds no record to verify.")
    place = verified_folder(folder)
    done, _ = read_verifications(place, records)
    chosen = _named(records, wish.keys) if wish.keys else choose(records, done, wish.sample, wish.seed)
    found, impossible = [], []
    for record in chosen:
        try:
            verification = verify_record(record, rerun, wish.tolerance)
        except DataError as error:
            impossible.append(str(error))
            continue
        write_verification(place, verification)
        tell(verification)
        found.append(verification)
    if impossible and not found:
        raise DataError(impossible[0])
    left = {record.spec.key for record in records} - set(done) - {one.key for one in found}
    return Outcome(tuple(found), tuple(impossible), len(left))


def _named(records: list[Record], keys: tuple[str, ...]) -> list[Record]:
    known = {record.spec.key: record for record in records}
    for key in keys:
        if key not in known:
            raise ParameterError(f"There is no record '{key}'.{suggestion(key, known)}")
    return [known[key] for key in keys]

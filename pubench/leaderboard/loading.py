"""From a folder of records to the board."""

from pathlib import Path

from pubench.errors import DataError
from pubench.leaderboard.board import Board, make_board
from pubench.leaderboard.verification import read_verifications
from pubench.records.files import Unreadable, read_records
from pubench.records.record import Record

#: Where the records of this repository are, seen from its top.
RECORDS = Path("leaderboard/records")


def read_folder(folder: Path) -> tuple[list[Record], list[Unreadable]]:
    """Return the records in a folder and the files that are none.

    Raises:
        DataError: there is no such folder.
    """
    if not folder.is_dir():
        raise DataError(f"{folder} is no folder of records; 'pubench bench' makes one.")
    return read_records(folder)


def verified_folder(records: Path) -> Path:
    """Return where verifications of a folder's records are kept: beside it."""
    return records.absolute().parent / "verified"


def load_board(folder: Path) -> Board:
    """Return the board of a folder of records, with what is verified of them.

    Raises:
        DataError: there is no such folder, no record in it, or more than a board can hold.
        PubenchError: scikit-posthocs is not installed.
    """
    records, unreadable = read_folder(folder)
    if not records:
        raise DataError(
            f"{folder} holds no record"
            + (
                f"; the first of {len(unreadable)} files that are none: {unreadable[0].reason}"
                if unreadable
                else "."
            )
        )
    verifications, problems = read_verifications(verified_folder(folder), records)
    unreadable += [Unreadable(verified_folder(folder), problem) for problem in problems]
    return make_board(
        records, verifications, [Unreadable(one.path, _below(one, folder)) for one in unreadable]
    )


def _below(one: Unreadable, folder: Path) -> str:
    """Return the reason without the place of the folder on this machine: it is published."""
    reason = one.reason
    for parent in (folder.absolute().parent, folder.parent):
        reason = reason.replace(f"{parent}/", "") if parent.name else reason
    return reason

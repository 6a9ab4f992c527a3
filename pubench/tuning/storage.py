"""Where a study is kept: a journal beside the run, or a database that many machines share."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pubench.errors import DataError, PubenchError

if TYPE_CHECKING:
    import optuna

_NAME = "pubench"


@contextmanager
def own_study(folder: Path) -> Iterator["optuna.Study"]:
    """Yield the study in the journal of `folder`, made if there is none; no other process may have it meanwhile.

    A journal whose last line was torn by a crash is cut back to its last whole line; nothing that was told is lost.

    Raises:
        DataError: another process works on it, or it can not be written.
    """
    from optuna.storages import JournalStorage  # noqa: PLC0415 - heavy imports happen when used
    from optuna.storages.journal import JournalFileBackend  # noqa: PLC0415

    journal = folder / "journal.log"
    with _only_one(folder):
        _mend(journal)
        # Nobody else is here, so a lock that is left belongs to a process that died.
        journal.with_name("journal.log.lock").unlink(missing_ok=True)
        yield _open(JournalStorage(JournalFileBackend(str(journal))), _NAME)


def shared_study(url: str, name: str) -> "optuna.Study":
    """Return the study of this name in a database, made if there is none.

    Raises:
        PubenchError: the database does not answer; the message does not show its password.
    """
    from optuna.storages import RDBStorage  # noqa: PLC0415
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415

    try:
        storage = RDBStorage(url, engine_kwargs={"pool_pre_ping": True})
    except (SQLAlchemyError, ImportError, ValueError) as error:
        reason = type(error).__name__
        raise PubenchError(
            f"The storage {masked(url)} can not be used ({reason}); check it with 'pubench doctor'."
        ) from None
    return _open(storage, name)


def masked(url: str) -> str:
    """Return a storage's address without its password."""
    from sqlalchemy.engine import make_url  # noqa: PLC0415
    from sqlalchemy.exc import ArgumentError  # noqa: PLC0415

    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return "(an address that can not be read)"


def _open(storage: "optuna.storages.BaseStorage", name: str) -> "optuna.Study":
    import optuna  # noqa: PLC0415

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna.create_study(storage=storage, study_name=name, direction="maximize", load_if_exists=True)


@contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, which the system takes back from a process that dies."""
    try:
        handle = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o666)
    except OSError as error:
        raise DataError(f"{folder} can not be written: {error.strerror or error}.") from error
    try:
        _lock(handle, folder)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, folder: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DataError(
            f"Another process is working on {folder}; wait for it, or choose another --out."
        ) from None


def _mend(journal: Path) -> None:
    """Cut a journal back to its last whole line."""
    if not journal.exists():
        return
    with journal.open("rb+") as file:
        content = file.read()
        if content and not content.endswith(b"\n"):
            file.truncate(content.rfind(b"\n") + 1)

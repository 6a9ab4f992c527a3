"""Where a study is stored: a journal in the run's folder, or a database that many machines share."""

import os
import socket
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pubench.errors import PubenchError
from pubench.system.files import locked_folder
from pubench.system.fingerprint import content_key
from pubench.system.redaction import redacted
from pubench.types import PUData

if TYPE_CHECKING:
    import optuna
    from optuna.storages import RDBStorage
    from optuna.trial import FrozenTrial

#: The attribute of Optuna's trials that holds the whole result of a trial.
RESULT = "result"
#: The attribute of trials whose process has sent its first heartbeat.
_BEGUN = "begun"
_STUDY_NAME = "pubench"
#: Seconds between two heartbeats.
_HEARTBEAT_SECONDS = 10
#: After this number of heartbeats without one, the process of a trial counts as gone.
_MISSED_HEARTBEATS = 6
#: Number of attempts to connect to a database.
_ATTEMPTS = 4
#: For this long a database that answered before may restart; and the time between two attempts.
_RESTART_SECONDS = 15.0
_RETRY_SECONDS = 0.5


@contextmanager
def open_study(url: str | None, folder: Path, data: PUData, space: str) -> Iterator["optuna.Study"]:
    """Yield the study of a run: in a database if there is a URL, otherwise in the journal of its folder.

    Machines with the same rows and the same space share a study of the database: Optuna refuses a choice that has grown.
    Errors are those of `shared_study` and `own_study`.
    """
    if url is None:
        with own_study(folder, f"{_STUDY_NAME}-{space}") as study:
            yield study
    else:
        with shared_study(url, f"{_STUDY_NAME}-{content_key(data.X.values, data.s)[:16]}-{space}") as study:
            yield study


def earlier_trials(study: "optuna.Study") -> "list[FrozenTrial]":
    """Return the complete trials of studies of other spaces on the same rows, in the same storage."""
    from optuna import get_all_study_names, load_study  # noqa: PLC0415 - heavy imports happen when used
    from optuna.trial import TrialState  # noqa: PLC0415

    storage = study._storage  # noqa: SLF001 - Optuna hands it to nobody else
    rows = study.study_name.rpartition("-")[0]
    names = [
        name for name in get_all_study_names(storage) if name.startswith(rows) and name != study.study_name
    ]
    return [
        trial
        for name in sorted(names)
        for trial in load_study(study_name=name, storage=storage).get_trials(
            deepcopy=False, states=(TrialState.COMPLETE,)
        )
        if RESULT in trial.user_attrs
    ]


@contextmanager
def own_study(folder: Path, name: str = _STUDY_NAME) -> Iterator["optuna.Study"]:
    """Yield the study in the journal of `folder`, created if there is none; the folder is locked meanwhile.

    A journal whose last line was cut off by a crash is cut back to its last complete line; no recorded result is lost.

    Raises:
        DataError: another process works on it, or it cannot be written.
    """
    from optuna.storages import JournalStorage  # noqa: PLC0415 - heavy imports happen when used
    from optuna.storages.journal import JournalFileBackend  # noqa: PLC0415

    journal = folder / "journal.log"
    with locked_folder(folder):
        _repair(journal)
        # The folder is locked, so a lock of the journal was left behind by a process that died.
        journal.with_name("journal.log.lock").unlink(missing_ok=True)
        yield _open(JournalStorage(JournalFileBackend(str(journal))), name)


@contextmanager
def shared_study(
    url: str, name: str, heartbeat_seconds: int = _HEARTBEAT_SECONDS
) -> Iterator["optuna.Study"]:
    """Yield the study of this name in a database, created if there is none.

    A trial whose process sends no heartbeat for a while (see `heartbeat`) fails at the next `fail_stale_trials`, and its
    configuration is queued again.

    Args:
        url: of the database.
        name: of the study.
        heartbeat_seconds: time between two heartbeats of a trial; it fails after six times as long without one.

    Raises:
        PubenchError: the database does not answer, or stops answering; the message does not show its password.
    """
    from optuna.exceptions import StorageInternalError  # noqa: PLC0415 - heavy imports happen when used
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415

    storage, study = _connect(url, name, heartbeat_seconds)
    try:
        yield study
    except (SQLAlchemyError, StorageInternalError):
        raise PubenchError(
            f"The storage {masked(url)} stopped answering; run the same command again to continue."
        ) from None
    finally:
        storage.remove_session()
        storage.engine.dispose()


def _connect(url: str, name: str, heartbeat_seconds: int) -> "tuple[RDBStorage, optuna.Study]":
    from optuna.exceptions import StorageInternalError  # noqa: PLC0415
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415

    reason = ""
    for attempt in range(_ATTEMPTS):
        try:
            storage = _database(url, heartbeat_seconds)
            return storage, _open(storage, name)
        except (
            ImportError,
            TypeError,
            ValueError,
        ) as error:  # TypeError: of a query that the driver does not know
            reason = type(error).__name__
            break
        except (SQLAlchemyError, StorageInternalError) as error:
            reason = type(error).__name__
        # When several processes create the tables at the same moment, all but one fail; a moment later the tables exist.
        time.sleep(0.2 * 2**attempt)
    raise PubenchError(
        f"The storage {masked(url)} cannot be used ({reason}); check it with 'pubench doctor'."
    )


def _database(url: str, heartbeat_seconds: int) -> "RDBStorage":
    from optuna.exceptions import ExperimentalWarning  # noqa: PLC0415
    from optuna.storages import RDBStorage  # noqa: PLC0415
    from sqlalchemy import event  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)  # the heartbeat
        storage = RDBStorage(
            url,
            engine_kwargs={"pool_pre_ping": True},
            heartbeat_interval=heartbeat_seconds,
            grace_period=_MISSED_HEARTBEATS * heartbeat_seconds,
            heartbeat_stale_trial_callback=queue_again,
        )
    # A connection that was lost is noticed before it is used; that of a server that restarts can be made a little later.
    event.listen(storage.engine, "do_connect", _connect_patiently)
    return storage


def _connect_patiently(dialect: Any, _: object, arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Connect to a database that may be restarting; `options` are its connection's, and not changed."""
    until = time.monotonic() + _RESTART_SECONDS
    while True:
        try:
            return dialect.connect(*arguments, **options)
        except dialect.loaded_dbapi.OperationalError:
            if time.monotonic() >= until:
                raise
        time.sleep(_RETRY_SECONDS)


@contextmanager
def heartbeat(study: "optuna.Study", trial: "optuna.Trial") -> Iterator[None]:
    """Send heartbeats of a trial in the background; in a journal, which only one process uses, do nothing."""
    from optuna.storages._heartbeat import BaseHeartbeat, get_heartbeat_thread  # noqa: PLC0415

    # Optuna sends heartbeats in `optimize` only, which supports neither processes nor limits.
    storage, number = study._storage, trial._trial_id  # noqa: SLF001
    if isinstance(storage, BaseHeartbeat):
        storage.record_heartbeat(number)
        trial.set_user_attr(_BEGUN, value=True)
    with get_heartbeat_thread(number, storage):
        yield


def fail_stale_trials(study: "optuna.Study") -> None:
    """Fail the trials of processes that are gone, in a storage that many share, and queue their configurations again."""
    from optuna import storages  # noqa: PLC0415
    from optuna.exceptions import ExperimentalWarning, UpdateFinishedTrialError  # noqa: PLC0415
    from optuna.storages._heartbeat import BaseHeartbeat  # noqa: PLC0415
    from optuna.trial import TrialState  # noqa: PLC0415

    storage = study._storage  # noqa: SLF001
    seconds = storage.get_heartbeat_interval() if isinstance(storage, BaseHeartbeat) else None
    if seconds is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        storages.fail_stale_trials(study)
    # Optuna waits forever for a trial whose process was gone before its first heartbeat.
    latest_start = datetime.now() - timedelta(seconds=_MISSED_HEARTBEATS * seconds)
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        if _BEGUN not in trial.user_attrs and trial.datetime_start and trial.datetime_start < latest_start:
            with suppress(UpdateFinishedTrialError):  # another process was faster
                study.tell(trial.number, state=TrialState.FAIL)
                queue_again(study, trial)


def queue_again(study: "optuna.Study", trial: "FrozenTrial") -> None:
    """Queue the configuration of a failed trial, unless the trial has a result that was not yet recorded as its end."""
    if RESULT not in trial.user_attrs:
        study.enqueue_trial(trial.params or trial.system_attrs.get("fixed_params", {}))


def this_process() -> str:
    """Return a name that no other process has, on this machine or another."""
    return f"{socket.gethostname()}-{os.getpid()}"


def masked(url: str) -> str:
    """Return a storage's address without its secrets."""
    return redacted(url) if "://" in url else "(an address that cannot be parsed)"


def _open(storage: "optuna.storages.BaseStorage", name: str) -> "optuna.Study":
    import optuna  # noqa: PLC0415

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna.create_study(storage=storage, study_name=name, direction="maximize", load_if_exists=True)


def _repair(journal: Path) -> None:
    """Cut a journal back to its last complete line."""
    if not journal.exists():
        return
    with journal.open("rb+") as file:
        content = file.read()
        if content and not content.endswith(b"\n"):
            file.truncate(content.rfind(b"\n") + 1)

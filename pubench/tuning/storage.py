"""Where a study is kept: a journal beside the run, or a database that many machines share."""

import os
import socket
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pubench.errors import PubenchError
from pubench.holding import only_one

if TYPE_CHECKING:
    import optuna
    from optuna.storages import RDBStorage
    from optuna.trial import FrozenTrial

#: The attribute of Optuna's trials that holds all that came of one.
RESULT = "result"
#: The attribute of trials whose process has given a first sign of life.
_BEGUN = "begun"
_NAME = "pubench"
#: Seconds between two signs of life.
_BEAT = 10
#: After so many beats without one, a trial's process is gone.
_SILENCE = 6
#: So often a database is asked before it counts as not there.
_CHANCES = 4


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
    with only_one(folder):
        _mend(journal)
        # Nobody else is here, so a lock that is left belongs to a process that died.
        journal.with_name("journal.log.lock").unlink(missing_ok=True)
        yield _open(JournalStorage(JournalFileBackend(str(journal))), _NAME)


@contextmanager
def shared_study(url: str, name: str, beat: int = _BEAT) -> Iterator["optuna.Study"]:
    """Yield the study of this name in a database, made if there is none.

    A trial on which nobody has said to be at work for a while (see `at_work`) is given up at the next
    `give_up_stale`, and its configuration queued again.

    Args:
        url: of the database.
        name: of the study.
        beat: seconds between two signs of life of a trial; it is given up after six times as long.

    Raises:
        PubenchError: the database does not answer, or stops answering; the message does not show its password.
    """
    from optuna.exceptions import StorageInternalError  # noqa: PLC0415 - heavy imports happen when used
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415

    storage, study = _connect(url, name, beat)
    try:
        yield study
    except (SQLAlchemyError, StorageInternalError):
        raise PubenchError(
            f"The storage {masked(url)} stopped answering; the same command goes on where it was."
        ) from None
    finally:
        storage.remove_session()
        storage.engine.dispose()


def _connect(url: str, name: str, beat: int) -> "tuple[RDBStorage, optuna.Study]":
    from optuna.exceptions import StorageInternalError  # noqa: PLC0415
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415

    reason = ""
    for chance in range(_CHANCES):
        try:
            storage = _database(url, beat)
            return storage, _open(storage, name)
        except (ImportError, ValueError) as error:
            reason = type(error).__name__
            break
        except (SQLAlchemyError, StorageInternalError) as error:
            reason = type(error).__name__
        # Of processes that make the tables at the same moment all but one fail, and find them made a moment later.
        time.sleep(0.2 * 2**chance)
    raise PubenchError(
        f"The storage {masked(url)} can not be used ({reason}); check it with 'pubench doctor'."
    )


def _database(url: str, beat: int) -> "RDBStorage":
    from optuna.exceptions import ExperimentalWarning  # noqa: PLC0415
    from optuna.storages import RDBStorage  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)  # the heartbeat
        return RDBStorage(
            url,
            engine_kwargs={"pool_pre_ping": True},
            heartbeat_interval=beat,
            grace_period=_SILENCE * beat,
            heartbeat_stale_trial_callback=queue_again,
        )


@contextmanager
def at_work(study: "optuna.Study", trial: "optuna.Trial") -> Iterator[None]:
    """Say, as long as the context lasts, that this process works on a trial; in a journal, which has one, say nothing."""
    from optuna.storages._heartbeat import BaseHeartbeat, get_heartbeat_thread  # noqa: PLC0415

    # Optuna says so by itself inside of `optimize` only, which knows neither processes nor limits.
    storage, number = study._storage, trial._trial_id  # noqa: SLF001
    if isinstance(storage, BaseHeartbeat):
        storage.record_heartbeat(number)
        trial.set_user_attr(_BEGUN, value=True)
    with get_heartbeat_thread(number, storage):
        yield


def give_up_stale(study: "optuna.Study") -> None:
    """Give up the trials of processes that are gone, in a storage that many share."""
    from optuna.exceptions import ExperimentalWarning, UpdateFinishedTrialError  # noqa: PLC0415
    from optuna.storages import fail_stale_trials  # noqa: PLC0415
    from optuna.storages._heartbeat import BaseHeartbeat  # noqa: PLC0415
    from optuna.trial import TrialState  # noqa: PLC0415

    storage = study._storage  # noqa: SLF001
    beat = storage.get_heartbeat_interval() if isinstance(storage, BaseHeartbeat) else None
    if beat is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        fail_stale_trials(study)
    # Optuna waits for ever for a trial whose process was gone before its first sign of life.
    long_ago = datetime.now() - timedelta(seconds=_SILENCE * beat)
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        if _BEGUN not in trial.user_attrs and trial.datetime_start and trial.datetime_start < long_ago:
            with suppress(UpdateFinishedTrialError):  # another process was faster
                study.tell(trial.number, state=TrialState.FAIL)
                queue_again(study, trial)


def queue_again(study: "optuna.Study", trial: "FrozenTrial") -> None:
    """Queue the configuration of a trial that was given up; one that was judged, and not yet told, is done."""
    if RESULT not in trial.user_attrs:
        study.enqueue_trial(trial.params or trial.system_attrs.get("fixed_params", {}))


def this_process() -> str:
    """Return a name that no other process goes by, on this machine or another."""
    return f"{socket.gethostname()}-{os.getpid()}"


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


def _mend(journal: Path) -> None:
    """Cut a journal back to its last whole line."""
    if not journal.exists():
        return
    with journal.open("rb+") as file:
        content = file.read()
        if content and not content.endswith(b"\n"):
            file.truncate(content.rfind(b"\n") + 1)

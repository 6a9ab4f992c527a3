"""Runs checks one after another and says how each ended."""

import inspect
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias, TypeVar

from pubench.errors import NotApplicableError, PluginError, one_line
from pubench.streams import stdout_on_stderr
from pubench.testing.promises import Remark

Subject = TypeVar("Subject")
#: Raises `PluginError` with the promise that is broken, and lets through whatever the plugin itself raises.
Check: TypeAlias = Callable[[Subject], Remark | None]


class Outcome(StrEnum):
    """How a check ended."""

    OK = "ok"
    DECLINED = "declined"
    BROKEN = "broken"


@dataclass(frozen=True)
class Verdict:
    """What a check found.

    Attributes:
        check: its name.
        promise: what is promised, in one sentence.
        outcome: whether it is kept.
        sentence: what is to be said about it; empty where the promise says it all.
        seconds: how long it took.
    """

    check: str
    promise: str
    outcome: Outcome
    sentence: str
    seconds: float


def run_checks(checks: Mapping[str, Check[Subject]], subject: Subject) -> Iterator[Verdict]:
    """Yield the verdict of each check as it is found; what the plugin prints goes to stderr.

    Whatever a plugin raises breaks a promise. To decline is no fault where a check says so, on tables that are hard;
    whoever declines an ordinary one can not be checked, and that is a broken promise too.
    """
    for name, check in checks.items():
        started = time.perf_counter()
        with stdout_on_stderr():
            outcome, sentence = _ended(check, subject)
        promise = (inspect.getdoc(check) or "").partition("\n")[0]
        yield Verdict(name, promise, outcome, sentence, time.perf_counter() - started)


def _ended(check: Check[Subject], subject: Subject) -> tuple[Outcome, str]:
    try:
        remark = check(subject)
    except PluginError as error:
        return Outcome.BROKEN, str(error)
    except NotApplicableError as error:
        return Outcome.BROKEN, f"It declines an ordinary task: {error}"
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        return Outcome.BROKEN, f"It raises {type(error).__name__}: {one_line(str(error))}"
    if remark is None:
        return Outcome.OK, ""
    return (Outcome.DECLINED if remark.declined else Outcome.OK), remark.text

"""From a plugin of any kind to the verdicts of its checks, one after another."""

import inspect
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pubench.api.dataset import DatasetLoader
from pubench.api.method import Method, Parts
from pubench.api.plugin import Learner, Plugin, Similarity
from pubench.errors import NotApplicableError, PluginError, one_line
from pubench.system.streams import stdout_on_stderr
from pubench.testing.checks import Check, Subject
from pubench.testing.datasets import DATASET_CHECKS, DatasetSubject
from pubench.testing.learners import LEARNER_CHECKS, LearnerSubject
from pubench.testing.methods import METHOD_CHECKS, MethodSubject
from pubench.testing.similarities import SIMILARITY_CHECKS, SimilaritySubject


class CheckOutcome(StrEnum):
    """The outcome of a check."""

    OK = "ok"
    DECLINED = "declined"
    BROKEN = "broken"


@dataclass(frozen=True)
class Verdict:
    """The result of a check.

    Attributes:
        check: its name.
        promise: what is promised, in one sentence.
        outcome: whether it is kept.
        sentence: the broken promise or a remark; empty if there is none.
        seconds: its duration.
    """

    check: str
    promise: str
    outcome: CheckOutcome
    sentence: str
    seconds: float


def run_checks(checks: Mapping[str, Check[Subject]], subject: Subject) -> Iterator[Verdict]:
    """Yield the verdict of each check when it ends; what the plugin prints goes to stderr.

    Any exception of a plugin breaks a promise. On difficult tables, where the check says so, a plugin may decline; one
    that declines an ordinary table breaks a promise too.
    """
    for name, check in checks.items():
        started = time.perf_counter()
        with stdout_on_stderr():
            outcome, sentence = _outcome(check, subject)
        promise = (inspect.getdoc(check) or "").partition("\n")[0]
        yield Verdict(name, promise, outcome, sentence, time.perf_counter() - started)


def _outcome(check: Check[Subject], subject: Subject) -> tuple[CheckOutcome, str]:
    try:
        remark = check(subject)
    except PluginError as error:
        return CheckOutcome.BROKEN, str(error)
    except NotApplicableError as error:
        return CheckOutcome.BROKEN, f"It declines an ordinary task: {error}"
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        return CheckOutcome.BROKEN, f"It raises {type(error).__name__}: {one_line(str(error))}"
    if remark is None:
        return CheckOutcome.OK, ""
    return (CheckOutcome.DECLINED if remark.declined else CheckOutcome.OK), remark.text


@dataclass(frozen=True, eq=False)
class Examination:
    """A plugin and the checks of its kind.

    Attributes:
        checks: by name.
        subject: their argument.
    """

    checks: Mapping[str, Check[Any]]
    subject: object

    def run(self) -> Iterator[Verdict]:
        """Yield the verdict of each check when it ends."""
        return run_checks(self.checks, self.subject)


def examination(plugin: Plugin, parts: Parts) -> Examination:
    """Return the checks of a plugin's kind; a method is given `parts`, the other kinds need none."""
    match plugin:
        case Similarity():
            return Examination(SIMILARITY_CHECKS, SimilaritySubject(plugin))
        case Learner():
            return Examination(LEARNER_CHECKS, LearnerSubject(plugin))
        case Method():
            return Examination(METHOD_CHECKS, MethodSubject(plugin, parts))
        case DatasetLoader():
            return Examination(DATASET_CHECKS, DatasetSubject(plugin))
    raise PluginError(f"There are no checks of a {plugin.kind}.")

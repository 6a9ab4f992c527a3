"""From a plugin of any kind to the checks of its kind."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pubench.dataset_api import DatasetLoader
from pubench.errors import PluginError
from pubench.method_api import Method, Parts
from pubench.plugin_api import Learner, Plugin, Similarity
from pubench.testing.datasets import DATASET_CHECKS, DatasetSubject
from pubench.testing.learner_subjects import LearnerSubject
from pubench.testing.learners import LEARNER_CHECKS
from pubench.testing.methods import METHOD_CHECKS, Subject
from pubench.testing.running import Check, Verdict, run_checks
from pubench.testing.similarities import SIMILARITY_CHECKS, SimilaritySubject


@dataclass(frozen=True, eq=False)
class Examination:
    """A plugin and the checks that are made for it.

    Attributes:
        checks: by name.
        subject: what each of them takes.
    """

    checks: Mapping[str, Check[Any]]
    subject: object

    def run(self) -> Iterator[Verdict]:
        """Yield the verdict of each check as it is found."""
        return run_checks(self.checks, self.subject)


def examination(plugin: Plugin, parts: Parts) -> Examination:
    """Return the checks of a plugin's kind; a method is given `parts`, the other kinds need none."""
    match plugin:
        case Similarity():
            return Examination(SIMILARITY_CHECKS, SimilaritySubject(plugin))
        case Learner():
            return Examination(LEARNER_CHECKS, LearnerSubject(plugin))
        case Method():
            return Examination(METHOD_CHECKS, Subject(plugin, parts))
        case DatasetLoader():
            return Examination(DATASET_CHECKS, DatasetSubject(plugin))
    raise PluginError(f"Nothing is known to check of a {plugin.kind}.")

"""The checks of each kind as pytest classes: subclass one, name your plugin, and each promise is a test.

    from pubench.testing.contracts import SimilarityContract

    class TestMine(SimilarityContract):
        plugin = Mine()

A plugin with parameters that make it quick makes quick tests.
"""

from functools import cache
from typing import ClassVar

import pytest

from pubench.api.dataset import DatasetLoader
from pubench.api.method import Method, Parts
from pubench.api.plugin import Learner, Similarity
from pubench.testing.datasets import DATASET_CHECKS, DatasetSubject
from pubench.testing.learners import LEARNER_CHECKS, LearnerSubject
from pubench.testing.methods import METHOD_CHECKS, MethodSubject
from pubench.testing.similarities import SIMILARITY_CHECKS, SimilaritySubject

# One subject for all tests of a plugin: what is fitted for one test serves the others.
_similarity = cache(SimilaritySubject)
_learner = cache(LearnerSubject)
_method = cache(MethodSubject)
_dataset = cache(DatasetSubject)


class SimilarityContract:
    """What every similarity promises."""

    plugin: ClassVar[Similarity]

    @pytest.mark.parametrize("check", SIMILARITY_CHECKS)
    def test_promise(self, check: str) -> None:
        """Run the check."""
        SIMILARITY_CHECKS[check](_similarity(self.plugin))


class LearnerContract:
    """What every learner promises."""

    plugin: ClassVar[Learner]

    @pytest.mark.parametrize("check", LEARNER_CHECKS)
    def test_promise(self, check: str) -> None:
        """Run the check."""
        LEARNER_CHECKS[check](_learner(self.plugin))


class MethodContract:
    """What every method promises; `parts` are what its `uses` asks for."""

    plugin: ClassVar[Method]
    parts: ClassVar[Parts]

    @pytest.mark.parametrize("check", METHOD_CHECKS)
    def test_promise(self, check: str) -> None:
        """Run the check."""
        METHOD_CHECKS[check](_method(self.plugin, self.parts))


class DatasetContract:
    """What every data set promises; its files are read from the data folder, and not downloaded."""

    plugin: ClassVar[DatasetLoader]

    @pytest.mark.parametrize("check", DATASET_CHECKS)
    def test_promise(self, check: str) -> None:
        """Run the check."""
        DATASET_CHECKS[check](_dataset(self.plugin))

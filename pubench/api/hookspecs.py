"""The hooks by which a package, or a single file, adds plugins. All are called once, when plugins are loaded.

from pubench import Similarity, hookimpl

pubench_api = 1

@hookimpl
def pubench_register_similarities(register):
    register(MySimilarity)
"""

from collections.abc import Callable

import pluggy

from pubench.api.dataset import DatasetLoader
from pubench.api.method import Method
from pubench.api.plugin import Learner, Similarity

PROJECT = "pubench"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def pubench_register_datasets(register: Callable[[type[DatasetLoader]], None]) -> None:
    """Call `register` with each class that loads a data set; then `--dataset NAME` finds it."""


@hookspec
def pubench_register_similarities(register: Callable[[type[Similarity]], None]) -> None:
    """Call `register` with each class that rates unlabeled rows against the labelled positives."""


@hookspec
def pubench_register_learners(register: Callable[[type[Learner]], None]) -> None:
    """Call `register` with each class that trains a binary classifier on tagged rows."""


@hookspec
def pubench_register_methods(register: Callable[[type[Method]], None]) -> None:
    """Call `register` with each class that learns from positive and unlabeled rows."""

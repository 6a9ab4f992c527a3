"""Plugins are configurations: comparable, printable, portable."""

import copy
from dataclasses import dataclass

import numpy as np
import pytest

from pubench.errors import ParameterError
from pubench.plugin_api import FittedSimilarity, Kind, Plugin, Similarity
from pubench.seeds import Seed
from pubench.spaces import Choice, Int
from pubench.types import Affinity, PUData, Resources, Table


class Toy(Plugin):
    """A toy."""

    kind = Kind.SIMILARITY
    name = "toy"
    space = {"k": Int(1, 9, default=3), "rule": Choice(("a", "b"), default="a")}


@dataclass(frozen=True, eq=False)
class FittedDraw(FittedSimilarity):
    data: PUData
    drawn: Affinity
    n_threads: int

    @property
    def affinity(self) -> Affinity:
        return self.drawn

    def score_new(self, X: Table, resources: Resources) -> Affinity:  # noqa: ARG002 - the contract's signature
        return Affinity(np.zeros(X.n_rows))


class Draw(Similarity):
    """Draws, and tells of three steps."""

    name = "draw"

    def fit(self, data: PUData, seed: Seed, resources: Resources) -> FittedDraw:
        for share in (0.0, 0.5, 1.0):
            resources.progress(share)
        drawn = Affinity(seed.generator().random(data.X.n_rows))
        return FittedDraw(data, drawn, resources.n_threads)


DATA = PUData(Table.from_array(np.arange(12.0).reshape(6, 2)), np.array([1, 0, 0, 1, 0, 0]))
FOLDS = [np.array([0, 1, 2]), np.array([1, 2, 3, 4]), np.array([0, 5]), np.arange(6)]


def test_parameters_fill_in_and_can_not_be_changed() -> None:
    toy = Toy(k=4)
    assert dict(toy.params) == {"k": 4, "rule": "a"}
    with pytest.raises(TypeError):
        toy.params["k"] = 5  # type: ignore[index]


def test_equal_parameters_are_equal_plugins() -> None:
    assert Toy(k=3) == Toy()
    assert hash(Toy(k=3)) == hash(Toy())
    assert Toy(k=4) != Toy()
    assert copy.deepcopy(Toy(k=4)) == Toy(k=4)
    assert repr(Toy()) == "Toy(k=3, rule='a')"


def test_the_message_names_the_plugin() -> None:
    with pytest.raises(ParameterError, match="similarity 'toy': k = 10"):
        Toy(k=10)


def test_folds_are_fitted_as_if_alone() -> None:
    together = list(Draw().fit_folds(DATA, FOLDS, Seed(1), Resources(n_threads=3)))
    assert len(together) == len(FOLDS)
    for rows, fitted in zip(FOLDS, together, strict=True):
        alone = Draw().fit(DATA.take(rows), Seed(1), Resources())
        assert isinstance(fitted, FittedDraw)
        assert fitted.n_threads == 3
        assert fitted.affinity.values.tolist() == alone.affinity.values.tolist()
        assert fitted.data.X.values.tolist() == alone.data.X.values.tolist()
        assert fitted.data.s.tolist() == alone.data.s.tolist()


def test_folds_are_fitted_one_by_one_as_they_are_asked_for() -> None:
    told: list[float] = []
    folds = Draw().fit_folds(DATA, FOLDS, Seed(1), Resources(progress=told.append))
    assert told == []
    next(folds)
    assert told == [0, 0.125, 0.25]


def test_progress_runs_once_over_all_folds() -> None:
    told: list[float] = []
    list(Draw().fit_folds(DATA, FOLDS, Seed(1), Resources(progress=told.append)))
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0, 1)
    assert set(told) == {number / 8 for number in range(9)}


def test_work_on_folds_ends_when_progress_raises() -> None:
    def stop(share: float) -> None:
        if share > 0.5:
            raise KeyboardInterrupt

    folds = Draw().fit_folds(DATA, FOLDS, Seed(1), Resources(progress=stop))
    next(folds)
    next(folds)
    with pytest.raises(KeyboardInterrupt):
        next(folds)


def test_no_folds_are_no_work() -> None:
    assert list(Draw().fit_folds(DATA, [], Seed(1), Resources())) == []


def test_a_similarity_has_chosen_nothing_unless_it_says_so() -> None:
    assert dict(Draw().fit(DATA, Seed(1), Resources()).chosen) == {}

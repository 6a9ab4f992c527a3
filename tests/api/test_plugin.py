"""Plugins are configurations: comparable, printable, portable."""

import copy
from dataclasses import dataclass

import numpy as np
import pytest

from pubench.api.plugin import DataSize, FittedSimilarity, Kind, Learner, Plugin, Similarity
from pubench.api.spaces import Choice, Int
from pubench.errors import ParameterError
from pubench.seeds import Seed
from pubench.types import Affinity, PUData, Resources, Table
from pubench_plugins.learners.logistic import Logistic


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
    """Draws, and reports three steps."""

    name = "draw"

    def fit(self, data: PUData, seed: Seed, resources: Resources) -> FittedDraw:
        for share in (0.0, 0.5, 1.0):
            resources.progress(share)
        drawn = Affinity(seed.generator().random(data.X.n_rows))
        return FittedDraw(data, drawn, resources.n_threads)


DATA = PUData(Table.from_array(np.arange(12.0).reshape(6, 2)), np.array([1, 0, 0, 1, 0, 0]))
FOLDS = [np.array([0, 1, 2]), np.array([1, 2, 3, 4]), np.array([0, 5]), np.arange(6)]


def test_parameters_fill_in_and_cannot_be_changed() -> None:
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


class Sized(Logistic):
    """Two defaults that depend on the data, one of them on another parameter too."""

    space = {
        **Logistic.space,
        "depth": Int(1, 9, default=3, help="depth"),
        "trees": Int(1, 1000, default=50, derived=True, help="trees"),
    }

    def derive(self, size: DataSize) -> dict[str, int | float]:
        return {"c": 1 / size.n_features, "trees": size.n_labelled * self.params["depth"], "depth": 9}


SIZE = DataSize(n_rows=1000, n_features=4, n_labelled=20)


def test_data_have_a_size() -> None:
    assert DataSize.of(DATA) == DataSize(n_rows=6, n_features=2, n_labelled=2)


def test_defaults_that_are_declared_so_are_derived_from_the_data() -> None:
    assert dict(Sized().suited_to(SIZE).params) == {"c": 0.25, "depth": 3, "trees": 60}
    assert Sized(depth=2).suited_to(SIZE).params["trees"] == 40


def test_what_is_given_is_never_replaced() -> None:
    assert dict(Sized(c=0.01, trees=50).suited_to(SIZE).params) == {"c": 0.01, "depth": 3, "trees": 50}
    suited = Sized().suited_to(SIZE)
    assert suited.suited_to(DataSize(10, 1, 1)) == suited


def test_a_default_that_is_left_to_the_data_is_not_stated() -> None:
    assert dict(Sized(c=0.01).stated) == {"c": 0.01, "depth": 3}
    assert repr(Sized(c=0.01)) == "Sized(c=0.01, depth=3)"
    assert dict(Sized().params) == {"c": 0.01, "depth": 3, "trees": 50}
    assert Sized() != Sized(trees=50)
    assert Sized() == Sized(**Sized().stated)
    assert Sized().draft().suited_to(SIZE) == Sized().suited_to(SIZE)


def test_a_derived_value_out_of_range_is_refused() -> None:
    with pytest.raises(ParameterError, match="trees = 3000"):
        Sized().suited_to(DataSize(10_000, 4, 1000))


def test_a_learner_derives_nothing_and_holds_nothing_out_by_default() -> None:
    assert dict(Learner.derive(Sized(), SIZE)) == {}
    assert Sized().stop_share == 0


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
    reported: list[float] = []
    folds = Draw().fit_folds(DATA, FOLDS, Seed(1), Resources(progress=reported.append))
    assert reported == []
    next(folds)
    assert reported == [0, 0.125, 0.25]


def test_progress_runs_once_over_all_folds() -> None:
    reported: list[float] = []
    list(Draw().fit_folds(DATA, FOLDS, Seed(1), Resources(progress=reported.append)))
    assert reported == sorted(reported)
    assert (reported[0], reported[-1]) == (0, 1)
    assert set(reported) == {number / 8 for number in range(9)}


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


def test_a_similarity_has_chosen_nothing_by_default() -> None:
    assert dict(Draw().fit(DATA, Seed(1), Resources()).chosen) == {}


def test_a_similarity_has_no_choice_of_k_by_default() -> None:
    assert Draw().fit(DATA, Seed(1), Resources()).k_choice is None

"""The kNN similarity: the credibility of the public search, shared between folds and trials."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.errors import DataError
from pubench.neighbors.k_choice import choose_k
from pubench.neighbors.search import positive_neighbors, positive_neighbors_of_new
from pubench.seeds import Seed
from pubench.system.cache import ArrayCache
from pubench.types import Arrays, BoolVector, IndexVector, PUData, Resources, Table
from pubench_plugins.similarities.knn import K_MAX, KNN, FittedKNN

ONE = Resources(n_threads=1)


def draw(rows: int = 600, labelled: int = 12, hidden: int = 12) -> tuple[PUData, BoolVector]:
    """A cloud, and a small cluster of positives apart from it, some of them labelled; returns the hidden ones too."""
    generator = np.random.default_rng(3)
    X = generator.standard_normal((rows, 5)).astype(np.float32)
    number = generator.permutation(rows)
    X[number < labelled + hidden] = X[number < labelled + hidden] / 3 + 2.5
    return PUData(Table.from_array(X), number < labelled), (number >= labelled) & (number < labelled + hidden)


def given_k(k: int) -> KNN:
    return KNN(k_rule="given", k=k)


def fit(similarity: KNN, data: PUData, resources: Resources = ONE) -> FittedKNN:
    return similarity.fit(data, Seed(0), resources)


def without_each_part(rows: int, parts: int) -> list[IndexVector]:
    part = np.random.default_rng(4).permutation(rows) % parts
    return [np.flatnonzero(part != number) for number in range(parts)]


class Memory:
    """Keeps arrays in a dictionary, and remembers which keys were asked for and which were made."""

    def __init__(self) -> None:
        self.kept: dict[str, Arrays] = {}
        self.asked: list[str] = []

    def __call__(self, key: str, make: Callable[[], Arrays], /) -> Arrays:
        self.asked.append(key)
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]


@pytest.mark.parametrize("k", [1, 7, 50])
def test_the_affinity_is_the_credibility_of_the_public_search(k: int) -> None:
    data, _ = draw()
    fitted = fit(given_k(k), data)
    values = fitted.affinity.values
    np.testing.assert_array_equal(values, positive_neighbors(data.X.values, data.s).credibility(k))
    assert dict(fitted.chosen) == {"k": k}
    assert fitted.choice is None


def test_by_default_k_is_read_off_the_curve() -> None:
    data, _ = draw()
    fitted = fit(KNN(), data)
    found = positive_neighbors(data.X.values, data.s, K_MAX)
    k = choose_k(found.expected_positives()).k
    assert KNN() == KNN(k_rule="plateau")
    assert fitted.k == fitted.chosen["k"] == k
    assert fitted.choice is not None
    assert fitted.choice.k == k
    np.testing.assert_array_equal(fitted.affinity.values, found.credibility(k))


@pytest.mark.parametrize("similarity", [KNN(), given_k(50)], ids=["plateau", "given"])
@pytest.mark.parametrize("rows", [2, 3, 8])
def test_k_is_no_larger_than_there_are_other_rows(similarity: KNN, rows: int) -> None:
    X = np.random.default_rng(0).standard_normal((rows, 2))
    fitted = fit(similarity, PUData(Table.from_array(X), np.arange(rows) == 0))
    assert dict(fitted.chosen) == {"k": rows - 1}
    np.testing.assert_allclose(fitted.affinity.values[1:], 1 / (rows - 1))


@pytest.mark.parametrize("similarity", [KNN(), given_k(9)], ids=["plateau", "given"])
@pytest.mark.parametrize("labelled", [12, 300])
def test_folds_get_what_each_would_alone(similarity: KNN, labelled: int) -> None:
    data, _ = draw(labelled=labelled)
    folds = without_each_part(600, 3) + without_each_part(600, 2)
    found = list(similarity.fit_folds(data, folds, Seed(0), ONE))
    assert len(found) == 5
    for rows, fitted in zip(folds, found, strict=True):
        alone = fit(similarity, data.take(rows))
        np.testing.assert_array_equal(fitted.affinity.values, alone.affinity.values)
        assert fitted.k == alone.k
        np.testing.assert_array_equal(
            fitted.score_new(data.X, ONE).values, alone.score_new(data.X, ONE).values
        )


def test_trials_with_different_k_share_one_search() -> None:
    data, _ = draw()
    memory = Memory()
    resources = Resources(keep=memory)
    for similarity in (KNN(), given_k(3), given_k(20)):
        kept, anew = fit(similarity, data, resources), fit(similarity, data)
        np.testing.assert_array_equal(kept.affinity.values, anew.affinity.values)
        assert kept.k == anew.k
    assert len(memory.asked) == 3
    assert len(memory.kept) == 1


def test_folds_share_one_search_too() -> None:
    data, _ = draw()
    memory, folds = Memory(), without_each_part(600, 3)
    for similarity in (given_k(3), KNN()):
        kept = list(similarity.fit_folds(data, folds, Seed(0), Resources(keep=memory)))
        for rows, fitted in zip(folds, kept, strict=True):
            np.testing.assert_array_equal(
                fitted.affinity.values, fit(similarity, data.take(rows)).affinity.values
            )
    assert len(memory.asked) == 2
    assert len(memory.kept) == 1


def test_other_data_labels_or_folds_are_searched_anew() -> None:
    data, hidden = draw()
    memory = Memory()
    resources = Resources(keep=memory)
    fit(KNN(), data, resources)
    fit(KNN(), PUData(data.X, data.s | hidden), resources)
    fit(KNN(), PUData(Table.from_array(data.X.values + np.float32(1)), data.s), resources)
    list(KNN().fit_folds(data, [np.arange(599)], Seed(0), resources))
    list(KNN().fit_folds(data, without_each_part(600, 2), Seed(0), resources))
    assert len(memory.kept) == 5


def test_a_search_kept_on_disk_gives_the_same(tmp_path: Path) -> None:
    data, _ = draw()
    resources = Resources(keep=ArrayCache(tmp_path))
    first = fit(KNN(), data, resources)
    reported: list[float] = []
    second = fit(KNN(), data, Resources(keep=ArrayCache(tmp_path), progress=reported.append))
    assert reported == [1]  # a search would have reported more
    assert ArrayCache(tmp_path).used_bytes > 0
    assert first.k == second.k
    np.testing.assert_array_equal(first.affinity.values, second.affinity.values)


@pytest.mark.parametrize("similarity", [KNN(), given_k(1), given_k(30)], ids=["plateau", "1", "30"])
def test_new_rows_are_scored_against_the_fitted_ones(similarity: KNN) -> None:
    data, _ = draw()
    X = np.random.default_rng(5).standard_normal((90, 5)).astype(np.float32) + 1
    fitted = fit(similarity, data)
    values = fitted.score_new(Table.from_array(X), ONE).values
    expected = positive_neighbors_of_new(data.X.values, data.s, X, fitted.k).credibility(fitted.k)
    np.testing.assert_array_equal(values, expected)
    assert values.any()


def test_a_new_row_on_a_labelled_one_has_it_as_its_neighbour() -> None:
    data, _ = draw()
    values = fit(given_k(1), data).score_new(data.X, ONE).values
    np.testing.assert_array_equal(values, data.s)


def test_too_few_columns_are_refused() -> None:
    fitted = fit(KNN(), draw()[0])
    with pytest.raises(DataError, match="4 columns"):
        fitted.score_new(Table.from_array(np.ones((3, 4), np.float32)), ONE)


def test_missing_values_are_refused() -> None:
    data, _ = draw()
    holes = np.where(np.arange(5) == 2, np.nan, data.X.values)
    with pytest.raises(DataError, match="missing"):
        fit(KNN(), PUData(Table.from_array(holes), data.s))


def test_hidden_positives_rank_above_the_rest() -> None:
    data, hidden = draw()
    fitted = fit(KNN(), data)
    values, rest = fitted.affinity.values, ~hidden & ~data.s
    assert (values[hidden][:, None] > values[rest]).mean() > 0.99
    generator = np.random.default_rng(6)
    cluster = Table.from_array((generator.standard_normal((50, 5)) / 3 + 2.5).astype(np.float32))
    assert fitted.score_new(cluster, ONE).values.min() > values[rest].mean()


def test_neither_seeds_nor_threads_change_a_bit() -> None:
    data, _ = draw()
    one, two = KNN().fit(data, Seed(0), ONE), KNN().fit(data, Seed(1), Resources(n_threads=2))
    np.testing.assert_array_equal(one.affinity.values, two.affinity.values)


class StoppedError(Exception):
    pass


def stop(share: float) -> None:
    raise StoppedError(f"at {share}")


def test_nothing_is_kept_of_work_that_was_stopped() -> None:
    data, _ = draw()
    memory = Memory()
    with pytest.raises(StoppedError):
        fit(KNN(), data, Resources(keep=memory, progress=stop))
    assert memory.kept == {}


def test_it_is_found_by_its_name() -> None:
    assert load_registry().find("knn", Kind.SIMILARITY).plugin is KNN


def test_the_choice_of_k_is_declared_whether_k_is_given_or_not() -> None:
    data, _ = draw()
    chosen, given = fit(KNN(), data), fit(given_k(7), data)
    for fitted in (chosen, given):
        choice = fitted.k_choice
        assert choice.k == chosen.chosen["k"]
        np.testing.assert_array_equal(choice.expected, fitted.neighbors.expected_positives())
    assert given.chosen["k"] == 7

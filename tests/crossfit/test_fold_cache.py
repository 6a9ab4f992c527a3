"""What trials share does not change their results."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pubench.api.method import Parts
from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.configuration.configuration import Configuration, PluginSpec, configure
from pubench.crossfit.cross_fit import cross_fit
from pubench.crossfit.fold_cache import FoldCache
from pubench.crossfit.folds import FoldPlan, inner_folds
from pubench.seeds import Seed
from pubench.types import PUData, Resources

REGISTRY = load_registry()
TWO = Resources(n_threads=2)
SEED = Seed(0).child("study")


def made(name: str, **params: object) -> Any:
    return REGISTRY.find(name).plugin(**params)  # type: ignore[arg-type]


def configured(learner: str, similarity: str = "knn", **params: object) -> Configuration:
    return configure(
        {
            Kind.METHOD: PluginSpec("probtagging", {"members": 5, **params}),
            Kind.SIMILARITY: PluginSpec(similarity),
            Kind.LEARNER: PluginSpec(learner),
        },
        REGISTRY,
    )


@pytest.mark.parametrize("similarity", ["knn", "kernel", "isolation"])
def test_a_trial_with_a_cache_is_a_trial_without(data: PUData, similarity: str) -> None:
    configuration = configured("logistic", similarity)
    folds = inner_folds(data.s, FoldPlan(), SEED)
    shared = list(
        cross_fit(configuration.method, configuration.parts, FoldCache(data, folds, SEED), SEED, TWO)
    )
    for fold, result in zip(folds, shared, strict=True):
        train, test = data.take(fold.rows), data.take(fold.test)
        # The embedding of a study is fitted on all of its rows, so only the order of similarity is compared.
        alone = configuration.method.fit(train, configuration.parts, SEED.child("fold", fold.number), TWO)
        scores = alone.score(test.X, TWO).values
        assert np.corrcoef(scores, result.scores)[0, 1] > 0.98


def test_members_and_trials_share_what_is_prepared(data: PUData) -> None:
    folds = inner_folds(data.s, FoldPlan(), SEED)
    cache = FoldCache(data, folds, SEED)
    parts = cache.parts(1, configured("lightgbm").parts)
    first = parts.trainer(cache.training[1].X, TWO)
    other = replace(parts, learner=made("lightgbm", depth=5))
    again = other.trainer(cache.training[1].X, TWO)
    assert again.prepared is first.prepared
    assert again.learner.params["depth"] == 5
    assert parts.trainer(cache.training[0].X, TWO).prepared is not first.prepared


def test_order_of_trials_does_not_matter(data: PUData) -> None:
    folds = inner_folds(data.s, FoldPlan(), SEED)
    a, b = configured("lightgbm"), configured("lightgbm", tags="soft")
    cache = FoldCache(data, folds, SEED)
    forwards = [list(cross_fit(c.method, c.parts, cache, SEED, TWO)) for c in (a, b)]
    other = FoldCache(data, folds, SEED)
    backwards = [list(cross_fit(c.method, c.parts, other, SEED, TWO)) for c in (b, a)][::-1]
    for left, right in zip(forwards, backwards, strict=True):
        assert all(np.array_equal(x.scores, y.scores) for x, y in zip(left, right, strict=True))


@pytest.mark.parametrize("similarity", ["knn", "isolation"])
def test_sampled_rows_keep_the_similarity_of_all_rows(data: PUData, similarity: str) -> None:
    plugin = made(similarity)
    small = inner_folds(data.s, FoldPlan(train_unlabeled=100, test_unlabeled=10), SEED)
    full = inner_folds(data.s, FoldPlan(test_unlabeled=10), SEED)
    for number in range(3):
        assert np.array_equal(small[number].rows, full[number].rows)
        sampled = FoldCache(data, small, SEED).related(plugin, "standard", number, TWO).affinity.values
        everything = FoldCache(data, full, SEED).related(plugin, "standard", number, TWO).affinity.values
        assert np.array_equal(sampled, everything[small[number].sample])


@pytest.mark.parametrize("similarity", ["knn", "kernel"])
def test_final_models_use_all_rows(data: PUData, similarity: str) -> None:
    plugin = made(similarity)
    folds = inner_folds(data.s, FoldPlan(), SEED)
    cache = FoldCache(data, folds, SEED, for_all=True)
    found = cache.parts(0, Parts(plugin)).relate(data, "standard", SEED, TWO)
    alone = Parts(plugin).relate(data, "standard", SEED, TWO)
    assert np.array_equal(found.affinity.values, alone.affinity.values)

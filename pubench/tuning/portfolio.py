"""The configurations that a search tries first: a cheap one, the default, and a few that blend well.

The cheap one trains a single model and needs no similarity, so that a search ends with an answer however short its time is.

The others were chosen on the development tables for the blend that a search ends in: the next one is the configuration that
most improves the AUC of the mean rank of all so far, per second that it takes. The single best ones make worse blends, because
they err on the same rows. Forests with leaves of one row are left out where their tags are not sampled: on a faint signal at one
positive in a thousand they collapse. `benchmarks/portfolio.py` makes the list again, and judges it on tables left out.
"""

from collections.abc import Mapping
from functools import partial
from typing import TypeAlias

from pubench.api.plugin import Kind
from pubench.api.spaces import Value
from pubench.tuning.space import SearchSpace

Params: TypeAlias = Mapping[str, Value]


def plugin_params(kind: Kind, name: str, **params: Value) -> dict[str, Value]:
    """Return the parameters of a search that choose a plugin and these values of its own parameters."""
    return {kind.value: name, **{f"{kind}.{name}.{param}": value for param, value in params.items()}}


_learner = partial(plugin_params, Kind.LEARNER)
_method = partial(plugin_params, Kind.METHOD)
_KNN = plugin_params(Kind.SIMILARITY, "knn")
_NAIVE = _method("naive")
_DRAWN: Params = {**_method("probtagging"), **_KNN}
_SOFT: Params = {**_method("probtagging", tags="soft"), **_KNN}
_SAMPLED: Params = {**_method("probtagging", negatives="sampled", ratio=20.0), **_KNN}
_DEEP_CATBOOST = _learner("catboost", trees=200, learning_rate=0.05, depth=6, l2=1.0, rows=0.8)

#: In the order in which they are tried, after the default; parameters that are not named have their defaults.
PORTFOLIO: tuple[Params, ...] = (
    {**_NAIVE, **_learner("logistic")},
    {
        **_NAIVE,
        **_learner(
            "lightgbm",
            trees=100,
            learning_rate=0.1,
            depth=16,
            leaves=15,
            l2=1.0,
            min_hessian=0.01,
            random_cuts=False,
            features=0.8,
            rows=0.8,
        ),
    },
    _method("pu-trees"),
    {**_SAMPLED, **_learner("forest", leaf_rows=1)},
    _method("pu-auc"),
    {**_NAIVE, **_learner("forest", leaf_rows=5, cuts="best", bootstrap=True)},
    {**_SOFT, **_learner("forest", leaf_rows=3)},
    {**_NAIVE, **_learner("mlp")},
    # For a faint signal, which the development tables have few of: small leaves reach an AUC of .70, these .79 (--faint).
    {**_NAIVE, **_learner("forest", leaf_rows=100)},
    {**_DRAWN, **_learner("forest", leaf_rows=3)},
    {**_method("bagging", ratio=5.0), **_DEEP_CATBOOST},
    {**_NAIVE, **_learner("catboost", trees=400, learning_rate=0.05, depth=8, l2=3.0, rows=0.8)},
    {**_NAIVE, **_learner("logistic", c=1.0)},
    {**_SOFT, **_DEEP_CATBOOST},
    {**_method("probtagging", scaling="quantile"), **_KNN, **_learner("forest", leaf_rows=3)},
    {**_NAIVE, **_learner("catboost")},
    {
        **_DRAWN,
        **_learner(
            "lightgbm",
            trees=200,
            learning_rate=0.05,
            depth=16,
            leaves=63,
            l2=0.1,
            min_hessian=0.001,
            features=0.5,
            rows=0.5,
        ),
    },
)


def first_trials(space: SearchSpace) -> list[dict[str, Value]]:
    """Return the parameters of the first trials in full, each once: cheap, the default, the portfolio as far as it fits."""
    default = space.default()
    found = [space.complete(_NAIVE), default, *map(space.complete, PORTFOLIO)]
    return [params for i, params in enumerate(found) if params is not None and params not in found[:i]]

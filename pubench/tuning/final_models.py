"""The final models, each within the time that is left, and what they are worth on the holdout, which the search never saw.

rows of the search -> default, twin -> judged on the holdout (`HoldoutResult`)
all rows           -> the model that is shipped, and scores of its rows by models that did not see them (`ShippedModel`)
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic, perf_counter

import numpy as np

from pubench.api.method import FittedMethod
from pubench.configuration.configuration import Configuration
from pubench.crossfit.cross_fit import fit_with_own_scores, own_scores
from pubench.crossfit.fold_cache import FoldCache
from pubench.metrics.intervals import AULInterval, aul_pu_interval
from pubench.seeds import Seed
from pubench.tuning.budget import DEFAULT_SHARE, TWIN_SHARE, TimeBudget
from pubench.tuning.model_costs import ModelCosts
from pubench.types import FloatVector, IndexVector, PUData, Resources, Table

TUNED = "tuned"
DEFAULT = "default"
#: Number of rows on which scoring is timed.
_TIMED_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class Contender:
    """A configuration that was trained on all rows of the search and judged on the holdout.

    Attributes:
        configuration: in full, not as a draft.
        fitted: the model.
        scores: of the rows of the holdout.
        interval: of its AUL_PU on the holdout.
        seconds: time that training took.
        is_cut: it has fewer members than its configuration asked for, because the time ran out.
    """

    configuration: Configuration
    fitted: FittedMethod
    scores: FloatVector
    interval: AULInterval
    seconds: float
    is_cut: bool = False


@dataclass(frozen=True, eq=False)
class ShippedModel:
    """The model that a run leaves: the tuned configuration on all rows, or its twin on the rows of the search.

    Attributes:
        configuration: that gives this model again.
        fitted: the model.
        rows: the positions among all rows of those that it was trained on, ascending.
        data: these rows.
        own_scores: of these rows, by models that were not trained on them; None with fewer than two labelled rows.
        seconds: time that training and these scores took.
        scoring_seconds: time that scoring a million rows takes, about.
    """

    configuration: Configuration
    fitted: FittedMethod
    rows: IndexVector
    data: PUData
    own_scores: FloatVector | None
    seconds: float
    scoring_seconds: float


@dataclass(frozen=True, eq=False)
class HoldoutResult:
    """The final models on the holdout.

    Attributes:
        contenders: by name, `tuned` first; two of an equal configuration are one object.
        n_labelled: number of labelled rows in the holdout.
    """

    contenders: Mapping[str, Contender]
    n_labelled: int


@dataclass(frozen=True, eq=False)
class FinalModels:
    """What final models are trained and judged with.

    Attributes:
        cache: the rows of the search.
        test: the holdout.
        seed: of all models.
        resources: for training.
        budget: the time of the run.
        phase: is called with the model that is trained, and the share of all models that is done.
        costs: what the models need in any case.
    """

    cache: FoldCache
    test: PUData
    seed: Seed
    resources: Resources
    budget: TimeBudget
    phase: Callable[[str, float], None]
    costs: ModelCosts

    def train(self, tuned: Configuration, default: Configuration | None) -> HoldoutResult:
        """Train the tuned model and the default one, and compare them on the holdout.

        They share the time that is left: an ensemble that would take longer has fewer members, and its configuration says
        how many. The tuned model comes last, because not every method can be cut short, and one that takes too long must
        not weaken the other.
        """
        defaults = {} if default is None else {DEFAULT: default}
        requested = {TUNED: tuned, **defaults}
        order = [*defaults, TUNED] if tuned != default else [TUNED, DEFAULT]
        self._relate([single for configuration in requested.values() for single in configuration.singles])
        trained: dict[str, Contender] = {}
        for number, name in enumerate(order):
            equal = next((other for other in trained if requested[other] == requested[name]), None)
            trained[name] = (
                trained[equal]
                if equal
                else self._train(name, requested[name], number / len(order), len(order))
            )
        return HoldoutResult({name: trained[name] for name in requested}, self.test.n_labelled)

    def _relate(self, configurations: Sequence[Configuration]) -> None:
        """Relate all rows before the time is divided: several models share the result, and none can use a part of it."""
        rows = self.cache.training[0]
        resources = replace(self.resources, progress=partial(self.phase, "final models: similarity"))
        for configuration in configurations:
            scaling = configuration.method.params.get("scaling")
            if configuration.parts.similarity is not None and scaling is not None:
                self.cache.parts(0, configuration.parts).relate(rows, scaling, self.seed, resources)

    def _train(self, name: str, configuration: Configuration, start: float, count: int) -> Contender:
        def progress(share: float) -> None:
            self.phase(f"final models: {name}", start + share / count)

        share, needs, later = TWIN_SHARE, self.costs.twin_needs, self.costs.after_twin
        if name == DEFAULT:
            share, needs, later = DEFAULT_SHARE, self.costs.default, later + needs
        elif not self.costs.refits:
            share = 1.0
        until = self.budget.model_deadline(share, needs=needs, later=later)
        resources = replace(self.resources, progress=progress, until=until)
        contender = train_contender(configuration, self.cache, self.test, self.seed, resources)
        trained = configuration.as_trained(contender.fitted.chosen)
        # What is decided in time, such as rounds on rows to stop early on, is no cut.
        is_cut = trained != configuration and monotonic() >= until
        return replace(contender, configuration=trained, is_cut=is_cut)


def train_contender(
    configuration: Configuration, cache: FoldCache, test: PUData, seed: Seed, resources: Resources
) -> Contender:
    """Train a configuration on all rows of the search and judge it on the holdout, from PU labels alone."""
    start = perf_counter()
    fitted = configuration.method.fit(cache.training[0], cache.parts(0, configuration.parts), seed, resources)
    seconds = perf_counter() - start
    scores = fitted.score(test.X, resources).values
    return Contender(configuration, fitted, scores, aul_pu_interval(test.s, scores), seconds)


def ship(
    configuration: Configuration,
    data: PUData,
    rows: IndexVector,
    seed: Seed,
    resources: Resources,
    fitted: FittedMethod | None = None,
) -> ShippedModel:
    """Return the model that is shipped: trained on these rows of `data`, unless it is given, with honest scores of them."""
    start = perf_counter()
    if len(rows) < data.X.n_rows:
        data = data.take(rows)
    if fitted is None:
        method, parts = configuration.method, configuration.parts
        fitted, own = fit_with_own_scores(method, parts, data, seed, resources)
        configuration = configuration.as_trained(fitted.chosen)
    else:
        plain = replace(resources, until=float("inf"))
        own = own_scores(configuration.method, configuration.parts, fitted, data, seed, plain)
    seconds = perf_counter() - start
    scoring_seconds = _scoring_seconds(fitted, data.X, resources)
    return ShippedModel(configuration, fitted, rows, data, own, seconds, scoring_seconds)


def _scoring_seconds(fitted: FittedMethod, X: Table, resources: Resources) -> float:
    """Return the time that scoring a million rows takes, measured on fewer: some rows over and over."""
    rows = X.take(np.resize(np.arange(min(X.n_rows, _TIMED_ROWS)), _TIMED_ROWS))
    start = perf_counter()
    fitted.score(rows, Resources(resources.n_threads, resources.device))
    return (perf_counter() - start) * 1_000_000 / _TIMED_ROWS

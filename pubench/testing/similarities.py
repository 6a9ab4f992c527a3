"""What every similarity promises, as checks: run `check_similarity`, or the `SIMILARITY_CHECKS` one by one.

    from pubench.testing.similarities import check_similarity
    check_similarity(MySimilarity(width=2.0))

Each check raises `PluginError` with the promise that is broken, and does not catch exceptions of the similarity.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pubench.api.plugin import FittedSimilarity, Similarity
from pubench.errors import NotApplicableError
from pubench.seeds import Seed
from pubench.testing.checks import (
    BLIND_CHECKS,
    Check,
    Remark,
    declined,
    expect,
    expect_better_than_chance,
    expect_equal,
    expect_json,
    expect_k_choice,
    expect_no_data,
    expect_progress,
    expect_untouched,
    extremes,
)
from pubench.testing.sample_tables import (
    SampleTable,
    constant_features,
    mixed_sample,
    numeric_sample,
    ten_rows,
    with_one_label,
)
from pubench.types import Affinity, FloatVector, IndexVector, PUData, Resources, Table

_ONE, _TWO = Resources(n_threads=1), Resources(n_threads=2)
_MANY = 10_000


@dataclass(frozen=True, eq=False)
class SimilaritySubject:
    """A similarity to be checked."""

    plugin: Similarity

    def fit(self, data: PUData, seed: int = 0, resources: Resources = _ONE) -> FittedSimilarity:
        """Fit the similarity."""
        return self.plugin.fit(data, Seed(seed), resources)

    @property
    def sample(self) -> SampleTable:
        """Embedded rows of all kinds, drawn anew each time, so that a plugin that changes them affects no other check."""
        return mixed_sample().embedded()

    @cached_property
    def fitted(self) -> FittedSimilarity:
        """The similarity, fitted on them by one thread with seed 0."""
        return self.fit(self.sample.data)

    @cached_property
    def values(self) -> FloatVector:
        """Its values of these rows."""
        return _values(self.fitted.affinity)

    @cached_property
    def new_values(self) -> FloatVector:
        """Its values of rows that it was not fitted on."""
        return _values(self.fitted.score_new(self.sample.fresh, _ONE))


def check_similarity(similarity: Similarity) -> None:
    """Run every check.

    Raises:
        PluginError: a promise is broken; the message says which.
    """
    subject = SimilaritySubject(similarity)
    for check in SIMILARITY_CHECKS.values():
        check(subject)


def check_values(subject: SimilaritySubject) -> None:
    """Every row gets one value in [0, 1], labelled rows 0, and not all unlabeled rows the same."""
    _check_fitted(subject.fitted, subject.sample.data)
    expect(
        len(np.unique(subject.values[~subject.sample.data.s])) > 1, "Values differ between unlabeled rows."
    )


def check_quality(subject: SimilaritySubject) -> None:
    """Hidden positives get higher values than other unlabeled rows on an easy set, of numbers and of mixed features."""
    easy = numeric_sample().embedded()
    fitted = subject.fit(easy.data)
    found = ((easy, _values(fitted.affinity)), (subject.sample, subject.values))
    for sample, values in found:
        expect_better_than_chance(sample.hidden, values[~sample.data.s], "On an easy set")
    new = _values(fitted.score_new(easy.fresh, _ONE))
    expect_better_than_chance(easy.fresh_positive, new, "On new rows of an easy set")


def check_seed(subject: SimilaritySubject) -> None:
    """Equal seeds give equal values; those of another seed are as valid."""
    again = subject.fit(subject.sample.data)
    promise = "Equal data, parameters and seed give equal values; all chance comes from `seed`."
    expect(np.array_equal(subject.values, _values(again.affinity)), promise)
    new = _values(again.score_new(subject.sample.fresh, _ONE))
    expect(np.array_equal(subject.new_values, new), promise)
    _check_fitted(subject.fit(subject.sample.data, seed=1), subject.sample.data)


def check_threads(subject: SimilaritySubject) -> None:
    """The number of threads changes nothing."""
    other = subject.fit(subject.sample.data, resources=_TWO)
    expect_equal(subject.values, _values(other.affinity), "The number of threads changes nothing.")
    new = _values(other.score_new(subject.sample.fresh, _TWO))
    expect_equal(subject.new_values, new, "The number of threads changes nothing about new rows.")


def check_new_rows(subject: SimilaritySubject) -> None:
    """A new row's value depends on that row alone: not on which rows come with it, nor on their order."""
    fresh = subject.sample.fresh
    expect(subject.new_values.shape == (fresh.n_rows,), "Every new row gets one value.")
    few = np.arange(fresh.n_rows)[::-7]
    for rows, promise in (
        (few, "A new row's value depends on that row alone."),
        (few[:1], "A new row by itself gets the same value."),
        (few[:0], "No new rows get no values."),
    ):
        found = _values(subject.fitted.score_new(fresh.take(rows), _ONE))
        expect_equal(subject.new_values[rows], found, promise)


def check_inputs(subject: SimilaritySubject) -> None:
    """Tables and labels stay as they were."""
    sample, before = subject.sample, subject.sample
    subject.fit(sample.data).score_new(sample.fresh, _ONE)
    for given, kept in (
        (sample.data.X.values, before.data.X.values),
        (sample.data.s, before.data.s),
        (sample.fresh.values, before.fresh.values),
    ):
        expect(np.array_equal(given, kept), "Tables and labels stay as they were; work on a copy.")


def check_environment(subject: SimilaritySubject) -> None:
    """Global random state, the environment and the similarity itself stay as they were."""
    _ = subject.new_values  # libraries are loaded
    with expect_untouched():
        subject.fit(subject.sample.data).score_new(subject.sample.fresh, _ONE)
    expect_no_data(subject.plugin)


def check_progress(subject: SimilaritySubject) -> Remark | None:
    """Progress stays in [0, 1] and never goes back; what it raises ends the work."""
    data, fresh = subject.sample.data, subject.sample.fresh
    remarks = [
        expect_progress(lambda resources: subject.fit(data, resources=resources), "fitting"),
        expect_progress(lambda resources: subject.fitted.score_new(fresh, resources), "scoring new rows"),
    ]
    return next((remark for remark in remarks if remark), None)


def check_folds(subject: SimilaritySubject) -> None:
    """`fit_folds` gives what `fit` gives on each fold."""
    data, fresh = subject.sample.data, subject.sample.fresh
    folds = [*_without_each_part(data.X.n_rows, 2), *_without_each_part(data.X.n_rows, 3)]
    found = list(subject.plugin.fit_folds(data, folds, Seed(0), _ONE))
    expect(len(found) == len(folds), "`fit_folds` yields one result per fold.")
    promise = "`fit_folds` gives what `fit` gives on each fold."
    for rows, fitted in zip(folds, found, strict=True):
        alone = subject.fit(data.take(rows))
        expect_equal(_values(alone.affinity), _values(fitted.affinity), promise)
        expect_equal(_values(alone.score_new(fresh, _ONE)), _values(fitted.score_new(fresh, _ONE)), promise)
        expect(dict(alone.chosen) == dict(fitted.chosen), promise)


def check_reports(subject: SimilaritySubject) -> None:
    """`chosen` holds plain JSON values, and `k_choice` is None or a `KChoice`."""
    expect_json(subject.fitted.chosen, "`chosen` holds plain JSON values.")
    expect_k_choice(subject.fitted.k_choice)


def check_extremes(subject: SimilaritySubject) -> None:
    """It works at both ends of each parameter's range, and with each of its values."""
    data = subject.sample.data
    for setting in extremes(subject.plugin.space):
        _check_fitted(type(subject.plugin)(**setting).fit(data, Seed(0), _ONE), data)


def check_one_label(subject: SimilaritySubject) -> Remark | None:
    """One labelled positive is enough, or the similarity says that it is not."""
    return _fit_or_decline(subject, with_one_label(subject.sample))


def check_ten_rows(subject: SimilaritySubject) -> Remark | None:
    """Ten rows are enough, or the similarity says that they are not."""
    return _fit_or_decline(subject, _single(ten_rows()))


def check_equal_rows(subject: SimilaritySubject) -> Remark | None:
    """Rows may all be equal, or the similarity says that they may not."""
    return _fit_or_decline(subject, _single(constant_features()))


def check_duplicates(subject: SimilaritySubject) -> None:
    """Every row may occur twice."""
    data = subject.sample.data
    twice = data.take(np.repeat(np.arange(data.X.n_rows), 2))
    _check_fitted(subject.fit(twice), twice)


def check_speed(subject: SimilaritySubject) -> Remark:
    """The time that ten thousand rows take; a figure, not a promise."""
    _ = subject.new_values  # libraries are loaded, and what compiles is compiled
    sample = numeric_sample(_MANY).embedded()
    began = time.perf_counter()
    fitted = subject.fit(sample.data)
    _ = fitted.affinity
    between = time.perf_counter()
    fitted.score_new(sample.fresh, _ONE)
    end = time.perf_counter()
    return Remark(
        f"{_MANY:,} rows with one thread: {between - began:.2f} s to fit, {end - between:.2f} s to score as new."
    )


#: Every check, by the name of what it checks.
SIMILARITY_CHECKS: Mapping[str, Check[SimilaritySubject]] = {
    **BLIND_CHECKS,
    "values": check_values,
    "quality": check_quality,
    "seed": check_seed,
    "threads": check_threads,
    "new rows": check_new_rows,
    "inputs": check_inputs,
    "environment": check_environment,
    "progress": check_progress,
    "folds": check_folds,
    "reports": check_reports,
    "extremes": check_extremes,
    "one label": check_one_label,
    "ten rows": check_ten_rows,
    "equal rows": check_equal_rows,
    "duplicates": check_duplicates,
    "speed": check_speed,
}


def _values(affinity: Affinity) -> FloatVector:
    expect(isinstance(affinity, Affinity), "Values come as an `Affinity`, which makes sure of their range.")
    return affinity.values


def _check_fitted(fitted: FittedSimilarity, data: PUData) -> None:
    values = _values(fitted.affinity)
    expect(values.shape == data.s.shape, "Every row gets one value.")
    expect(not values[data.s].any(), "Labelled rows get 0: they need no tag.")


def _fit_or_decline(subject: SimilaritySubject, data: PUData) -> Remark | None:
    try:
        fitted = subject.fit(data)
        _check_fitted(fitted, data)
        new = _values(fitted.score_new(data.X.take(np.arange(1)), _ONE))
    except NotApplicableError as error:
        return declined(error)
    expect(new.shape == (1,), "Every new row gets one value.")
    return None


def _single(data: PUData) -> PUData:
    return PUData(Table(data.X.values.astype(np.float32), data.X.features), data.s)


def _without_each_part(rows: int, parts: int) -> list[IndexVector]:
    part = np.arange(rows) % parts
    return [np.flatnonzero(part != number) for number in range(parts)]

"""Scores of rows by models that were not trained on them, fold by fold, from PU labels alone.

    cross_fit      -> placements of the labelled rows of each fold -> AUL_PU, the objective of a search
                   -> scores of all rows -> own_scores: honest scores of the rows that a model was trained on

A model remembers which rows it was told to be negative: extra trees rank the hidden positives among mammography's training
rows with an AUC of .37, and of .92 where each row is scored by trees that did not see it (`benchmarks/own_rows.py`). The
unlabeled rows of the training table are the call list, so they must not be scored by the model itself.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pubench.api.method import FittedMethod, Method, Parts
from pubench.crossfit.fold_cache import FoldCache
from pubench.crossfit.folds import FoldPlan, InnerFold, inner_folds
from pubench.metrics.aul import aul_from_auc_pu
from pubench.metrics.quantiles import TOWARDS_TOP, Quantiles, reference_rows
from pubench.metrics.ranks import share_below
from pubench.seeds import Seed
from pubench.types import BoolVector, FloatVector, PUData, Resources

#: Of own rows: more folds leave each model more labelled rows, which counts where there are few.
_OWN_FOLDS = 5
_NO_LIMIT = 2**62
#: Share of the progress for the model itself.
_FIT_SHARE = 0.6


@dataclass(frozen=True, eq=False)
class FoldResult:
    """A method on one fold.

    Attributes:
        fold: number of the fold.
        placements: shape (n_labelled,); for each held-out labelled row the share of unlabeled rows that score below
            it, ties half; in the order of the rows.
        scores: shape (n_test,); of the test rows of the fold, in their order.
        seconds: time that training took; of the first fold with what all folds share, such as a similarity.
    """

    fold: int
    placements: FloatVector
    scores: FloatVector
    seconds: float


def cross_fit(
    method: Method, parts: Parts, cache: FoldCache, seed: Seed, resources: Resources
) -> Iterator[FoldResult]:
    """Yield the result of a method fold by fold; a fold is computed when its result is requested.

    `seed` is that of the study or the model: methods that differ in a parameter alone draw the same tags, which makes their
    comparison sharper.
    """
    count = len(cache.folds)
    for number in range(count):
        train, test = cache.training[number], cache.test[number]
        part = resources.part(number / count, (number + 1) / count)
        started = time.perf_counter()
        fitted = method.fit(train, cache.parts(number, parts), seed.child("fold", number), part)
        seconds = time.perf_counter() - started
        scores = fitted.score(test.X, resources).values
        yield FoldResult(number, share_below(scores[~test.s], scores[test.s]), scores, seconds)


def fold_aul(placements: FloatVector, fold: InnerFold) -> float:
    """Return AUL_PU on all held-out rows of a fold, whose unlabeled rows are represented by a sample."""
    return aul_from_auc_pu(float(placements.mean()), fold.labelled_share)


def mean_aul(placements: Sequence[FloatVector], folds: Sequence[InnerFold]) -> float:
    """Return the mean AUL_PU over the first folds, as many as there are placements."""
    return float(np.mean([fold_aul(p, fold) for p, fold in zip(placements, folds, strict=False)]))


def own_folds(s: BoolVector, seed: Seed) -> tuple[InnerFold, ...]:
    """Return folds in which every row is tested once; empty with fewer than two labelled or two unlabeled rows.

    Models are trained on a sample of the unlabeled rows, as in a search: all of 1.4 million rows took two minutes.
    """
    if min(int(s.sum()), int((~s).sum())) < 2:
        return ()
    return inner_folds(s, FoldPlan(_OWN_FOLDS, test_unlabeled=_NO_LIMIT), seed.child("own rows"))


def own_fold_size(s: BoolVector) -> tuple[int, float]:
    """Return the number of `own_folds`, and the mean number of rows that a model of one is trained on."""
    n_labelled = int(s.sum())
    count = min(_OWN_FOLDS, n_labelled, len(s) - n_labelled)
    if count < 2:
        return 0, 0.0
    others = min((len(s) - n_labelled) * (count - 1) / count, FoldPlan().train_unlabeled)
    return count, n_labelled * (count - 1) / count + others


def scores_by_others(
    method: Method, parts: Parts, cache: FoldCache, seed: Seed, resources: Resources
) -> tuple[FloatVector, float]:
    """Return the score of every row by the draft of a method that was trained on the other folds: shape (n_rows,).

    Also return how long training the last of these drafts took.
    """
    scores, seconds = np.empty(sum(len(fold.test) for fold in cache.folds)), 0.0
    results = cross_fit(method.draft(), parts.draft(), cache, seed, resources)
    for fold, result in zip(cache.folds, results, strict=True):
        scores[fold.test], seconds = result.scores, result.seconds
    return scores, seconds


def own_scores(
    method: Method, parts: Parts, fitted: FittedMethod, data: PUData, seed: Seed, resources: Resources
) -> FloatVector | None:
    """Return the scores of a fitted method's training rows by models that were not trained on them: shape (n_rows,).

    They have the scale of `fitted.score`: the models are of the same kind, and where they were trained on fewer rows, their
    scores are brought to it by rank. None with fewer than two labelled rows.
    """
    if fitted.own_scores is not None:
        return fitted.own_scores
    folds = own_folds(data.s, seed)
    if not folds:
        return None
    scores, _ = scores_by_others(method, parts, FoldCache(data, folds, seed), seed, resources)
    if not any(fold.is_sampled for fold in folds):
        return scores
    reference = fitted.score(reference_rows(data.X), Resources(resources.n_threads, resources.device))
    return Quantiles.of(reference.values, TOWARDS_TOP).at(share_below(scores, scores))


def fit_with_own_scores(
    method: Method, parts: Parts, data: PUData, seed: Seed, resources: Resources
) -> tuple[FittedMethod, FloatVector | None]:
    """Fit a method on `data`; return it with the `own_scores` of these rows, which no deadline cuts short."""
    seed = seed.child("fit")
    fitted = method.fit(data, parts, seed, resources.part(0.0, _FIT_SHARE))
    remaining = replace(resources.part(_FIT_SHARE, 1.0), until=float("inf"))
    return fitted, own_scores(method, parts, fitted, data, seed, remaining)

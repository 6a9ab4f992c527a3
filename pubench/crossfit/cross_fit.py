"""Scores fold by fold: each by a model that was trained on the other folds, from PU labels alone."""

from collections.abc import Iterator
from dataclasses import dataclass

from pubench.api.method import Method, Parts
from pubench.crossfit.fold_cache import FoldCache
from pubench.metrics.ranks import share_below
from pubench.seeds import Seed
from pubench.types import FloatVector, Resources


@dataclass(frozen=True, eq=False)
class FoldResult:
    """A method on one fold.

    Attributes:
        fold: number of the fold.
        placements: shape (n_labelled,); for each held-out labelled row the share of unlabeled rows that score below
            it, ties half; in the order of the rows.
        scores: shape (n_test,); of the test rows of the fold, in their order.
    """

    fold: int
    placements: FloatVector
    scores: FloatVector


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
        fitted = method.fit(train, cache.parts(number, parts), seed.child("fold", number), part)
        scores = fitted.score(test.X, resources).values
        yield FoldResult(number, share_below(scores[~test.s], scores[test.s]), scores)

"""How good a configuration is: AUL_PU on held-out folds, from PU labels only."""

from collections.abc import Iterator
from dataclasses import dataclass

from pubench.metrics.ranks import share_below
from pubench.saving.configuration import Configuration
from pubench.seeds import Seed
from pubench.tuning.inner import InnerFold
from pubench.tuning.sharing import Memory
from pubench.types import FloatVector, Resources


@dataclass(frozen=True, eq=False)
class FoldResult:
    """A configuration on one fold.

    Attributes:
        fold: its number.
        placements: shape (n_labelled,); of each labelled row held out, the share of unlabeled rows that score below
            it, ties half; in the order of the rows.
        scores: shape (n_test,); of the rows it was judged on, in their order.
    """

    fold: int
    placements: FloatVector
    scores: FloatVector


def aul_of(placements: FloatVector, fold: InnerFold) -> float:
    """Return AUL_PU on all rows held out: a / 2 + (1 - a) AUC_PU, where a sample stands for the unlabeled rows."""
    share = fold.labelled_share
    return share / 2 + (1 - share) * float(placements.mean())


def judge(
    configuration: Configuration, memory: Memory, seed: Seed, resources: Resources
) -> Iterator[FoldResult]:
    """Yield the configuration's result on each fold as it comes; whoever stops asking stops the work.

    `seed` is the study's: configurations that differ in a parameter alone draw the same tags, which makes their comparison
    sharper.
    """
    count = len(memory.folds)
    for number in range(count):
        train, test = memory.training[number], memory.test[number]
        part = resources.part(number / count, (number + 1) / count)
        parts = memory.parts(number, configuration.parts)
        fitted = configuration.method.fit(train, parts, seed.child("fold", number), part)
        scores = fitted.score(test.X, resources).values
        yield FoldResult(number, share_below(scores[~test.s], scores[test.s]), scores)

"""The paper's protocol: folds to train on as PU data, and to evaluate with PU labels and, where known, with truth.

- Truth known, nothing observed (APS, Credit Card): PN folds, stratified on the truth; the training rows are turned
  into PU data, the test rows keep their truth and are also turned into PU data with the same labelling.
- Labels observed (the banks): folds stratified on the observed labels; the truth, if known, is only split with them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pubench.api.dataset import Dataset
from pubench.data.labelling import Labelling, draw_view
from pubench.data.splits import stratified_folds
from pubench.errors import ParameterError
from pubench.seeds import Seed
from pubench.truth import Truth
from pubench.types import PUData, Split


@dataclass(frozen=True, eq=False)
class PaperFold:
    """One fold: `train` is all that a method may see; `test_truth` is sealed until it has scored.

    `train_truth` is only for the upper bound, a method that is given every positive.
    """

    train: PUData
    test: PUData
    test_truth: Truth | None
    train_truth: Truth | None


def paper_folds(dataset: Dataset, labelling: Labelling | None, folds: int, seed: Seed) -> Iterator[PaperFold]:
    """Yield the folds of a data set, one at a time; fold k does not depend on which others are drawn.

    Args:
        dataset: the data set.
        labelling: how positives are labelled, where only truth is known; None where labels were observed.
        folds: their number, at least 2.
        seed: decides folds and labels.

    Raises:
        ParameterError: a labelling is missing, or given for labels that were observed.
        DataError: too few rows of a kind.
    """
    for number, split in enumerate(_splits(dataset, labelling, folds, seed)):
        yield _fold(dataset, labelling, split, seed.child("fold", number))


def paper_fold(
    dataset: Dataset, labelling: Labelling | None, folds: int, number: int, seed: Seed
) -> PaperFold:
    """Return one of the folds that `paper_folds` yields, without drawing the others."""
    split = _splits(dataset, labelling, folds, seed)[number]
    return _fold(dataset, labelling, split, seed.child("fold", number))


def _splits(dataset: Dataset, labelling: Labelling | None, folds: int, seed: Seed) -> tuple[Split, ...]:
    if dataset.observed is not None and labelling is not None:
        raise ParameterError(
            "This data set has observed labels; theta_O and biases apply to true labels only."
        )
    if dataset.observed is None and labelling is None:
        raise ParameterError(
            "This data set has true labels only; say which share of positives is labelled (theta_O)."
        )
    return stratified_folds(dataset.labels, folds, seed)


def _fold(dataset: Dataset, labelling: Labelling | None, split: Split, seed: Seed) -> PaperFold:
    if labelling is None or dataset.truth is None:
        return _observed_fold(PUData(dataset.X, dataset.labels), dataset.truth, split)
    return _drawn_fold(dataset, dataset.truth, labelling, split, seed)


def _observed_fold(data: PUData, truth: Truth | None, split: Split) -> PaperFold:
    train_truth, test_truth = (
        None if truth is None else truth.take(rows) for rows in (split.train, split.test)
    )
    return PaperFold(data.take(split.train), data.take(split.test), test_truth, train_truth)


def _drawn_fold(dataset: Dataset, truth: Truth, labelling: Labelling, split: Split, seed: Seed) -> PaperFold:
    train = draw_view(dataset.X.take(split.train), truth.take(split.train), labelling, seed.child("train"))
    test = draw_view(dataset.X.take(split.test), truth.take(split.test), labelling, seed.child("test"))
    return PaperFold(train.data, test.data, test.truth, train.truth)

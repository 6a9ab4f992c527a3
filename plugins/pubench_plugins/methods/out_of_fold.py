"""Scores of rows by models that were not trained on them."""

import numpy as np

from pubench import (
    DataError,
    FloatVector,
    NotApplicableError,
    PUData,
    Resources,
    Seed,
    Tags,
    Trainer,
    stratified_folds,
)


def out_of_fold(trainer: Trainer, data: PUData, folds: int, seed: Seed, resources: Resources) -> FloatVector:
    """Return g = P(s=1|x) of every row, by the model of the folds that the row is not in: shape (n_rows,), in [0, 1].

    Folds are stratified on s; there are as many as labelled rows where those are fewer than `folds`. All share the bins
    of `trainer`, which was made of `data.X`: rows are held out by weight.

    Raises:
        NotApplicableError: fewer than two labelled, or unlabeled, rows.
    """
    folds = min(folds, data.n_labelled, data.X.n_rows - data.n_labelled)
    if folds < 2:
        raise NotApplicableError("Scores out of fold need two labelled and two unlabeled rows at least.")
    try:
        splits = stratified_folds(data.s, folds, seed)
    except DataError as error:
        raise NotApplicableError(str(error)) from error
    positive = data.s.astype(np.float64)

    def tags_of(fold: int) -> Tags:
        weight = np.ones(data.X.n_rows)
        weight[splits[fold].test] = 0.0
        return Tags(positive, weight)

    scores = np.empty(data.X.n_rows)
    # All models first: predicting while others train would take more threads than there are.
    models = list(trainer.members(tags_of, folds, seed, resources))
    for split, model in zip(splits, models, strict=True):
        scores[split.test] = model.predict(trainer.X.take(split.test), resources)
    return scores

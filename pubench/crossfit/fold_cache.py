"""What the trials of a study share: fold by fold, each part is computed once."""

from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from pubench.api.method import Parts, Related
from pubench.api.plugin import FittedSimilarity, Learner, Similarity
from pubench.api.trainer import Trainer
from pubench.crossfit.folds import InnerFold
from pubench.embedding import Embedding, FittedEmbedding
from pubench.errors import DataError, NotApplicableError
from pubench.seeds import Seed
from pubench.types import Affinity, BoolVector, Json, PUData, Resources, Table

#: Number of similarities that stay in memory; each takes a number per sampled row and fold.
_MAX_SIMILARITIES = 64


@dataclass(frozen=True, eq=False)
class SampledSimilarity(FittedSimilarity):
    """A similarity that is reduced to the values of the sampled rows of a fold."""

    values: Affinity
    decisions: Mapping[str, Json]

    @property
    def affinity(self) -> Affinity:
        """One value per sampled row."""
        return self.values

    @property
    def chosen(self) -> Mapping[str, Json]:
        """What fitting decided."""
        return self.decisions

    def score_new(self, X: Table, resources: Resources) -> Affinity:  # noqa: ARG002 - the contract's signature
        """Raise an error: the rows it was fitted on were dropped to save memory."""
        raise NotApplicableError(
            "A search on a sample of the rows does not keep the similarity that new rows need."
        )


class FoldCache:
    """Rows, similarities and prepared learners of each fold; what is cached gives the same results as what is not.

    Args:
        data: all rows that the study sees.
        folds: of these rows.
        seed: of the study; similarities depend on it.
        for_all: cache what belongs to all rows, for the final models, instead of what belongs to the folds.

    Attributes:
        folds: as given.
        training: the rows that a model is trained on, fold by fold; with `for_all` all rows as the only entry.
        test: the rows that it is judged on, fold by fold; empty with `for_all`.
    """

    def __init__(
        self, data: PUData, folds: tuple[InnerFold, ...], seed: Seed, *, for_all: bool = False
    ) -> None:
        self._data = data
        self._seed = seed
        self._for_all = for_all
        self.folds = folds
        self.training = [data] if for_all else [data.take(fold.rows[fold.sample]) for fold in folds]
        self.test = [] if for_all else [data.take(fold.test) for fold in folds]
        self._trainers: dict[tuple[type[Learner], int], Trainer] = {}
        self._related: OrderedDict[tuple[Similarity, str], list[Related]] = OrderedDict()
        self._embedded: tuple[str, FittedEmbedding, PUData] | None = None

    def parts(self, fold: int, parts: Parts) -> "CachedParts":
        """Return the same parts, which use this cache on the rows of a fold."""
        return CachedParts(parts.similarity, parts.learner, self, fold)

    def trainer(self, learner: Learner, fold: int, X: Table, resources: Resources) -> Trainer:
        """Return a trainer on the rows of a fold; preparing them does not depend on the learner's parameters."""
        key = (type(learner), fold)
        if key not in self._trainers:
            self._trainers[key] = Trainer.of(learner, X, resources)
        return replace(self._trainers[key], learner=learner)

    def related(self, similarity: Similarity, scaling: str, fold: int, resources: Resources) -> Related:
        """Return a similarity on the rows of a fold; it is fitted on all folds at once."""
        key = (similarity, scaling)
        if key not in self._related:
            self._related[key] = self._relate(similarity, scaling, resources)
            if len(self._related) > _MAX_SIMILARITIES:
                self._related.popitem(last=False)
        self._related.move_to_end(key)
        return self._related[key][fold]

    def _relate(self, similarity: Similarity, scaling: str, resources: Resources) -> list[Related]:
        embedding, embedded = self._embed(scaling)
        seed = self._seed.child("similarity")
        is_sampled = any(fold.is_sampled for fold in self.folds)
        fits_folds = type(similarity).fit_folds is not Similarity.fit_folds
        if self._for_all and (is_sampled or not fits_folds):
            return [Related(embedding, similarity.fit(embedded, seed, resources))]
        rows = [fold.rows for fold in self.folds]
        if fits_folds and not is_sampled:
            # Where folds share one search, a search of all rows costs nothing more, and the final models use it.
            rows.append(np.arange(embedded.X.n_rows))
        # An iterator, consumed one by one: each similarity may hold the rows of its fold.
        fitted = similarity.fit_folds(
            embedded, rows, seed, resources, asked=self._sampled_rows() if is_sampled else None
        )
        if self._for_all:
            return [Related(embedding, deque(fitted, maxlen=1).pop())]
        return [
            Related(embedding, _sampled(fitted_fold, fold) if fold.is_sampled else fitted_fold)
            for fold, fitted_fold in zip(self.folds, fitted, strict=False)
        ]

    def _sampled_rows(self) -> BoolVector:
        """Return which rows any fold trains on; trials need the similarity of no others."""
        sampled = np.zeros(self._data.X.n_rows, dtype=np.bool_)
        for fold in self.folds:
            sampled[fold.rows[fold.sample]] = True
        return sampled

    def _embed(self, scaling: str) -> tuple[FittedEmbedding, PUData]:
        """Return all rows embedded; only the last scaling is cached, since it is as large as the data."""
        if self._embedded is None or self._embedded[0] != scaling:
            self._embedded = None
            try:
                embedding = Embedding(scaling).fit(self._data.X)
            except DataError as error:
                raise NotApplicableError(str(error)) from error
            self._embedded = (scaling, embedding, PUData(embedding.transform(self._data.X), self._data.s))
        return self._embedded[1:]


def _sampled(fitted: FittedSimilarity, fold: InnerFold) -> SampledSimilarity:
    return SampledSimilarity(Affinity(np.array(fitted.affinity.values[fold.sample])), fitted.chosen)


@dataclass(frozen=True)
class CachedParts(Parts):
    """The similarity and the learner of a configuration on the rows of one fold, taken from the cache."""

    cache: FoldCache | None = None
    fold: int = 0

    def trainer(self, X: Table, resources: Resources) -> Trainer:
        """Return the learner on the fold's rows, from the cache; on other rows it is prepared without it."""
        if self.cache is None or X is not self.cache.training[self.fold].X:
            return super().trainer(X, resources)
        return self.cache.trainer(self.needed_learner, self.fold, X, resources)

    def relate(self, data: PUData, scaling: str, seed: Seed, resources: Resources) -> Related:
        """Return the similarity on the fold's rows, fitted on all rows of the fold."""
        if self.cache is None or self.similarity is None or data is not self.cache.training[self.fold]:
            return super().relate(data, scaling, seed, resources)
        return self.cache.related(self.similarity, scaling, self.fold, resources)

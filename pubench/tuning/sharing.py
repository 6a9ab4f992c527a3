"""Parts that remember: what trials have in common is computed once."""

from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from pubench.embedding import Embedding, FittedEmbedding
from pubench.ensembles import Trainer
from pubench.errors import DataError, NotApplicableError
from pubench.method_api import Parts, Related
from pubench.plugin_api import FittedSimilarity, Learner, Similarity
from pubench.seeds import Seed
from pubench.tuning.inner import InnerFold
from pubench.types import Affinity, BoolVector, Json, PUData, Resources, Table

#: Similarities of so many configurations stay in memory; each is a number per sampled row and fold.
_SIMILARITIES = 64


@dataclass(frozen=True, eq=False)
class SampledSimilarity(FittedSimilarity):
    """A similarity of which only the values of sampled rows were kept."""

    values: Affinity
    decided: Mapping[str, Json]

    @property
    def affinity(self) -> Affinity:
        """One value per sampled row."""
        return self.values

    @property
    def chosen(self) -> Mapping[str, Json]:
        """What fitting decided."""
        return self.decided

    def score_new(self, X: Table, resources: Resources) -> Affinity:  # noqa: ARG002 - the contract's signature
        """Raise: the rows it was fitted on are gone, to spare memory."""
        raise NotApplicableError("A similarity is not kept for new rows while a search samples its data.")


class Memory:
    """What the trials of a study share, fold by fold.

    Args:
        data: all rows that the study sees.
        folds: of them.
        seed: of the study; similarities depend on it.
        for_all: remember what belongs to all rows, for final models, and not what belongs to the folds.
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

    def parts(self, fold: int, wanted: Parts) -> "SharedParts":
        """Return parts like `wanted` that remember, for one fold."""
        return SharedParts(wanted.similarity, wanted.learner, self, fold)

    def trainer(self, learner: Learner, fold: int, X: Table, resources: Resources) -> Trainer:
        """Return a trainer on the rows of a fold; what is prepared does not depend on parameters."""
        key = (type(learner), fold)
        if key not in self._trainers:
            self._trainers[key] = Trainer.of(learner, X, resources)
        return replace(self._trainers[key], learner=learner)

    def related(self, similarity: Similarity, scaling: str, fold: int, resources: Resources) -> Related:
        """Return a similarity on the rows of a fold; all folds are fitted in one go."""
        key = (similarity, scaling)
        if key not in self._related:
            self._related[key] = self._relate(similarity, scaling, resources)
            if len(self._related) > _SIMILARITIES:
                self._related.popitem(last=False)
        self._related.move_to_end(key)
        return self._related[key][fold]

    def _relate(self, similarity: Similarity, scaling: str, resources: Resources) -> list[Related]:
        embedding, embedded = self._embed(scaling)
        seed = self._seed.child("similarity")
        sampled = any(fold.is_sampled for fold in self.folds)
        if self._for_all and (sampled or type(similarity).fit_folds is Similarity.fit_folds):
            return [Related(embedding, similarity.fit(embedded, seed, resources))]
        rows = [fold.rows for fold in self.folds]
        if type(similarity).fit_folds is not Similarity.fit_folds and not sampled:
            # One search more or less is free where folds share it, and then it is kept for the final models too.
            rows.append(np.arange(embedded.X.n_rows))
        # One at a time: each may hold the rows of its fold.
        fitted = similarity.fit_folds(
            embedded, rows, seed, resources, asked=self._asked() if sampled else None
        )
        if self._for_all:
            return [Related(embedding, deque(fitted, maxlen=1).pop())]
        return [
            Related(embedding, _sampled(one, fold) if fold.is_sampled else one)
            for fold, one in zip(self.folds, fitted, strict=False)
        ]

    def _asked(self) -> BoolVector:
        """Return which rows some fold trains on: a trial asks for the similarity of no others."""
        asked = np.zeros(self._data.X.n_rows, dtype=np.bool_)
        for fold in self.folds:
            asked[fold.rows[fold.sample]] = True
        return asked

    def _embed(self, scaling: str) -> tuple[FittedEmbedding, PUData]:
        """Return all rows embedded; only the last scaling asked for is kept, since it is as large as the data."""
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
class SharedParts(Parts):
    """Parts of one fold that look into the memory first."""

    memory: Memory | None = None
    fold: int = 0

    def trainer(self, X: Table, resources: Resources) -> Trainer:
        """Return the learner on the fold's rows; on other rows it is prepared anew."""
        if self.memory is None or X is not self.memory.training[self.fold].X:
            return super().trainer(X, resources)
        return self.memory.trainer(self.needed_learner, self.fold, X, resources)

    def relate(self, data: PUData, scaling: str, seed: Seed, resources: Resources) -> Related:
        """Return the similarity on the fold's rows, as all rows of the fold make it."""
        if self.memory is None or self.similarity is None or data is not self.memory.training[self.fold]:
            return super().relate(data, scaling, seed, resources)
        return self.memory.related(self.similarity, scaling, self.fold, resources)

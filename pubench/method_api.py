"""The contract of methods: ways to learn from positive and unlabeled rows.

A method is a plugin like the others (see `pubench.plugin_api`) that is given `Parts`: the similarity and the learner
it uses, and the means to apply them. It asks its parts for a `Trainer` or for what is `Related`, and does not make
these itself: a search over many methods hands out parts that remember, so that bins and neighbours are computed once.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Self

from pubench.embedding import Embedding, FittedEmbedding
from pubench.ensembles import Ensemble, Trainer
from pubench.errors import DataError, NotApplicableError
from pubench.json_files import read_json, write_json
from pubench.plugin_api import FittedSimilarity, Kind, Learner, Plugin, Similarity
from pubench.seeds import Seed
from pubench.types import Affinity, FloatVector, Json, PUData, Resources, Scores, Table


@dataclass(frozen=True, eq=False)
class Related:
    """A similarity that knows a table, and the embedding between them."""

    embedding: FittedEmbedding
    similarity: FittedSimilarity

    @property
    def affinity(self) -> Affinity:
        """One value per row of the table."""
        return self.similarity.affinity

    def score_new(self, X: Table, resources: Resources) -> Affinity:
        """Return one value per row of `X`, rows that were not fitted on."""
        return self.similarity.score_new(self.embedding.transform(X), resources)


@dataclass(frozen=True)
class Parts:
    """The other plugins that a method is given, as its `uses` asks."""

    similarity: Similarity | None = None
    learner: Learner | None = None

    @property
    def needed_learner(self) -> Learner:
        """The learner, for a method that can not do without."""
        if self.learner is None:
            raise NotApplicableError("This method needs a learner, and none is given.")
        return self.learner

    def trainer(self, X: Table, resources: Resources) -> Trainer:
        """Return the learner, ready to be trained on the rows of `X`."""
        return Trainer.of(self.needed_learner, X, resources)

    def relate(self, data: PUData, scaling: str, seed: Seed, resources: Resources) -> Related:
        """Return the similarity, fitted on `data` after an embedding of this scaling (see `pubench.Embedding`)."""
        if self.similarity is None:
            raise NotApplicableError("This method needs a similarity, and none is given.")
        try:
            embedding = Embedding(scaling).fit(data.X)
        except DataError as error:
            raise NotApplicableError(str(error)) from error
        embedded = PUData(embedding.transform(data.X), data.s)
        return Related(embedding, self.similarity.fit(embedded, seed.child("similarity"), resources))


class FittedMethod(ABC):
    """A trained PU classifier; it does not change any more."""

    @abstractmethod
    def score(self, X: Table, resources: Resources) -> Scores:
        """Return a score per row of `X`, a higher one for rows more likely positive.

        A row's score depends on that row alone.
        """

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write all that `score` needs into `folder`, which exists and is empty; never a pickle."""

    def importances(self) -> FloatVector | None:
        """Return how much each feature drives the score: shape (n_features,), 1 in all or all 0; None: unknown."""
        return None

    @property
    def expected_positives(self) -> float | None:
        """How many of the rows it was trained on it takes for positive, labelled ones included; None: unknown."""
        return None

    @property
    def chosen(self) -> Mapping[str, Json]:
        """What fitting decided by itself, for records and reports, such as {"k": 18}."""
        return MappingProxyType({})


@dataclass(frozen=True, eq=False)
class FittedEnsemble(FittedMethod):
    """What most methods learn: models whose mean is the score.

    Attributes:
        ensemble: the models.
        decided: what fitting decided by itself, of plain JSON values; "expected_positives" among it where known.
    """

    ensemble: Ensemble
    decided: Mapping[str, Json] = field(default_factory=dict)

    def score(self, X: Table, resources: Resources) -> Scores:
        """Return the mean over the models."""
        return Scores(self.ensemble.predict(X, resources))

    def save(self, folder: Path) -> None:
        """Write the models, and what was decided."""
        self.ensemble.save(folder)
        write_json(folder / _DECIDED, self.decided)

    @classmethod
    def load(cls, folder: Path, parts: Parts) -> Self:
        """Read back what `save` wrote; raises `DataError` for anything else."""
        decided = read_json(folder / _DECIDED)
        expected = decided.get("expected_positives")
        if expected is not None and type(expected) not in (int, float):
            raise DataError(f"{folder / _DECIDED} does not say how many positives are expected.")
        return cls(Ensemble.load(folder, parts.needed_learner), decided)

    def importances(self) -> FloatVector:
        """Return the mean of the models' importances."""
        return self.ensemble.importances()

    @property
    def expected_positives(self) -> float | None:
        """What was decided."""
        expected = self.decided.get("expected_positives")
        return float(expected) if isinstance(expected, int | float) else None

    @property
    def chosen(self) -> Mapping[str, Json]:
        """What was decided."""
        return self.decided


_DECIDED = "decided.json"


class Method(Plugin):
    """A way to learn from positive and unlabeled rows.

    Attributes:
        uses: the kinds of plugin that `fit` wants in `parts`.
        needs_prior: it wants the share of positives as the parameter `prior`.
        wants_all_labels: a ceiling, not a PU method: evaluation hands it data in which every positive is labelled.
    """

    kind = Kind.METHOD
    uses: ClassVar[frozenset[Kind]] = frozenset({Kind.LEARNER})
    needs_prior: ClassVar[bool] = False
    wants_all_labels: ClassVar[bool] = False

    @abstractmethod
    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedMethod:
        """Learn from `data`; `parts` holds what `uses` names."""

    def load(self, folder: Path, parts: Parts) -> FittedMethod:
        """Read back what `FittedMethod.save` wrote: it scores as the saved one did, bit for bit.

        `parts` are those it was fitted with. The files may be hostile: reading them runs no code of theirs, and what
        is no such model raises `DataError`. A method that learns something else than a `FittedEnsemble` overrides it.
        """
        return FittedEnsemble.load(folder, parts)

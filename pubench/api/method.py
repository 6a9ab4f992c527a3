"""The contract of methods: ways to learn from positive and unlabeled rows.

A method is a plugin like the others (see `pubench.api.plugin`) that is given `Parts`: the similarity and the learner
it uses, and the functions to apply them. It gets its `Trainer` and its `Related` from these parts, and does not make
them itself: a search over many methods passes parts with a cache, so that bins and neighbours are computed once.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Self

from pubench.api.plugin import DataSize, FittedSimilarity, Kind, Learner, Plugin, Similarity
from pubench.api.trainer import Ensemble, Trainer
from pubench.embedding import Embedding, FittedEmbedding
from pubench.errors import DataError, NotApplicableError
from pubench.neighbors.k_choice import KChoice
from pubench.seeds import Seed
from pubench.system.json_documents import Node, read_json, write_json
from pubench.types import Affinity, FloatVector, Json, PUData, Resources, Scores, Table


@dataclass(frozen=True, eq=False)
class Related:
    """A similarity fitted on a table, and the embedding between them."""

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
    """The plugins that a method is given, as declared by its `uses`."""

    similarity: Similarity | None = None
    learner: Learner | None = None

    def draft(self) -> Self:
        """Return the same parts as drafts; see `Plugin.draft`."""
        return replace(
            self,
            similarity=None if self.similarity is None else self.similarity.draft(),
            learner=None if self.learner is None else self.learner.draft(),
        )

    def suited_to(self, data: PUData) -> Self:
        """Return the same parts, their defaults derived from the size of `data`; see `Learner.suited_to`."""
        if self.learner is None:
            return self
        return replace(self, learner=self.learner.suited_to(DataSize.of(data)))

    @property
    def needed_learner(self) -> Learner:
        """The learner, for a method that requires one."""
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
        """Write everything that `score` needs into `folder`, which exists and is empty; never a pickle."""

    def importances(self) -> FloatVector | None:
        """Return the importance of each feature for the score: shape (n_features,), 1 in all or all 0; None: unknown."""
        return None

    @property
    def own_scores(self) -> FloatVector | None:
        """Scores of the training rows by models that were not trained on them, on the scale of `score`: shape (n_rows,).

        None: they are not known; `pubench.crossfit.cross_fit` computes them.
        """
        return None

    @property
    def expected_positives(self) -> float | None:
        """The expected number of tagged training rows, labelled ones included; None: unknown.

        It describes the method, and is no estimate of how many rows are positive: see `pubench.estimate_hidden`.
        """
        return None

    @property
    def chosen(self) -> Mapping[str, Json]:
        """What fitting decided by itself, for records and reports, such as {"k": 18}."""
        return MappingProxyType({})

    @property
    def k_choice(self) -> KChoice | None:
        """That of the similarity it was trained with (see `FittedSimilarity.k_choice`); None: it has none."""
        return None


@dataclass(frozen=True, eq=False)
class FittedEnsemble(FittedMethod):
    """The fitted method of most methods: models whose mean is the score.

    Attributes:
        ensemble: the models.
        decided: what fitting decided by itself, as plain JSON values; with "expected_positives" where known.
    """

    ensemble: Ensemble
    decided: Mapping[str, Json] = field(default_factory=dict)

    def score(self, X: Table, resources: Resources) -> Scores:
        """Return the mean over the models."""
        return Scores(self.ensemble.predict(X, resources))

    def save(self, folder: Path) -> None:
        """Write the models, and `decided.json`."""
        self.ensemble.save(folder)
        write_json(folder / _DECIDED, self.decided)

    @classmethod
    def load(cls, folder: Path, parts: Parts) -> Self:
        """Read back what `save` wrote; raises `DataError` for anything else."""
        path = folder / _DECIDED
        decided = read_json(path)
        Node(decided, str(path)).find("expected_positives").optional(Node.number)
        return cls(Ensemble.load(folder, parts.needed_learner), decided)

    def importances(self) -> FloatVector:
        """Return the mean of the models' importances."""
        return self.ensemble.importances()

    @property
    def expected_positives(self) -> float | None:
        """The entry of `decided`."""
        expected = self.decided.get("expected_positives")
        return float(expected) if isinstance(expected, int | float) else None

    @property
    def chosen(self) -> Mapping[str, Json]:
        """All of `decided`, and what training decided: as "learner" of the only model, as "learners" in lists of several."""
        own = [member.decided for member in self.ensemble.members]
        if len(own) == 1:
            return {**self.decided, "learner": dict(own[0])} if own[0] else self.decided
        names = dict.fromkeys(name for decided in own for name in decided)
        lists = {name: [decided.get(name) for decided in own] for name in names}
        return {**self.decided, "learners": lists} if lists else self.decided


_DECIDED = "decided.json"


class Method(Plugin):
    """A way to learn from positive and unlabeled rows.

    Attributes:
        uses: the kinds of plugin that `fit` needs in `parts`.
        needs_prior: it needs the share of positives, as the parameter `prior`.
        wants_all_labels: a ceiling, not a PU method: evaluation passes data in which every positive is labelled.
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

        `parts` are those it was fitted with. The files may be hostile: reading them runs no code, and any
        other content raises `DataError`. A method whose `fit` does not return a `FittedEnsemble` overrides it.
        """
        return FittedEnsemble.load(folder, parts)

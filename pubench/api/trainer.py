"""From a learner to an ensemble: rows prepared once, members trained in parallel, their mean.

    Table -> Trainer (learner and prepared rows) -> Models -> Ensemble

Every method that trains members or holds rows out uses these classes, so that all share binning, threads and files.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Literal, Self, TypeAlias

import numpy as np

from pubench.api.early_stopping import hold_out
from pubench.api.plugin import Learner, Model, Prepared
from pubench.embedding import Embedding, FittedEmbedding
from pubench.errors import DataError, NotApplicableError
from pubench.metrics.quantiles import EVEN, Quantiles, reference_rows
from pubench.seeds import Seed
from pubench.system.json_documents import Node, read_json, write_json
from pubench.system.machine import free_memory
from pubench.system.threads import map_in_order, thread_pool
from pubench.types import FloatVector, Json, Resources, Table, Tags, ignore_progress

Combine: TypeAlias = Literal["probabilities", "ranks"]
#: Returns the tags of the member of this number.
TagsOf: TypeAlias = Callable[[int], Tags]


@dataclass(frozen=True, eq=False)
class Trainer:
    """A learner with rows to train on, as often as needed.

    Attributes:
        learner: what trains.
        intake: the embedding of rows that the learner does not take as they are; None where it does.
        X: the rows as the learner sees them.
        prepared: the same, prepared by the learner.
    """

    learner: Learner
    intake: FittedEmbedding | None
    X: Table
    prepared: Prepared

    @classmethod
    def of(cls, learner: Learner, X: Table, resources: Resources) -> Self:
        """Embed rows if necessary and prepare them, once for all trainings.

        If there are categories or missing values that the learner does not take, rows get the standard embedding.

        Raises:
            NotApplicableError: all features are constant.
        """
        intake = None if _takes_as_is(learner, X) else _fit_embedding(X)
        seen = X if intake is None else intake.transform(X)
        return cls(learner, intake, seen, learner.prepare(seen, resources))

    def train(self, tags: Tags, seed: Seed, resources: Resources) -> Model:
        """Train once, with all threads; rows to stop early on are held out if the learner wants some."""
        return self.learner.train(self.prepared, self._held_out(tags, seed), seed, resources)

    def _held_out(self, tags: Tags, seed: Seed) -> Tags:
        return hold_out(tags, self.learner.stop_share, seed.child("stop"))

    def members(
        self, tags_of: TagsOf, count: int, seed: Seed, resources: Resources, *, fewest: int | None = None
    ) -> Iterator[Model]:
        """Yield members 0 to `count` - 1, trained in parallel, one thread each, or as many together as the learner states.

        A member depends on its number, its tags and the seed alone, and so do the rows it stops early on: they train others.
        On a GPU, or where memory is short, members are trained one after another. Progress is reported as they are yielded;
        closing the iterator stops the training. If `fewest` is given, no member beyond that number is started after
        `resources.until`.
        """
        learner = self.learner.member_of(count)
        size = learner.taggings_at_once
        groups = [range(start, min(start + size, count)) for start in range(0, count, size)]
        parallel = min(self._parallel_trainings(resources), len(groups))
        alone = replace(
            resources, n_threads=max(1, resources.n_threads // parallel), progress=ignore_progress
        )

        def train(numbers: range) -> Sequence[Model]:
            seeds = [seed.child("member", number) for number in numbers]
            taggings = [
                self._held_out(tags_of(number), seed) for number, seed in zip(numbers, seeds, strict=True)
            ]
            return learner.train_many(self.prepared, taggings, seeds, alone)

        with thread_pool(parallel) as pool:
            timely = groups if fewest is None else _in_time(groups, fewest, resources.until)
            done = 0
            for models in map_in_order(pool, train, timely, ahead=parallel):
                for model in models:
                    done += 1
                    resources.progress(done / count)
                    yield model

    def _parallel_trainings(self, resources: Resources) -> int:
        if resources.device != "cpu":
            return 1
        memory = self.learner.memory * 8 * self.X.values.size
        return max(1, min(resources.n_threads, int(0.8 * free_memory() / max(memory, 1))))


def _in_time(groups: Iterable[range], fewest: int, until: float) -> Iterator[range]:
    """Yield groups of members until the deadline, but those that begin below `fewest` in any case."""
    return takewhile(lambda numbers: numbers[0] < fewest or time.monotonic() < until, groups)


def _takes_as_is(learner: Learner, X: Table) -> bool:
    takes = learner.takes
    categorical = any(feature.kind == "categorical" for feature in X.features)
    return (takes.categorical or not categorical) and (takes.missing or not np.isnan(X.values).any())


def _fit_embedding(X: Table) -> FittedEmbedding:
    try:
        return Embedding().fit(X)
    except DataError as error:
        raise NotApplicableError(str(error)) from error


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Trained models that score together: the mean of their probabilities, or of their ranks.

    Attributes:
        learner: that trained them.
        intake: the embedding of rows before they are scored; None: none.
        members: at least one.
        quantiles: of each member's probabilities of the rows it was trained on, at even levels. A probability is replaced
            by its rank among them. None: it is used as it is.
    """

    learner: Learner
    intake: FittedEmbedding | None
    members: tuple[Model, ...]
    quantiles: tuple[Quantiles, ...] | None = None

    @classmethod
    def of(
        cls,
        trainer: Trainer,
        members: Sequence[Model],
        resources: Resources,
        combine: Combine = "probabilities",
    ) -> Self:
        """Join members that a trainer has trained."""
        quantiles = None
        if combine == "ranks":
            reference = reference_rows(trainer.X)
            quantiles = tuple(Quantiles.of(model.predict(reference, resources)) for model in members)
        return cls(trainer.learner, trainer.intake, tuple(members), quantiles)

    def predict(self, X: Table, resources: Resources) -> FloatVector:
        """Return the mean over members for each row of `X`, in [0, 1]; a row's value depends on that row alone."""
        seen = X if self.intake is None else self.intake.transform(X)
        total = np.zeros(X.n_rows)
        for number, member in enumerate(self.members):
            total += self._counted(number, member.predict(seen, resources))
        return total / len(self.members)

    def _counted(self, number: int, probabilities: FloatVector) -> FloatVector:
        return probabilities if self.quantiles is None else self.quantiles[number].steps(probabilities)

    def importances(self) -> FloatVector:
        """Return the mean of the members' importances: shape (n_features,), of the features before `intake`."""
        mean = np.mean([member.importances() for member in self.members], axis=0)
        return mean if self.intake is None else self.intake.by_feature(mean)

    def save(self, folder: Path) -> None:
        """Write one file per member, and `ensemble.json`, into `folder`, which exists."""
        for number, member in enumerate(self.members):
            member.save(folder / _member_file(number, self.learner))
        document: dict[str, Json] = {
            "members": len(self.members),
            "intake": None if self.intake is None else self.intake.to_json(),
            "quantiles": None if self.quantiles is None else [one.values.tolist() for one in self.quantiles],
        }
        write_json(folder / _ENSEMBLE, document)

    @classmethod
    def load(cls, folder: Path, learner: Learner) -> Self:
        """Read back what `save` wrote with the same learner.

        Raises:
            DataError: the folder holds something else. No code in it is run.
        """
        path = folder / _ENSEMBLE
        document = Node(read_json(path), str(path))
        count = document["members"].integer(1, 100_000)
        return cls(
            learner,
            document.find("intake").optional(lambda node: FittedEmbedding.from_json(node.mapping())),
            tuple(learner.load(folder / _member_file(number, learner)) for number in range(count)),
            document.find("quantiles").optional(lambda node: Quantiles.list_from_json(node, EVEN, count)),
        )


_ENSEMBLE = "ensemble.json"


def _member_file(number: int, learner: Learner) -> str:
    return f"member-{number:03d}{learner.suffix}"

"""From a learner to an ensemble: rows taken in once, members trained side by side, their mean.

    Table -> Trainer (learner and prepared rows) -> Models -> Ensemble

Every method that trains members or holds rows out goes through here, so that all share binning, threads and files.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Literal, Self, TypeAlias

import numpy as np

from pubench.embedding import Embedding, FittedEmbedding
from pubench.errors import DataError, NotApplicableError
from pubench.json_files import read_json, write_json
from pubench.machine import free_memory
from pubench.plugin_api import Learner, Model, Prepared
from pubench.quantiles import EVEN, Quantiles, reference_rows
from pubench.seeds import Seed
from pubench.threads import in_order, working
from pubench.types import FloatVector, Json, Resources, Table, Tags, tell_nobody

Combine: TypeAlias = Literal["probabilities", "ranks"]
#: Tags of the member of this number.
TagsOf: TypeAlias = Callable[[int], Tags]


@dataclass(frozen=True, eq=False)
class Trainer:
    """A learner with rows to train on, as often as needed.

    Attributes:
        learner: what trains.
        intake: what the rows went through because the learner can not digest them as they are; None where it can.
        X: the rows as the learner sees them.
        prepared: the same, prepared by the learner.
    """

    learner: Learner
    intake: FittedEmbedding | None
    X: Table
    prepared: Prepared

    @classmethod
    def of(cls, learner: Learner, X: Table, resources: Resources) -> Self:
        """Take the rows in and prepare them, which all trainings share.

        A learner that takes no categories, or no missing values, where there are some gets the standard embedding.

        Raises:
            NotApplicableError: no feature tells rows apart.
        """
        intake = None if _digests(learner, X) else _fit_embedding(X)
        seen = X if intake is None else intake.transform(X)
        return cls(learner, intake, seen, learner.prepare(seen, resources))

    def train(self, tags: Tags, seed: Seed, resources: Resources) -> Model:
        """Train once, with all threads there are."""
        return self.learner.train(self.prepared, tags, seed, resources)

    def members(
        self, tags_of: TagsOf, count: int, seed: Seed, resources: Resources, *, fewest: int | None = None
    ) -> Iterator[Model]:
        """Yield members 0 to `count` - 1, trained side by side, one thread each.

        A member depends on its number, its tags and the seed alone. On a GPU, or where memory is short, they are
        trained one after another. Progress is told as they are yielded; whoever stops asking stops the work. Where
        `fewest` will do, no further member is begun after `resources.until`.
        """
        side_by_side = self._side_by_side(resources)
        alone = replace(resources, n_threads=resources.n_threads // side_by_side, progress=tell_nobody)

        def train(number: int) -> Model:
            return self.train(tags_of(number), seed.child("member", number), alone)

        with working(side_by_side) as pool:
            numbers = range(count) if fewest is None else _in_time(count, fewest, resources.until)
            for number, model in enumerate(in_order(pool, train, numbers, ahead=side_by_side)):
                resources.progress((number + 1) / count)
                yield model

    def _side_by_side(self, resources: Resources) -> int:
        if resources.device != "cpu":
            return 1
        one = self.learner.memory * 8 * self.X.values.size
        return max(1, min(resources.n_threads, int(0.8 * free_memory() / max(one, 1))))


def _in_time(count: int, fewest: int, until: float) -> Iterator[int]:
    """Yield 0 to `count` - 1 as long as there is time."""
    return takewhile(lambda number: number < fewest or time.monotonic() < until, range(count))


def _digests(learner: Learner, X: Table) -> bool:
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
        learner: what trained them.
        intake: what rows go through before they see them; None if nothing.
        members: at least one.
        quantiles: of each member's probabilities of the rows it was trained on, at even levels. A probability counts as
            its rank among them. None: it counts itself.
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
        """Write one file per member, and what joins them, into `folder`, which exists."""
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
            DataError: it is no such folder. Nothing in it is run.
        """
        document = read_json(folder / _ENSEMBLE)
        count, intake = document.get("members"), document.get("intake")
        if type(count) is not int or not 1 <= count <= 100_000:
            raise DataError(f"{folder / _ENSEMBLE} does not say how many members there are.")
        return cls(
            learner,
            None if intake is None else FittedEmbedding.from_json(intake),
            tuple(learner.load(folder / _member_file(number, learner)) for number in range(count)),
            _quantiles(document.get("quantiles"), count, folder / _ENSEMBLE),
        )


_ENSEMBLE = "ensemble.json"


def _member_file(number: int, learner: Learner) -> str:
    return f"member-{number:03d}{learner.suffix}"


def _quantiles(written: Json, count: int, path: Path) -> tuple[Quantiles, ...] | None:
    if written is None:
        return None
    if not isinstance(written, list) or len(written) != count:
        raise DataError(f"{path} holds quantiles that are none; it is damaged.")
    return tuple(Quantiles.from_json(one, EVEN, path) for one in written)

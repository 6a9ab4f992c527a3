"""Several methods that vote by rank, each with parts of its own: the method behind a blend of configurations.

What the voters score does not have to mean the same: each score counts as its rank among the training rows' scores.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pubench.errors import DataError, ParameterError
from pubench.json_files import read_json, write_json
from pubench.method_api import FittedMethod, Method, Parts
from pubench.quantiles import TOWARDS_TOP, Quantiles, reference_rows
from pubench.seeds import Seed
from pubench.types import FloatVector, Json, PUData, Resources, Scores, Table

_RANKS = "ranks.json"


@dataclass(frozen=True)
class Voter:
    """A method that takes part.

    Attributes:
        weight: of its vote, from 1 up.
        method: the method.
        parts: what it is given.
    """

    weight: int
    method: Method
    parts: Parts


@dataclass(frozen=True, eq=False)
class FittedVoter:
    """A trained method that takes part.

    Attributes:
        weight: of its vote.
        fitted: the method.
        quantiles: of its scores on rows that it was trained on.
    """

    weight: int
    fitted: FittedMethod
    quantiles: Quantiles


@dataclass(frozen=True, eq=False)
class FittedBlend(FittedMethod):
    """Trained methods whose ranks are averaged by weight."""

    voters: tuple[FittedVoter, ...]

    def score(self, X: Table, resources: Resources) -> Scores:
        """Return the weighted mean of the ranks, in [0, 1]; a row's score depends on that row alone."""
        total = np.zeros(X.n_rows)
        for voter in self.voters:
            total += voter.weight * voter.quantiles.ranks(voter.fitted.score(X, resources).values)
        return Scores(total / sum(voter.weight for voter in self.voters))

    def save(self, folder: Path) -> None:
        """Write every method into a folder of its own, and the quantiles."""
        for number, voter in enumerate(self.voters):
            place = _place(folder, number)
            place.mkdir()
            voter.fitted.save(place)
        write_json(folder / _RANKS, {"quantiles": [voter.quantiles.values.tolist() for voter in self.voters]})

    def importances(self) -> FloatVector | None:
        """Return the weighted mean over the methods that know; None if none does."""
        known = [(v.weight, found) for v in self.voters if (found := v.fitted.importances()) is not None]
        if not known:
            return None
        weights, each = zip(*known, strict=True)
        return np.asarray(np.average(each, axis=0, weights=weights))

    @property
    def expected_positives(self) -> float | None:
        """The weighted mean over the methods that know; None if none does."""
        known = [(v.weight, found) for v in self.voters if (found := v.fitted.expected_positives) is not None]
        return sum(weight * found for weight, found in known) / sum(w for w, _ in known) if known else None

    @property
    def chosen(self) -> Mapping[str, Json]:
        """What each method decided by itself, in their order, as "blended"."""
        return {"blended": [dict(voter.fitted.chosen) for voter in self.voters]}


class Blended(Method):
    """The weighted mean of the ranks that other methods give a row; made from these, not registered under its name.

    Args:
        voters: at least two.
    """

    name = "blend"
    searched = False
    uses = frozenset()

    def __init__(self, voters: tuple[Voter, ...]) -> None:
        super().__init__()
        if len(voters) < 2 or any(voter.weight < 1 for voter in voters):
            raise ParameterError("A blend has at least two parts, each of a weight from 1 up.")
        self.voters = voters

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Blended) and other.voters == self.voters

    def __hash__(self) -> int:
        return hash(self.voters)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.voters!r})"

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedMethod:
        """Fit the methods one after another, each in its share of the time, and rank the training rows by each.

        What is shared between `parts` of the same kind, such as the memory of a search, is shared by the voters too.
        """
        reference = reference_rows(data.X)
        weights = [voter.weight for voter in self.voters]
        fitted = []
        for number, voter in enumerate(self.voters):
            before, left = sum(weights[:number]), sum(weights[number:])
            start, stop = before / sum(weights), (before + voter.weight) / sum(weights)
            now = time.monotonic()
            until = now + (resources.until - now) * voter.weight / left
            own = replace(parts, similarity=voter.parts.similarity, learner=voter.parts.learner)
            mine = replace(resources.part(start, stop), until=until)
            one = voter.method.fit(data, own, seed.child("voter", number), mine)
            scores = one.score(reference, Resources(resources.n_threads, resources.device)).values
            fitted.append(FittedVoter(voter.weight, one, Quantiles.of(scores, TOWARDS_TOP)))
        return FittedBlend(tuple(fitted))

    def load(self, folder: Path, parts: Parts) -> FittedMethod:  # noqa: ARG002 - voters have parts of their own
        """Read every method back from its folder."""
        path = folder / _RANKS
        written = read_json(path).get("quantiles")
        if not isinstance(written, list) or len(written) != len(self.voters):
            raise DataError(f"{path} is about another number of parts than the blend has.")
        quantiles = [Quantiles.from_json(one, TOWARDS_TOP, path) for one in written]
        return FittedBlend(
            tuple(
                FittedVoter(voter.weight, voter.method.load(_place(folder, number), voter.parts), known)
                for number, (voter, known) in enumerate(zip(self.voters, quantiles, strict=True))
            )
        )


def _place(folder: Path, number: int) -> Path:
    return folder / f"part-{number}"

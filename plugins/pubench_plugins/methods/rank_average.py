"""Several methods that vote by rank: what each scores does not have to mean the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pubench import (
    Choice,
    DataError,
    FittedMethod,
    FloatVector,
    Int,
    Json,
    Kind,
    Method,
    Parts,
    PUData,
    Resources,
    Scores,
    Seed,
    Table,
    read_json,
    write_json,
)
from pubench_plugins.methods.bagging import Bagging
from pubench_plugins.methods.elkan_weighted import ElkanWeighted
from pubench_plugins.methods.probtagging import ProbTagging

#: Ranks are kept at these levels: evenly, and ever closer towards the top, where positives are.
_LEVELS = np.unique(np.concatenate([np.linspace(0, 1, 513), 1 - np.geomspace(1e-6, 0.1, 256)]))
_RANKS = "ranks.json"


@dataclass(frozen=True, eq=False)
class Ranks:
    """Turns a method's scores into ranks among the training rows.

    Attributes:
        scores: ascending, without repetition.
        ranks: of these scores, in [0, 1], not descending; between them ranks are interpolated.
    """

    scores: FloatVector
    ranks: FloatVector

    @classmethod
    def of(cls, scores: FloatVector) -> "Ranks":
        """Learn the ranks of these scores; equal ones share the middle of theirs."""
        knots = np.quantile(scores, _LEVELS, method="inverted_cdf")
        values, at = np.unique(knots, return_inverse=True)
        return cls(values, np.bincount(at, weights=_LEVELS) / np.bincount(at))

    @classmethod
    def from_json(cls, content: Json) -> "Ranks":
        """Read back what `to_json` returned; raises `DataError` for anything else."""
        try:
            scores, ranks = (np.array(content[name], dtype=np.float64) for name in ("scores", "ranks"))  # type: ignore[call-overload,index]
        except (TypeError, ValueError, KeyError, IndexError) as error:
            raise DataError("Ranks of scores are damaged.") from error
        sound = scores.ndim == 1 and scores.shape == ranks.shape and len(scores) > 0
        if not (sound and np.all(np.diff(scores) > 0) and np.all(np.diff(ranks) >= 0)):
            raise DataError("Ranks of scores are damaged; they do not rise.")
        return cls(scores, ranks)

    def to_json(self) -> dict[str, Json]:
        """Return both vectors."""
        return {"scores": self.scores.tolist(), "ranks": self.ranks.tolist()}

    def __call__(self, scores: FloatVector) -> FloatVector:
        """Return the rank of each score, which depends on that score alone."""
        return np.interp(scores, self.scores, self.ranks)


@dataclass(frozen=True, eq=False)
class FittedRankAverage(FittedMethod):
    """Fitted methods by name, and how the scores of each become ranks."""

    fitted: Mapping[str, FittedMethod]
    ranks: Mapping[str, Ranks]

    def score(self, X: Table, resources: Resources) -> Scores:
        """Return the mean of the ranks."""
        each = [self.ranks[name](fitted.score(X, resources).values) for name, fitted in self.fitted.items()]
        return Scores(np.mean(each, axis=0))

    def save(self, folder: Path) -> None:
        """Write every method into a folder of its own, and the ranks."""
        for name, fitted in self.fitted.items():
            (folder / name).mkdir()
            fitted.save(folder / name)
        write_json(folder / _RANKS, {name: ranks.to_json() for name, ranks in self.ranks.items()})

    def importances(self) -> FloatVector | None:
        """Return the mean of the methods' importances."""
        each = [found for fitted in self.fitted.values() if (found := fitted.importances()) is not None]
        return np.asarray(np.mean(each, axis=0)) if each else None

    @property
    def chosen(self) -> Mapping[str, Json]:
        """What each method decided, by its name."""
        return {name: dict(fitted.chosen) for name, fitted in self.fitted.items()}


class RankAverage(Method):
    """The mean of the ranks that ProbTagging, bagging and weighted Elkan give a row, with one learner."""

    name = "rank-average"
    searched = False  # trains several methods
    uses = frozenset({Kind.SIMILARITY, Kind.LEARNER})
    space = {
        "of": Choice(
            (
                "probtagging+bagging+elkan-weighted",
                "probtagging+bagging",
                "probtagging+elkan-weighted",
                "bagging+elkan-weighted",
            ),
            default="probtagging+bagging+elkan-weighted",
            help="the methods that vote, each at its defaults",
        ),
        "members": Int(
            5,
            200,
            default=50,
            log=True,
            tuned=False,
            draft=10,
            help="models in the ensembles of probtagging and bagging",
        ),
    }

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedRankAverage:
        """Fit the methods one after another, and rank the training rows by each."""
        methods = self.methods
        fitted: dict[str, FittedMethod] = {}
        ranks: dict[str, Ranks] = {}
        for number, method in enumerate(methods):
            part = resources.part(number / len(methods), (number + 1) / len(methods))
            fitted[method.name] = method.fit(data, parts, seed.child(method.name), part)
            ranks[method.name] = Ranks.of(
                fitted[method.name].score(data.X, Resources(n_threads=resources.n_threads)).values
            )
        return FittedRankAverage(fitted, ranks)

    def load(self, folder: Path, parts: Parts) -> FittedRankAverage:
        """Read every method back from its folder."""
        content = read_json(folder / _RANKS)
        if set(content) != {method.name for method in self.methods}:
            raise DataError(f"{folder / _RANKS} is about other methods than {self.params['of']}.")
        ranks = {method.name: Ranks.from_json(content[method.name]) for method in self.methods}
        return FittedRankAverage(
            {method.name: method.load(folder / method.name, parts) for method in self.methods}, ranks
        )

    @property
    def methods(self) -> Sequence[Method]:
        """The methods that vote."""
        members = self.params["members"]
        known = (ProbTagging(members=members), Bagging(members=members), ElkanWeighted())
        wanted = self.params["of"].split("+")
        return [method for method in known if method.name in wanted]

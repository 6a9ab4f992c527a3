"""The blended rank by several methods, whose scores need not have the same scale."""

from pathlib import Path

from pubench import (
    BlendMember,
    BlendMethod,
    Choice,
    FittedMethod,
    Int,
    Kind,
    Method,
    Parts,
    PUData,
    Resources,
    Seed,
)
from pubench_plugins.methods.bagging import Bagging
from pubench_plugins.methods.elkan_weighted import ElkanWeighted
from pubench_plugins.methods.probtagging import ProbTagging


class RankAverage(Method):
    """The blended ranks that ProbTagging, bagging and weighted Elkan give a row, with one learner."""

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
            help="the methods that are averaged, each at its defaults",
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

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedMethod:
        """Fit the methods one after another, and rank the training rows by each."""
        return self._blend(parts).fit(data, parts, seed, resources)

    def load(self, folder: Path, parts: Parts) -> FittedMethod:
        """Read every method back from its folder."""
        return self._blend(parts).load(folder, parts)

    def _blend(self, parts: Parts) -> BlendMethod:
        """Return the methods, each with weight 1."""
        members = self.params["members"]
        known = (ProbTagging(members=members), Bagging(members=members), ElkanWeighted())
        names = self.params["of"].split("+")
        return BlendMethod(tuple(BlendMember(1, method, parts) for method in known if method.name in names))

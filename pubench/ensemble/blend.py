"""The weighted mean of several methods, each with parts of its own: the model of a blend of configurations.

Scores of the members may have different scales: each score counts as the log-odds of its rank among scores of the training rows
by models that were not trained on them. The mean of the ranks themselves is flat at the top of the list, which matters most:
on the development tables average precision is .712 with it and .718 with log-odds (`benchmarks/choice_rules.py`). Ranks among scores of a member's own training rows would be worthless: a forest gives nearly
all of them 0 or 1, and every new row a place between.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from pubench.api.method import FittedMethod, Method, Parts
from pubench.crossfit.cross_fit import own_folds, scores_by_others
from pubench.crossfit.fold_cache import CachedParts, FoldCache
from pubench.errors import ParameterError
from pubench.metrics.quantiles import TOWARDS_TOP, Quantiles, reference_rows
from pubench.seeds import Seed
from pubench.system.json_documents import Node, read_json, write_json
from pubench.types import FloatVector, Json, PUData, Resources, Scores, Table

_RANKS = "ranks.json"
#: Quantiles tell no finer ranks apart.
_LEAST_RANK = 1e-5
#: Share of the progress for cross-fitting, which gives the scores of training rows and the scale of each member.
_CROSS_FIT_SHARE = 0.5
#: Added to the measured seconds of each member: what is over in no time was not measured well.
_LEAST_SECONDS = 0.1


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What is known of a method from rows that it was not trained on.

    Attributes:
        scores: of such rows.
        seconds: that its draft takes on the rows at hand; members share the time in these proportions, and have it in any case.
    """

    scores: FloatVector
    seconds: float


@dataclass(frozen=True)
class BlendMember:
    """A method of a blend.

    Attributes:
        weight: of its ranks in the mean, at least 1.
        method: the method.
        parts: the similarity and the learner that it uses.
        held_out: what a search knows of the method on the same rows; None: fitting finds it by cross-fitting.
    """

    weight: int
    method: Method
    parts: Parts
    held_out: HeldOut | None = field(default=None, compare=False)


@dataclass(frozen=True, eq=False)
class FittedBlendMember:
    """A trained method of a blend.

    Attributes:
        weight: of its ranks in the mean.
        fitted: the method.
        quantiles: of scores of rows that it was not trained on.
    """

    weight: int
    fitted: FittedMethod
    quantiles: Quantiles


@dataclass(frozen=True, eq=False)
class FittedBlend(FittedMethod):
    """Trained methods that are averaged by weight.

    Attributes:
        members: the methods.
        own: see `own_scores`.
        least_rank: a rank nearer to 0 or 1 counts as this near. None: ranks are averaged instead of their log-odds, as in
            blends that were saved before format 1.3.
    """

    members: tuple[FittedBlendMember, ...]
    own: FloatVector | None = None
    least_rank: float | None = None

    @property
    def own_scores(self) -> FloatVector | None:
        """The blended ranks of the training rows by models that were not trained on them; None where not computed."""
        return self.own

    def score(self, X: Table, resources: Resources) -> Scores:
        """Return the blended ranks, in [0, 1]; a row's score depends on that row alone."""
        return Scores(self.combine([member.fitted.score(X, resources).values for member in self.members]))

    def combine(self, scores: Sequence[FloatVector]) -> FloatVector:
        """Return the rank whose log-odds are the weighted mean of those of the ranks of each member's scores."""
        weights = [member.weight for member in self.members]
        pairs = list(zip(self.members, scores, strict=True))
        if self.least_rank is None:
            ranks = [member.quantiles.ranks(own) for member, own in pairs]
            return np.asarray(np.average(ranks, axis=0, weights=weights))
        log_odds = [member.quantiles.log_odds(own, self.least_rank) for member, own in pairs]
        return np.asarray(1 / (1 + np.exp(-np.average(log_odds, axis=0, weights=weights))))

    def save(self, folder: Path) -> None:
        """Write every method into a folder of its own, and the quantiles."""
        for number, member in enumerate(self.members):
            member_folder = _member_folder(folder, number)
            member_folder.mkdir()
            member.fitted.save(member_folder)
        quantiles = [member.quantiles.values.tolist() for member in self.members]
        write_json(folder / _RANKS, {"quantiles": quantiles, "least_rank": self.least_rank})

    def importances(self) -> FloatVector | None:
        """Return the weighted mean over the methods that have importances; None if none has."""
        known = [(v.weight, found) for v in self.members if (found := v.fitted.importances()) is not None]
        if not known:
            return None
        weights, importances = zip(*known, strict=True)
        return np.asarray(np.average(importances, axis=0, weights=weights))

    @property
    def expected_positives(self) -> float | None:
        """The weighted mean over the methods that have an estimate; None if none has."""
        known = [
            (v.weight, found) for v in self.members if (found := v.fitted.expected_positives) is not None
        ]
        return sum(weight * found for weight, found in known) / sum(w for w, _ in known) if known else None

    @property
    def chosen(self) -> Mapping[str, Json]:
        """What each method decided by itself, in their order, as "blended"."""
        return {"blended": [dict(member.fitted.chosen) for member in self.members]}


class BlendMethod(Method):
    """The weighted mean of the log-odds of the ranks that other methods give a row; it is not registered: its members are its parameters.

    Args:
        members: at least two.
    """

    name = "blend"
    searched = False
    uses = frozenset()

    def __init__(self, members: tuple[BlendMember, ...]) -> None:
        super().__init__()
        if len(members) < 2 or any(member.weight < 1 for member in members):
            raise ParameterError("A blend has at least two parts, each of a weight from 1 up.")
        self.members = members

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BlendMethod) and other.members == self.members

    def __hash__(self) -> int:
        return hash(self.members)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.members!r})"

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedMethod:
        """Cross-fit the methods, unless a search did, then fit one after another, each in its share of the time.

        A method has at least the time that its draft takes: with fewer members it would not be what was cross-fitted.

        What `parts` share, such as the cache of a search, is shared by the members too.
        """
        known = [member.held_out for member in self.members if member.held_out is not None]
        folds = own_folds(data.s, seed) if len(known) < len(self.members) else ()
        if folds:
            # Not cut short: drafts are quick, and the scale of the scores must not depend on the machine.
            cross = replace(resources.part(0.0, _CROSS_FIT_SHARE), until=float("inf"))
            known = self._cross_fit(FoldCache(data, folds, seed), seed, cross)
            resources = resources.part(_CROSS_FIT_SHARE, 1.0)
        fitted = self._fit_members(data, parts, [one.seconds for one in known], seed, resources)
        if not known:  # a single labelled row: nothing else is there to rank by
            X, plain = reference_rows(data.X), Resources(resources.n_threads, resources.device)
            known = [HeldOut(one.score(X, plain).values, 1.0) for one in fitted]
        blended = FittedBlend(
            tuple(
                FittedBlendMember(member.weight, one, Quantiles.of(held_out.scores, TOWARDS_TOP))
                for member, one, held_out in zip(self.members, fitted, known, strict=True)
            ),
            least_rank=max(_LEAST_RANK, 0.5 / min(len(one.scores) for one in known)),
        )
        return replace(blended, own=blended.combine([one.scores for one in known])) if folds else blended

    def _cross_fit(self, cache: FoldCache, seed: Seed, resources: Resources) -> list[HeldOut]:
        known: list[HeldOut] = []
        for number, member in enumerate(self.members):
            part = resources.part(number / len(self.members), (number + 1) / len(self.members))
            own = seed.child("voter", number)
            scores, seconds = scores_by_others(member.method, member.parts, cache, own, part)
            known.append(HeldOut(scores, cache.folds[0].seconds_for(len(scores), seconds)))
        return known

    def _fit_members(
        self, data: PUData, parts: Parts, seconds: Sequence[float], seed: Seed, resources: Resources
    ) -> list[FittedMethod]:
        if not isinstance(parts, CachedParts):  # members share similarities and prepared rows
            parts = FoldCache(data, (), seed, for_all=True).parts(0, parts)
        shares = np.array(seconds or [1.0] * len(self.members)) + _LEAST_SECONDS
        ends = np.cumsum(shares) / shares.sum()
        fitted: list[FittedMethod] = []
        for number, member in enumerate(self.members):
            now, start = time.monotonic(), ends[number] - shares[number] / shares.sum()
            until = now + (resources.until - now) * shares[number] / shares[number:].sum()
            until = max(until, now + (seconds[number] if seconds else 0.0))
            own = replace(parts, similarity=member.parts.similarity, learner=member.parts.learner)
            share = replace(resources.part(float(start), float(ends[number])), until=until)
            fitted.append(member.method.fit(data, own, seed.child("voter", number), share))
        return fitted

    def load(self, folder: Path, parts: Parts) -> FittedMethod:  # noqa: ARG002 - members have their own parts
        """Read every method back from its folder."""
        path = folder / _RANKS
        document = Node(read_json(path), str(path))
        quantiles = Quantiles.list_from_json(document["quantiles"], TOWARDS_TOP, len(self.members))
        return FittedBlend(
            least_rank=document.find("least_rank").optional(_read_least_rank),
            members=tuple(
                FittedBlendMember(
                    member.weight, member.method.load(_member_folder(folder, number), member.parts), known
                )
                for number, (member, known) in enumerate(zip(self.members, quantiles, strict=True))
            ),
        )


def _read_least_rank(node: Node) -> float:
    least = node.number()
    if not _LEAST_RANK <= least <= 0.5:
        raise node.error(f"number from {_LEAST_RANK:g} to 0.5")
    return least


def _member_folder(folder: Path, number: int) -> Path:
    return folder / f"part-{number}"

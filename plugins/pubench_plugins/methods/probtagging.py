"""ProbTagging, the paper's method: tag unlabeled rows by chance, train on each tagging, take the mean."""

from dataclasses import dataclass

from pubench import (
    Choice,
    Ensemble,
    FittedEnsemble,
    Float,
    Int,
    KChoice,
    Kind,
    Method,
    Parts,
    PUData,
    Related,
    Resources,
    Seed,
    Tagging,
    train_members,
    until_settled,
)


@dataclass(frozen=True, eq=False)
class FittedProbTagging(FittedEnsemble):
    """The ensemble, and what its tags came from.

    Attributes:
        related: the similarity on the training rows; None in a model that was read from files.
    """

    related: Related | None = None

    @property
    def k_choice(self) -> KChoice | None:
        """That of the similarity."""
        return None if self.related is None else self.related.similarity.k_choice


class ProbTagging(Method):
    """Unlabeled rows become positives with a chance that is their similarity to labelled ones; mean of many models."""

    name = "probtagging"
    uses = frozenset({Kind.SIMILARITY, Kind.LEARNER})
    space = {
        "members": Int(1, 1000, default=50, log=True, tuned=False, draft=5, help="models in the ensemble"),
        "scaling": Choice(
            ("standard", "robust", "quantile", "none"),
            default="standard",
            expensive=True,
            help="of features, before any distance",
        ),
        "tags": Choice(("drawn", "soft"), default="drawn", help="tag by chance, or by share as a soft label"),
        "negatives": Choice(("all", "sampled"), default="all", help="train on all negatives or on a sample"),
        "ratio": Float(
            1.0,
            200.0,
            default=10.0,
            log=True,
            help="sampled negatives per positive",
            when=("negatives", "sampled"),
        ),
        "limit": Choice(("none", "cap"), default="none", help="limit how many rows are tagged positive"),
        "cap": Float(
            0.1, 10.0, default=1.0, log=True, help="expected tags per labelled row", when=("limit", "cap")
        ),
        "combine": Choice(
            ("probabilities", "ranks"), default="probabilities", help="what of the members is averaged"
        ),
        "stop": Choice(
            ("never", "settled"),
            default="never",
            tuned=False,
            help="train fewer members once their order settles",
        ),
        "reliability": Float(
            0.9,
            0.9999,
            default=0.99,
            tuned=False,
            help="of the order of rows, to stop at",
            when=("stop", "settled"),
        ),
    }

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedProbTagging:
        """Relate rows, tag them, train, average."""
        related = parts.relate(data, self.params["scaling"], seed, resources.part(0.0, 0.4))
        trainer = parts.trainer(data.X, resources)
        tagging = self.tagging
        training = resources.part(0.4, 1.0)
        members = train_members(
            trainer, data.s, related.affinity, tagging, self.params["members"], seed, training
        )
        if self.params["stop"] == "settled":
            members = until_settled(members, trainer, self.params["reliability"], resources)
        ensemble = Ensemble.of(trainer, list(members), resources, self.params["combine"])
        decided = {
            **related.similarity.chosen,
            "members": len(ensemble.members),
            "expected_positives": float(tagging.chances(data.s, related.affinity).sum()),
        }
        return FittedProbTagging(ensemble, decided, related)

    @property
    def tagging(self) -> Tagging:
        """How rows are tagged."""
        return Tagging(
            soft=self.params["tags"] == "soft",
            negatives=self.params.get("ratio"),
            cap=self.params.get("cap"),
        )

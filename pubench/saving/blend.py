"""Configurations that are blended: trained one by one, they vote by rank; see `pubench.blending`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from pubench.blending import Blended, Voter
from pubench.errors import ParameterError
from pubench.method_api import Parts
from pubench.plugin_api import Kind
from pubench.saving.configuration import KINDS, Configuration, Ingredient, configure
from pubench.types import Json

if TYPE_CHECKING:
    from pubench.registry import Registry

#: What is read may come from anywhere; no blend of ours comes near these.
MOST_PARTS = 100
MOST_WEIGHT = 1000


@dataclass(frozen=True)
class Blend(Configuration):
    """A configuration that is made of others; its method is `pubench.blending.Blended`, which has no parts of its own.

    Attributes:
        weighted: the others, at least two, each with the weight of its vote.
    """

    weighted: tuple[tuple[int, Configuration], ...] = ()

    @classmethod
    def of(cls, weighted: Sequence[tuple[int, Configuration]]) -> Self:
        """Blend configurations, none of which is a blend itself."""
        voters = tuple(Voter(weight, one.method, one.parts) for weight, one in weighted)
        origins = {kind: _joined([one for _, one in weighted], kind) for kind in KINDS}
        return cls(
            Blended(voters), Parts(), {kind: text for kind, text in origins.items() if text}, tuple(weighted)
        )

    @classmethod
    def divided(cls, weighted: Sequence[tuple[int, Configuration]]) -> Self:
        """Blend configurations that share the members of one: a part of weight w of W has w / W of its members.

        So a blend costs about as much as one of its parts would alone.
        """
        total = sum(weight for weight, _ in weighted)
        return cls.of([(weight, _with_share(one, weight / total)) for weight, one in weighted])

    @property
    def singles(self) -> tuple[Configuration, ...]:
        """The parts."""
        return tuple(one for _, one in self.weighted)

    @property
    def ingredients(self) -> tuple[Ingredient, ...]:
        """The parts by name."""
        return tuple(replace(one.ingredients[0], weight=weight) for weight, one in self.weighted)

    def as_trained(self, chosen: Mapping[str, Json]) -> "Blend":
        """Return the blend of the parts as they were trained."""
        each = chosen.get("blended")
        if not isinstance(each, Sequence) or len(each) != len(self.weighted):
            return self
        pairs = zip(self.weighted, each, strict=True)
        return self.of(
            [
                (weight, one.as_trained(own if isinstance(own, Mapping) else {}))
                for (weight, one), own in pairs
            ]
        )

    def to_json(self) -> dict[str, Json]:
        """Return the weight and the tables of each part."""
        return {"blend": [{"weight": weight, **one.tables()} for weight, one in self.weighted]}


def configure_all(ingredients: Sequence[Ingredient], registry: "Registry") -> Configuration:
    """Return the configuration of one ingredient, or the blend of several.

    Raises:
        PluginError: nothing goes by a name.
        ParameterError: a parameter is unknown or out of range, a method lacks a part or has no use for one, or the
            blend is none.
    """
    if len(ingredients) > MOST_PARTS or any(not 1 <= one.weight <= MOST_WEIGHT for one in ingredients):
        raise ParameterError(
            f"A blend has at most {MOST_PARTS} parts of a weight from 1 to {MOST_WEIGHT} each."
        )
    configurations = [configure(one.plugins, registry) for one in ingredients]
    if len(configurations) == 1:
        return configurations[0]
    return Blend.of([(one.weight, made) for one, made in zip(ingredients, configurations, strict=True)])


def _joined(configurations: Sequence[Configuration], kind: Kind) -> str:
    """Return the different origins of a kind of plugin, in order."""
    return ", ".join(dict.fromkeys(one.origins[kind] for one in configurations if kind in one.origins))


def _with_share(configuration: Configuration, share: float) -> Configuration:
    members = configuration.method.params.get("members")
    return configuration.with_members(round(members * share)) if type(members) is int else configuration

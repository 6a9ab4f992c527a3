"""Which plugins make a model, with which parameters: from names to plugins."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pubench.errors import DataError, ParameterError
from pubench.method_api import Method, Parts
from pubench.plugin_api import Kind, Learner, Plugin, Similarity
from pubench.spaces import Dimension, Int, Value, resolve
from pubench.types import Json

if TYPE_CHECKING:
    from pubench.registry import Registry

#: The kinds that a configuration names, in the order in which it is written.
KINDS = (Kind.METHOD, Kind.SIMILARITY, Kind.LEARNER)
#: What is trained, and where a search begins, unless somebody says otherwise.
DEFAULTS: Mapping[Kind, str] = {
    Kind.METHOD: "probtagging",
    Kind.SIMILARITY: "knn",
    Kind.LEARNER: "lightgbm",
}


@dataclass(frozen=True)
class Named:
    """A plugin by name, with parameters as somebody wrote them."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Ingredient:
    """What a configuration, or a part of a blend, is made of, by name.

    Attributes:
        plugins: names and parameters of the method and its parts.
        origins: the packages and versions that these came from, where known.
        weight: in a blend, from 1 up.
    """

    plugins: Mapping[Kind, Named]
    origins: Mapping[Kind, str] = field(default_factory=dict)
    weight: int = 1


def title_of(ingredients: Sequence[Ingredient]) -> str:
    """Return the names of a configuration's plugins; of a blend, its parts by weight, those of equal names as one."""
    titles = [" + ".join(named.name for named in one.plugins.values()) for one in ingredients]
    if len(titles) == 1:
        return titles[0]
    weights: Counter[str] = Counter()
    for one, title in zip(ingredients, titles, strict=True):
        weights[title] += one.weight
    return f"blend of {', '.join(f'{weight} x {title}' for title, weight in weights.most_common())}"


@dataclass(frozen=True)
class Configuration:
    """A method and what it is given; see `pubench.saving.blend` for one that is made of several.

    Attributes:
        method: the method.
        parts: the similarity and the learner, as far as the method uses them.
        origins: the package and version that each comes from; without those that nobody knows.
    """

    method: Method
    parts: Parts
    origins: Mapping[Kind, str] = field(default_factory=dict)

    @property
    def plugins(self) -> dict[Kind, Plugin]:
        """All plugins of the configuration, by kind."""
        found = {
            Kind.METHOD: self.method,
            Kind.SIMILARITY: self.parts.similarity,
            Kind.LEARNER: self.parts.learner,
        }
        return {kind: plugin for kind, plugin in found.items() if plugin is not None}

    @property
    def singles(self) -> "tuple[Configuration, ...]":
        """The configurations that it is made of: itself, or the parts of a blend."""
        return (self,)

    @property
    def trainers(self) -> tuple[Plugin, ...]:
        """The methods and learners of all `singles`, whose libraries decide what a model is."""
        return tuple(
            plugin for one in self.singles for plugin in (one.method, one.parts.learner) if plugin is not None
        )

    @property
    def ingredients(self) -> tuple[Ingredient, ...]:
        """The same as `singles`, by name."""
        named = {kind: Named(plugin.name, dict(plugin.params)) for kind, plugin in self.plugins.items()}
        return (Ingredient(named, self.origins),)

    def with_members(self, count: int) -> "Configuration":
        """Return the same with so many members, or as few as its method allows; as it is if it has no such parameter."""
        allowed = self.method.space.get("members")
        if not isinstance(allowed, Int) or "members" not in self.method.params:
            return self
        members = min(max(count, allowed.low), allowed.high)
        return replace(self, method=type(self.method)(**{**self.method.params, "members": members}))

    def as_trained(self, chosen: Mapping[str, Json]) -> "Configuration":
        """Return the configuration that gives the same model again, whatever time there is.

        Args:
            chosen: what fitting decided by itself; members that were left out for want of time, above all.
        """
        members = chosen.get("members")
        return self.with_members(members) if type(members) is int else self

    def tables(self) -> dict[str, Json]:
        """Return a table per kind with the plugin's name and parameters; see `names_in`."""
        return {kind.value: {"name": plugin.name, **plugin.params} for kind, plugin in self.plugins.items()}

    def to_json(self) -> dict[str, Json]:
        """Return all that it is made of: its `tables`, or those of each part of a blend."""
        return self.tables()

    def __str__(self) -> str:
        return title_of(self.ingredients)


def configure(named: Mapping[Kind, Named], registry: "Registry") -> Configuration:
    """Return the plugins that are named.

    Raises:
        PluginError: nothing goes by a name.
        ParameterError: a parameter is unknown or out of range, or the method lacks a part, or has no use for one.
    """
    entries = {kind: registry.find(name.name, kind) for kind, name in named.items()}
    made = {kind: _made(entries[kind].plugin, name.params) for kind, name in named.items()}
    method, similarity, learner = (made.get(kind) for kind in KINDS)
    if not isinstance(method, Method):
        raise ParameterError("A configuration needs a method; name one.")
    for kind in KINDS[1:]:
        if kind in made and kind not in method.uses:
            raise ParameterError(f"Method '{method.name}' uses no {kind}; leave '{made[kind].name}' out.")
        if kind in method.uses and kind not in made:
            raise ParameterError(f"Method '{method.name}' needs a {kind}; name one.")
    parts = Parts(
        similarity if isinstance(similarity, Similarity) else None,
        learner if isinstance(learner, Learner) else None,
    )
    return Configuration(method, parts, {kind: str(entry.origin) for kind, entry in entries.items()})


def _made(plugin: type[Plugin], params: Mapping[str, Any]) -> Plugin:
    # Checked before it is called: a foreign name such as 'self' would be no parameter but an argument twice.
    resolve(plugin.space, params, f"{plugin.kind} '{plugin.name}'")
    return plugin(**params)


def names_in(document: Mapping[str, Any], place: str) -> dict[Kind, Named]:
    """Return the plugins that the tables of a document name; `place` is what messages call it.

    Raises:
        DataError: a table has no name in it.
    """
    return {kind: _named(document[kind], kind, place) for kind in KINDS if kind in document}


def _named(table: Any, kind: Kind, place: str) -> Named:
    if not isinstance(table, dict) or not isinstance(table.get("name"), str):
        raise DataError(f'The table [{kind}] in {place} must state a name, as in: name = "{kind}-name".')
    return Named(table["name"], {name: value for name, value in table.items() if name != "name"})


def parse_setting(text: str) -> tuple[Kind, str, str]:
    """Return kind, parameter and value of a text such as learner.trees=100.

    Raises:
        ParameterError: it is no such text.
    """
    place, equals, value = text.partition("=")
    kind, dot, name = place.strip().partition(".")
    if not (equals and dot and name) or kind not in KINDS:
        raise ParameterError(
            f"'{text}' sets no parameter; write it as learner.trees=100, with {', '.join(KINDS)} before the point."
        )
    return Kind(kind), name, value.strip()


def typed(text: str, dimension: Dimension | None) -> Value:
    """Return a value as its dimension has it, if it can be read so: 100, 0.5, true, or the text itself."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    plain = isinstance(value, bool | int | float | str)
    return value if plain and (dimension is None or not dimension.contains(text)) else text

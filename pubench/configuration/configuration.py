"""Which plugins make a model, with which parameters: from names to plugin objects.

    names: ConfigurationSpec (a PluginSpec per kind), several for a blend
    objects: Configuration (a method and its parts), or Blend (several configurations)

Searches, suites, `pubench fit` and saved models all work with these.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from pubench.api.method import Method, Parts
from pubench.api.plugin import Kind, Learner, Plugin, Similarity
from pubench.api.spaces import Dimension, Int, Value, as_written, resolve
from pubench.ensemble.blend import BlendMember, BlendMethod, HeldOut
from pubench.errors import DataError, ParameterError
from pubench.types import Json, PUData

if TYPE_CHECKING:
    from pubench.api.registry import Registry

#: The kinds of plugins that a configuration names, in the order in which they are written.
KINDS = (Kind.METHOD, Kind.SIMILARITY, Kind.LEARNER)
#: The plugins that are trained, and where a search begins, unless others are named.
DEFAULTS: Mapping[Kind, str] = {
    Kind.METHOD: "probtagging",
    Kind.SIMILARITY: "knn",
    Kind.LEARNER: "lightgbm",
}
#: Limits for blends from untrusted files; blends that pubench makes are far below.
MAX_PARTS = 100
MAX_WEIGHT = 1000
#: A part of a blend has at least this number of members: fewer leave noise that its weight can not remove.
_MIN_MEMBERS = 5


@dataclass(frozen=True)
class PluginSpec:
    """A plugin by name, with the parameters that were given for it, not yet checked."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ConfigurationSpec:
    """A configuration, or a part of a blend, by name.

    Attributes:
        plugins: names and parameters of the method, its similarity and its learner.
        origins: the packages and versions that these came from, where known.
        weight: the weight of the part in a blend, from 1 up.
    """

    plugins: Mapping[Kind, PluginSpec]
    origins: Mapping[Kind, str] = field(default_factory=dict)
    weight: int = 1


def title_of(specs: Sequence[ConfigurationSpec]) -> str:
    """Return the names of a configuration's plugins; of a blend, its parts by weight, parts of equal names merged."""
    titles = [" + ".join(plugin.name for plugin in spec.plugins.values()) for spec in specs]
    if len(titles) == 1:
        return titles[0]
    weights: Counter[str] = Counter()
    for spec, title in zip(specs, titles, strict=True):
        weights[title] += spec.weight
    return f"blend of {', '.join(f'{weight} x {title}' for title, weight in weights.most_common())}"


@dataclass(frozen=True)
class Configuration:
    """A method with its similarity and learner; see `Blend` for a configuration made of several.

    Attributes:
        method: the method.
        parts: the similarity and the learner, as far as the method uses them.
        origins: the package and version that each plugin comes from, where known.
    """

    method: Method
    parts: Parts
    origins: Mapping[Kind, str] = field(default_factory=dict)

    @property
    def plugins(self) -> dict[Kind, Plugin]:
        """All plugins of the configuration, by kind."""
        plugins = {
            Kind.METHOD: self.method,
            Kind.SIMILARITY: self.parts.similarity,
            Kind.LEARNER: self.parts.learner,
        }
        return {kind: plugin for kind, plugin in plugins.items() if plugin is not None}

    @property
    def singles(self) -> "tuple[Configuration, ...]":
        """The configurations that it consists of: itself, or the parts of a blend."""
        return (self,)

    @property
    def trainers(self) -> tuple[Plugin, ...]:
        """The methods and learners of all `singles`; their libraries determine what a model is."""
        return tuple(
            plugin
            for single in self.singles
            for plugin in (single.method, single.parts.learner)
            if plugin is not None
        )

    @property
    def specs(self) -> tuple[ConfigurationSpec, ...]:
        """The `singles` by name."""
        plugins = {kind: PluginSpec(plugin.name, plugin.stated) for kind, plugin in self.plugins.items()}
        return (ConfigurationSpec(plugins, self.origins),)

    def with_members(self, count: int) -> "Configuration":
        """Return the same configuration with `count` members, limited to the range that its method allows.

        A configuration whose method has no such parameter is returned unchanged.
        """
        allowed = self.method.space.get("members")
        if not isinstance(allowed, Int) or "members" not in self.method.params:
            return self
        members = min(max(count, allowed.low), allowed.high)
        return replace(self, method=type(self.method)(**{**self.method.params, "members": members}))

    def suited_to(self, data: PUData) -> "Configuration":
        """Return the same configuration with all parameters stated, defaults derived from the size of `data`.

        Whoever trains a configuration does so first: then it says what is trained, whatever the method is, and the models of
        folds have the parameters of the model that they stand for.
        """
        return replace(self, parts=self.parts.suited_to(data))

    def as_trained(self, chosen: Mapping[str, Json]) -> "Configuration":
        """Return the configuration that gives the same model again, independent of the time available.

        Args:
            chosen: what fitting decided; above all the number of members, or of the learner's trees, when the time ran out.
        """
        members, decided = chosen.get("members"), chosen.get("learner")
        trained = self.with_members(members) if type(members) is int else self
        if not isinstance(decided, Mapping) or self.parts.learner is None:
            return trained
        params: dict[str, Any] = {**self.parts.learner.stated, **decided}
        return replace(trained, parts=replace(self.parts, learner=type(self.parts.learner)(**params)))

    def tables(self) -> dict[str, Json]:
        """Return a table per kind with the plugin's name and stated parameters; see `parse_plugins`."""
        return {kind.value: {"name": plugin.name, **plugin.stated} for kind, plugin in self.plugins.items()}

    def to_json(self) -> dict[str, Json]:
        """Return the complete configuration: its `tables`, or those of each part of a blend."""
        return self.tables()

    def __str__(self) -> str:
        return title_of(self.specs)


@dataclass(frozen=True)
class Blend(Configuration):
    """A weighted blend of configurations; its method, `BlendMethod`, adds up the ranks that their models give.

    Attributes:
        weighted: the configurations, at least two, each with its weight.
    """

    weighted: tuple[tuple[int, Configuration], ...] = ()

    @classmethod
    def of(cls, weighted: Sequence[tuple[int, Configuration]]) -> Self:
        """Blend configurations, none of which is a blend itself."""
        members = tuple(BlendMember(weight, single.method, single.parts) for weight, single in weighted)
        origins = {kind: _joined_origins([single for _, single in weighted], kind) for kind in KINDS}
        return cls(
            BlendMethod(members),
            Parts(),
            {kind: text for kind, text in origins.items() if text},
            tuple(weighted),
        )

    @classmethod
    def divided(cls, weighted: Sequence[tuple[int, Configuration]]) -> Self:
        """Blend configurations that share the members of one: a part of weight w of W has w / W of its members.

        So a blend costs about as much as a single part would. A part has at least five members.
        """
        total = sum(weight for weight, _ in weighted)
        return cls.of([(weight, _with_share(single, weight / total)) for weight, single in weighted])

    def knowing(self, held_out: Sequence[HeldOut]) -> Self:
        """Return the same blend, whose method knows its parts from rows that they were not trained on."""
        if not isinstance(self.method, BlendMethod):
            return self
        members = zip(self.method.members, held_out, strict=True)
        return replace(
            self, method=BlendMethod(tuple(replace(member, held_out=one) for member, one in members))
        )

    @property
    def singles(self) -> tuple[Configuration, ...]:
        """The parts."""
        return tuple(single for _, single in self.weighted)

    @property
    def specs(self) -> tuple[ConfigurationSpec, ...]:
        """The parts by name."""
        return tuple(replace(single.specs[0], weight=weight) for weight, single in self.weighted)

    def suited_to(self, data: PUData) -> "Blend":
        """Return the blend of the suited parts."""
        return self.of([(weight, single.suited_to(data)) for weight, single in self.weighted])

    def as_trained(self, chosen: Mapping[str, Json]) -> "Blend":
        """Return the blend of the parts as they were trained."""
        decisions = chosen.get("blended")
        if not isinstance(decisions, Sequence) or len(decisions) != len(self.weighted):
            return self
        return self.of(
            [
                (weight, single.as_trained(decided if isinstance(decided, Mapping) else {}))
                for (weight, single), decided in zip(self.weighted, decisions, strict=True)
            ]
        )

    def to_json(self) -> dict[str, Json]:
        """Return the weight and the tables of each part."""
        return {"blend": [{"weight": weight, **single.tables()} for weight, single in self.weighted]}


def _joined_origins(configurations: Sequence[Configuration], kind: Kind) -> str:
    """Return the different origins of a kind of plugin, in order."""
    return ", ".join(
        dict.fromkeys(single.origins[kind] for single in configurations if kind in single.origins)
    )


def _with_share(configuration: Configuration, share: float) -> Configuration:
    members = configuration.method.params.get("members")
    if type(members) is not int:
        return configuration
    return configuration.with_members(max(round(members * share), min(members, _MIN_MEMBERS)))


def configure(plugins: Mapping[Kind, PluginSpec], registry: "Registry") -> Configuration:
    """Return the configuration of the named plugins.

    Raises:
        PluginError: no plugin has such a name.
        ParameterError: a parameter is unknown or out of range, or the method lacks a plugin it needs, or a plugin is
            named that it does not use.
    """
    entries = {kind: registry.find(spec.name, kind) for kind, spec in plugins.items()}
    created = {kind: _create(entries[kind].plugin, spec.params) for kind, spec in plugins.items()}
    method, similarity, learner = (created.get(kind) for kind in KINDS)
    if not isinstance(method, Method):
        raise ParameterError("A configuration needs a method; name one.")
    for kind in KINDS[1:]:
        if kind in created and kind not in method.uses:
            raise ParameterError(f"Method '{method.name}' uses no {kind}; leave '{created[kind].name}' out.")
        if kind in method.uses and kind not in created:
            raise ParameterError(f"Method '{method.name}' needs a {kind}; name one.")
    parts = Parts(
        similarity if isinstance(similarity, Similarity) else None,
        learner if isinstance(learner, Learner) else None,
    )
    return Configuration(method, parts, {kind: str(entry.origin) for kind, entry in entries.items()})


def _create(plugin: type[Plugin], params: Mapping[str, Any]) -> Plugin:
    # Checked before the call: a name such as 'self' from a file would clash with the argument itself.
    resolve(plugin.space, params, f"{plugin.kind} '{plugin.name}'")
    return plugin(**as_written(plugin.space, params))


def configure_specs(specs: Sequence[ConfigurationSpec], registry: "Registry") -> Configuration:
    """Return the configuration of one spec, or the blend of several.

    Raises:
        PluginError: no plugin has such a name.
        ParameterError: as for `configure`, or the blend has too many parts or a weight out of range.
    """
    if len(specs) > MAX_PARTS or any(not 1 <= spec.weight <= MAX_WEIGHT for spec in specs):
        raise ParameterError(
            f"A blend has at most {MAX_PARTS} parts, each with a weight from 1 to {MAX_WEIGHT}."
        )
    singles = [configure(spec.plugins, registry) for spec in specs]
    if len(singles) == 1:
        return singles[0]
    return Blend.of([(spec.weight, single) for spec, single in zip(specs, singles, strict=True)])


def to_tables(document: Mapping[str, Any]) -> dict[str, Json]:
    """Return what `Configuration.to_json` gives as a table per kind, as records state it: a blend as a method with parts."""
    if "blend" not in document:
        return dict(document)
    return {Kind.METHOD.value: {"name": BlendMethod.name, "parts": document["blend"]}}


def configure_tables(tables: Mapping[str, Any], source: str, registry: "Registry") -> Configuration:
    """Return the configuration that `to_tables` describes; messages call the tables `source`.

    Raises:
        DataError: a table does not state a name, or a part of a blend no weight.
        PluginError: no plugin has such a name.
        ParameterError: as for `configure_specs`.
    """
    method = tables.get(Kind.METHOD.value)
    if not isinstance(method, Mapping) or "parts" not in method:
        return configure(parse_plugins(tables, source), registry)
    parts = method["parts"]
    if not isinstance(parts, list) or not all(
        isinstance(part, Mapping) and type(part.get("weight")) is int for part in parts
    ):
        raise DataError(f"The blend in {source} must be a list of parts, each with a weight.")
    specs = [ConfigurationSpec(parse_plugins(part, source), weight=part["weight"]) for part in parts]
    return configure_specs(specs, registry)


def parse_plugins(document: Mapping[str, Any], source: str) -> dict[Kind, PluginSpec]:
    """Return the plugins that the tables of a document name; messages call the document `source`.

    Raises:
        DataError: a table does not state a name.
    """
    return {kind: _parse_plugin(document[kind], kind, source) for kind in KINDS if kind in document}


def _parse_plugin(table: Any, kind: Kind, source: str) -> PluginSpec:
    if not isinstance(table, dict) or not isinstance(table.get("name"), str):
        raise DataError(f'The table [{kind}] in {source} must state a name, as in: name = "{kind}-name".')
    return PluginSpec(table["name"], {name: value for name, value in table.items() if name != "name"})


def parse_setting(text: str) -> tuple[Kind, str, str]:
    """Return kind, parameter and value of a text such as learner.trees=100.

    Raises:
        ParameterError: the text has another form.
    """
    target, equals, value = text.partition("=")
    kind, dot, name = target.strip().partition(".")
    if not (equals and dot and name) or kind not in KINDS:
        raise ParameterError(
            f"'{text}' sets no parameter; write it as learner.trees=100, with {', '.join(KINDS)} before the point."
        )
    return Kind(kind), name, value.strip()


def parse_value(text: str, dimension: Dimension | None) -> Value:
    """Return the value of a setting in the type of its dimension: a number, true or false, or else the text itself."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    is_plain = isinstance(value, bool | int | float | str)
    return value if is_plain and (dimension is None or not dimension.contains(text)) else text

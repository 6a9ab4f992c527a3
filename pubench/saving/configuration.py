"""Which plugins make a model, with which parameters: from names to plugins, from TOML and to it."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pubench.errors import DataError, ParameterError, suggestion
from pubench.method_api import Method, Parts
from pubench.plugin_api import Kind, Learner, Plugin, Similarity
from pubench.spaces import Dimension, Value, resolve
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
class Configuration:
    """A method and what it is given.

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

    def with_method(self, **params: Value) -> "Configuration":
        """Return the same with other values of some parameters of its method."""
        return replace(self, method=type(self.method)(**{**self.method.params, **params}))

    def to_json(self) -> dict[str, Json]:
        """Return a table per kind with the plugin's name and parameters; see `names_in`."""
        return {kind.value: {"name": plugin.name, **plugin.params} for kind, plugin in self.plugins.items()}

    def __str__(self) -> str:
        return " + ".join(plugin.name for plugin in self.plugins.values())


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


def read_toml(path: Path) -> tuple[dict[Kind, Named], int | None]:
    """Return the plugins that a TOML file names, and its seed, if it states one.

    Raises:
        DataError: it can not be read or is no such file.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path} can not be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is no TOML: {error}.") from error
    known = {"seed", *KINDS}
    for name in content:
        if name not in known:
            raise DataError(
                f"{path} states '{name}'; it may state seed and the tables {', '.join(KINDS)}.{suggestion(name, known)}"
            )
    seed = content.get("seed")
    if seed is not None and type(seed) is not int:
        raise DataError(f"The seed in {path} is no whole number.")
    return names_in(content, str(path)), seed


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


def to_toml(configuration: Configuration, seed: int) -> str:
    """Return what `read_toml` reads: all parameters, defaults too, so that later defaults change nothing.

    TOML has no word for None: such a parameter is left out.
    """
    lines = [f"seed = {seed}"]
    for kind, plugin in configuration.plugins.items():
        lines += ["", f"[{kind}]", f"name = {_literal(plugin.name)}"]
        lines += [f"{name} = {_literal(value)}" for name, value in plugin.params.items() if value is not None]
    return "\n".join(lines) + "\n"


def _literal(value: Value) -> str:
    return json.dumps(
        value, ensure_ascii=False
    )  # true, false, numbers and such texts are written alike in TOML


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

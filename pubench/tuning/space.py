"""The search space: all ranges that plugins declare, as one conditional space of Optuna.

A parameter has the name KIND.PLUGIN.NAME, such as learner.lightgbm.depth; `method`, `similarity` and `learner` choose the
plugins. Only parameters with a choice are sampled, and only where their conditions hold.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pubench.api.method import Method
from pubench.api.plugin import DataSize, Kind, Learner, Plugin
from pubench.api.spaces import Choice, Dimension, Float, Int, Value
from pubench.configuration.configuration import DEFAULTS, KINDS, Configuration, PluginSpec, configure
from pubench.configuration.toml_file import read_toml_document
from pubench.errors import ParameterError, suggestion
from pubench.system.fingerprint import content_key
from pubench.types import Json

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import BaseTrial

    from pubench.api.registry import Registry

#: The name of a kind in a record where the search chooses among several plugins.
ANY = "any"
#: Returns the value of a parameter, given its full name and its range.
Suggest = Callable[[str, Dimension], Value]


@dataclass(frozen=True)
class SearchSpace:
    """All configurations that a search may try.

    Attributes:
        registry: where the plugins are found.
        names: of the plugins to search among, by kind; at least one method.
        ranges: full name -> the range that replaces the declared one; see `narrowed`.
        derived: full name -> the default for the data at hand; see `suited_to`.

    While configurations are compared (as drafts), parameters that trade time for quality have their `draft` value.
    """

    registry: "Registry"
    names: Mapping[Kind, Sequence[str]]
    ranges: Mapping[str, Dimension] = field(default_factory=dict)
    derived: Mapping[str, Value] = field(default_factory=dict)

    def suited_to(self, size: DataSize) -> "SearchSpace":
        """Return the same space with the defaults that its learners derive for data of this size."""
        learners = [self._plugin(Kind.LEARNER, name) for name in self.names.get(Kind.LEARNER, ())]
        derived = {
            _full_name(learner, parameter): value
            for learner in learners
            if issubclass(learner, Learner)
            for parameter, value in learner().suited_to(size).params.items()
            if learner.space[parameter].derived
        }
        return replace(self, derived=derived)

    def suggest(self, trial: "BaseTrial") -> Configuration:
        """Return the configuration that a trial of Optuna chooses, as a draft."""

        def suggest(name: str, dimension: Dimension) -> Any:
            match dimension:
                case Float():
                    return trial.suggest_float(name, dimension.low, dimension.high, log=dimension.log)
                case Int():
                    return trial.suggest_int(name, dimension.low, dimension.high, log=dimension.log)
                case Choice():
                    return trial.suggest_categorical(name, dimension.values)

        return self._compose(suggest, draft=True)

    def default(self) -> dict[str, Value]:
        """Return the parameters of the first trial: the paper's method and every default."""
        params: dict[str, Value] = {}

        def suggest(name: str, dimension: Dimension) -> Value:
            params[name] = dimension.default
            return dimension.default

        self._compose(suggest, draft=True)
        return params

    def complete(self, params: Mapping[str, Value]) -> dict[str, Value] | None:
        """Return these parameters and the defaults of all others that a trial with them has; None if they do not fit.

        They fit if each is a parameter of the search, with a value in its range.
        """
        complete: dict[str, Value] = {}

        def suggest(name: str, dimension: Dimension) -> Value:
            complete[name] = params.get(name, dimension.default)
            if not dimension.contains(complete[name]):
                raise ParameterError(f"{name} = {complete[name]!r} is not in the range of the search.")
            return complete[name]

        try:
            self._compose(suggest, draft=True)
        except ParameterError:
            return None
        others = {name: value for name, value in params.items() if name not in complete}
        return complete if all(self._is_given(name, value) for name, value in others.items()) else None

    def _is_given(self, name: str, value: Value) -> bool:
        """Whether a parameter that is not searched names the only plugin of its kind."""
        return name in KINDS and tuple(self.names.get(Kind(name), ())) == (value,)

    def configuration(self, params: Mapping[str, Value], *, draft: bool = False) -> Configuration:
        """Return the configuration of a trial's parameters; the others have their default, or their draft value."""
        return self._compose(lambda name, dimension: params.get(name, dimension.default), draft=draft)

    def distributions(self, params: Mapping[str, Value]) -> "dict[str, BaseDistribution] | None":
        """Return Optuna's distribution of each parameter of a trial in this space; None if the trial does not fit it."""
        from optuna.distributions import (  # noqa: PLC0415 - heavy imports happen when used
            CategoricalDistribution,
            FloatDistribution,
            IntDistribution,
        )

        found: dict[str, BaseDistribution] = {}

        def suggest(name: str, dimension: Dimension) -> Value:
            match dimension:
                case Float():
                    found[name] = FloatDistribution(dimension.low, dimension.high, log=dimension.log)
                case Int():
                    found[name] = IntDistribution(dimension.low, dimension.high, log=dimension.log)
                case Choice():
                    found[name] = CategoricalDistribution(dimension.values)
            return params.get(name, dimension.default)

        if self.complete(params) != dict(params):
            return None
        self._compose(suggest, draft=True)
        return found

    @property
    def key(self) -> str:
        """Digits that other spaces do not have: a study can not grow another choice."""
        plugins = {
            f"{kind}.{name}": {
                parameter: repr(self._dimension(plugin, parameter)) for parameter in plugin.space
            }
            for kind, names in self.names.items()
            for name in names
            for plugin in [self._plugin(kind, name)]
        }
        return content_key(plugins)[:8]

    def tables(self, method: str = "") -> dict[str, Json]:
        """Return the space as records state it: a table per kind, with the name of the only plugin or `any` among several.

        Ranges that were narrowed stand in the table of their kind, as NAME of the only plugin or as PLUGIN.NAME.

        Args:
            method: leave the other methods out, and the kinds that it does not use.
        """
        tables: dict[str, Json] = {}
        for kind in KINDS:
            names = [method] if method and kind is Kind.METHOD else sorted(self.names.get(kind, ()))
            if not names or (method and kind is not Kind.METHOD and kind not in self._uses(method)):
                continue
            table: dict[str, Json] = {"name": names[0]}
            if len(names) > 1:
                table = {"name": ANY, "among": list(names)}
            for full, dimension in self.ranges.items():
                of_kind, plugin, name = full.split(".")
                if of_kind == kind and plugin in names:
                    table[name if len(names) == 1 else f"{plugin}.{name}"] = _bounds(dimension)
            tables[kind.value] = table
        return tables

    def baseline(self, method: str) -> Configuration:
        """Return a method at its defaults, with the similarity and the learner that the search starts from."""
        names = {kind: self._first(kind, self.names.get(kind) or ()) for kind in self._uses(method)}
        plugins = {kind: PluginSpec(names[kind]) for kind in KINDS if kind in names}
        return configure({Kind.METHOD: PluginSpec(method), **plugins}, self.registry)

    def _compose(self, suggest: Suggest, *, draft: bool) -> Configuration:
        chosen: dict[Kind, PluginSpec] = {}
        for kind in KINDS:
            if kind is not Kind.METHOD and kind not in self._uses(chosen[Kind.METHOD].name):
                continue
            name = self._choose(kind, suggest)
            chosen[kind] = PluginSpec(name, self._params(self._plugin(kind, name), suggest, draft=draft))
        return configure(chosen, self.registry)

    def _uses(self, method: str) -> frozenset[Kind]:
        plugin = self._plugin(Kind.METHOD, method)
        return plugin.uses if issubclass(plugin, Method) else frozenset()

    def _plugin(self, kind: Kind, name: str) -> type[Plugin]:
        return self.registry.find(name, kind).plugin

    def _choose(self, kind: Kind, suggest: Suggest) -> str:
        names = tuple(self.names.get(kind, ()))
        if not names:
            raise ParameterError(f"The search has no {kind} to choose from; name one with --{kind}.")
        first = self._first(kind, names)
        return first if len(names) == 1 else str(suggest(kind.value, Choice(names, default=first)))

    @staticmethod
    def _first(kind: Kind, names: Sequence[str]) -> str:
        return DEFAULTS[kind] if DEFAULTS[kind] in names or not names else names[0]

    def _params(self, plugin: type[Plugin], suggest: Suggest, *, draft: bool) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, declared in plugin.space.items():
            full = _full_name(plugin, name)
            if declared.when is not None and values.get(declared.when[0]) != declared.when[1]:
                continue
            dimension = self._dimension(plugin, name)
            is_searched = (declared.tuned or full in self.ranges) and _has_choice(dimension)
            values[name] = suggest(full, dimension) if is_searched else _fixed(dimension, draft=draft)
        return values

    def _dimension(self, plugin: type[Plugin], parameter: str) -> Dimension:
        """Return the range of a parameter; its default is the derived one where the range holds that."""
        full = _full_name(plugin, parameter)
        dimension = self.ranges.get(full, plugin.space[parameter])
        default: Any = self.derived.get(full, dimension.default)
        return replace(dimension, default=default) if dimension.contains(default) else dimension


def _full_name(plugin: type[Plugin], parameter: str) -> str:
    return f"{plugin.kind}.{plugin.name}.{parameter}"


def _bounds(dimension: Dimension) -> list[Json]:
    """Return a range as a user's file states it."""
    return list(dimension.values) if isinstance(dimension, Choice) else [dimension.low, dimension.high]


def _fixed(dimension: Dimension, *, draft: bool) -> Value:
    return dimension.draft if draft and dimension.draft is not None else dimension.default


def _has_choice(dimension: Dimension) -> bool:
    return len(dimension.values) > 1 if isinstance(dimension, Choice) else dimension.low < dimension.high


def read_space(path: Path) -> dict[str, Any]:
    """Return the document in a user's file of the search space; see `narrowed`.

    Raises:
        DataError: it cannot be read, is too large, or is not TOML.
    """
    return read_toml_document(path)[0]


def narrowed(space: SearchSpace, document: Mapping[str, Any]) -> SearchSpace:
    """Return the space with the ranges of a user's file.

        [learner.lightgbm]
        depth = [2, 4]            # a range, inside the declared one
        trees = 100               # one value
        random_cuts = [true]      # of a choice: these values

    A parameter that is not searched by default is searched if it has a range here.

    Raises:
        ParameterError: an unknown plugin or parameter, or a value outside the declared range.
    """
    ranges: dict[str, Dimension] = {}
    for kind_name, plugins in document.items():
        kind = _kind(kind_name)
        for plugin_name, params in _table(plugins, kind_name).items():
            if plugin_name not in space.names.get(kind, ()):
                hint = suggestion(plugin_name, space.names.get(kind, ()))
                raise ParameterError(f"The search has no {kind} '{plugin_name}'.{hint}")
            plugin = space.registry.find(plugin_name, kind).plugin
            for name, narrower in _table(params, f"{kind}.{plugin_name}").items():
                if name not in plugin.space:
                    hint = suggestion(name, plugin.space)
                    raise ParameterError(f"{kind} '{plugin_name}' has no parameter '{name}'.{hint}")
                full = f"{kind}.{plugin_name}.{name}"
                ranges[full] = _range(full, plugin.space[name], narrower)
    return replace(space, ranges=ranges)


def _kind(name: str) -> Kind:
    if name not in {kind.value for kind in KINDS}:
        raise ParameterError(f"A search space has tables for method, similarity and learner; got '{name}'.")
    return Kind(name)


def _table(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ParameterError(f"'{name}' in a search space is a table; see the example in the documentation.")
    return value


def _range(full: str, declared: Dimension, narrower: object) -> Dimension:
    values = list(narrower) if isinstance(narrower, list) else [narrower]
    allowed = [value for value in values if declared.contains(value)]
    if not values or len(allowed) < len(values):
        raise ParameterError(f"'{full}' must lie in {declared.describe()}; got {narrower!r}.")
    if isinstance(declared, Choice):
        choices = tuple(declared.cast(value) for value in values)
        return Choice(choices, default=declared.default if declared.default in choices else choices[0])
    if len(values) > 2:
        raise ParameterError(f"'{full}' takes one value or a range of two; got {len(values)}.")
    low, high = sorted(declared.cast(value) for value in (allowed[0], allowed[-1]))
    default = min(max(declared.default, low), high)
    if isinstance(declared, Int):
        return Int(int(low), int(high), default=int(default), log=declared.log)
    return Float(low, high, default=default, log=declared.log)

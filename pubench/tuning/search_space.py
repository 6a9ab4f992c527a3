"""What plugins declare, as one conditional search space; the only place that knows how Optuna asks.

A parameter is called KIND.PLUGIN.NAME, such as learner.lightgbm.depth; `method`, `similarity` and `learner` say which
plugins take part. Only what has a choice is asked for, and only where its conditions hold.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pubench.errors import ParameterError, suggestion
from pubench.method_api import Method
from pubench.plugin_api import Kind, Plugin
from pubench.saving.configuration import DEFAULTS, KINDS, Configuration, Named, configure
from pubench.spaces import Choice, Dimension, Float, Int, Value

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

    from pubench.registry import Registry

#: Answers which value a parameter has, given its full name and its range.
Ask = Callable[[str, Dimension], Value]


@dataclass(frozen=True)
class SearchSpace:
    """All configurations that a search may try.

    Attributes:
        registry: where the plugins are found.
        names: of those that may take part, by kind; at least one method.
        ranges: full name -> the range that takes the place of the declared one; see `narrowed`.
        thrifty: leave parameters alone of which each value costs a pass over all rows.

    While configurations are compared, parameters that only buy quality with time have their `draft` value.
    """

    registry: "Registry"
    names: Mapping[Kind, Sequence[str]]
    ranges: Mapping[str, Dimension] = field(default_factory=dict)
    thrifty: bool = False

    def suggest(self, trial: "BaseTrial") -> Configuration:
        """Return the configuration that a trial of Optuna chooses, as a draft."""

        def ask(name: str, dimension: Dimension) -> Any:
            match dimension:
                case Float():
                    return trial.suggest_float(name, dimension.low, dimension.high, log=dimension.log)
                case Int():
                    return trial.suggest_int(name, dimension.low, dimension.high, log=dimension.log)
                case Choice():
                    return trial.suggest_categorical(name, dimension.values)

        return self._compose(ask, draft=True)

    def default(self) -> dict[str, Value]:
        """Return the parameters of the first trial: the paper's method and every default."""
        answers: dict[str, Value] = {}

        def ask(name: str, dimension: Dimension) -> Value:
            answers[name] = dimension.default
            return dimension.default

        self._compose(ask, draft=True)
        return answers

    def configuration(self, params: Mapping[str, Value], *, draft: bool = False) -> Configuration:
        """Return the configuration of a trial's parameters; what it was not asked for has its default, or its draft."""
        return self._compose(lambda name, dimension: params.get(name, dimension.default), draft=draft)

    def _compose(self, ask: Ask, *, draft: bool) -> Configuration:
        chosen: dict[Kind, Named] = {}
        for kind in KINDS:
            if kind is not Kind.METHOD and kind not in self._uses(chosen[Kind.METHOD].name):
                continue
            name = self._choose(kind, ask)
            chosen[kind] = Named(name, self._params(kind, self._plugin(kind, name), ask, draft=draft))
        return configure(chosen, self.registry)

    def _uses(self, method: str) -> frozenset[Kind]:
        plugin = self._plugin(Kind.METHOD, method)
        return plugin.uses if issubclass(plugin, Method) else frozenset()

    def _plugin(self, kind: Kind, name: str) -> type[Plugin]:
        return self.registry.find(name, kind).plugin

    def _choose(self, kind: Kind, ask: Ask) -> str:
        names = tuple(self.names.get(kind, ()))
        if not names:
            raise ParameterError(f"The search has no {kind} to choose from; name one with --{kind}.")
        first = DEFAULTS[kind] if DEFAULTS[kind] in names else names[0]
        return first if len(names) == 1 else str(ask(kind.value, Choice(names, default=first)))

    def _params(self, kind: Kind, plugin: type[Plugin], ask: Ask, *, draft: bool) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, declared in plugin.space.items():
            full = f"{kind}.{plugin.name}.{name}"
            if declared.when is not None and values.get(declared.when[0]) != declared.when[1]:
                continue
            dimension = self.ranges.get(full, declared)
            wanted = declared.tuned and not (self.thrifty and declared.dear)
            searched = (wanted or full in self.ranges) and _has_choice(dimension)
            values[name] = ask(full, dimension) if searched else _fixed(dimension, draft=draft)
        return values


def _fixed(dimension: Dimension, *, draft: bool) -> Value:
    return dimension.draft if draft and dimension.draft is not None else dimension.default


def _has_choice(dimension: Dimension) -> bool:
    return len(dimension.values) > 1 if isinstance(dimension, Choice) else dimension.low < dimension.high


def narrowed(space: SearchSpace, document: Mapping[str, Any]) -> SearchSpace:
    """Return a space with the ranges that a user's file gives.

        [learner.lightgbm]
        depth = [2, 4]            # a range, inside the declared one
        trees = 100               # one value
        random_cuts = [true]      # of a choice: these values

    A parameter that is not searched by itself is searched once it has a range here.

    Raises:
        ParameterError: a plugin or parameter there is not, or a value outside of what the plugin allows.
    """
    ranges: dict[str, Dimension] = {}
    for kind_name, plugins in document.items():
        kind = _kind(kind_name)
        for plugin_name, params in _table(plugins, kind_name).items():
            if plugin_name not in space.names.get(kind, ()):
                hint = suggestion(plugin_name, space.names.get(kind, ()))
                raise ParameterError(f"The search has no {kind} '{plugin_name}'.{hint}")
            plugin = space.registry.find(plugin_name, kind).plugin
            for name, wanted in _table(params, f"{kind}.{plugin_name}").items():
                if name not in plugin.space:
                    hint = suggestion(name, plugin.space)
                    raise ParameterError(f"{kind} '{plugin_name}' has no parameter '{name}'.{hint}")
                full = f"{kind}.{plugin_name}.{name}"
                ranges[full] = _range(full, plugin.space[name], wanted)
    return replace(space, ranges=ranges)


def _kind(name: str) -> Kind:
    if name not in {kind.value for kind in KINDS}:
        raise ParameterError(f"A search space has tables for method, similarity and learner; got '{name}'.")
    return Kind(name)


def _table(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ParameterError(f"'{name}' in a search space is a table; see the example in the documentation.")
    return value


def _range(full: str, declared: Dimension, wanted: object) -> Dimension:
    values = list(wanted) if isinstance(wanted, list) else [wanted]
    allowed = [value for value in values if declared.contains(value)]
    if not values or len(allowed) < len(values):
        raise ParameterError(f"'{full}' must lie in {declared.describe()}; got {wanted!r}.")
    if isinstance(declared, Choice):
        kept = tuple(declared.cast(value) for value in values)
        return Choice(kept, default=declared.default if declared.default in kept else kept[0])
    if len(values) > 2:
        raise ParameterError(f"'{full}' takes one value or a range of two; got {len(values)}.")
    low, high = sorted(declared.cast(value) for value in (allowed[0], allowed[-1]))
    default = min(max(declared.default, low), high)
    if isinstance(declared, Int):
        return Int(int(low), int(high), default=int(default), log=declared.log)
    return Float(low, high, default=default, log=declared.log)

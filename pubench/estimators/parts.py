"""From names and parameters to plugin objects, and the parts a method is given."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pubench.errors import ParameterError
from pubench.method_api import Method, Parts, Related
from pubench.plugin_api import Kind
from pubench.registry import CONTRACTS, Registry, load_registry
from pubench.seeds import Seed
from pubench.spaces import Value
from pubench.types import PUData, Resources

Params = Mapping[str, Value]
_CONTRACTS = {contract.kind: contract for contract in CONTRACTS.values()}


@cache
def known_plugins() -> Registry:
    """Return what is registered, looked up once per process."""
    return load_registry()


def make_plugin(kind: Kind, wanted: object, params: Params | None) -> Any:
    """Return an instance of the contract of this kind: the registered one of this name, with these parameters.

    What is an instance already is returned as it is.

    Raises:
        UnknownPluginError: nothing is registered under the name.
        ParameterError: it is neither a name nor such an instance, an instance comes with parameters, or a parameter
            is unknown or out of range.
    """
    contract = _CONTRACTS[kind]
    if isinstance(wanted, contract):
        if params:
            raise ParameterError(
                f"'{kind}_params' go with a name; the {kind} given has its parameters already."
            )
        return wanted
    if not isinstance(wanted, str):
        raise ParameterError(
            f"'{kind}' is the name of a registered {kind} or an instance of {contract.__name__}; got {wanted!r}."
        )
    if not isinstance(params, Mapping | None):
        raise ParameterError(f"'{kind}_params' maps names of parameters to values; got {params!r}.")
    return known_plugins().find(wanted, kind).plugin(**(params or {}))


@dataclass(frozen=True)
class Asked:
    """A part as a person asked for it: a name or an object, and parameters for a name."""

    plugin: object
    params: Params | None


@dataclass(frozen=True)
class WatchedParts(Parts):
    """Parts that can tell afterwards which rows a method related.

    Attributes:
        seen: for each call of `relate`, what it was given and what it returned.
    """

    seen: list[tuple[PUData, Related]] = field(default_factory=list, compare=False)

    @classmethod
    def of(cls, method: Method, similarity: Asked, learner: Asked) -> "WatchedParts":
        """Make the parts that a method uses, and no others."""

        def made(kind: Kind, asked: Asked) -> Any:
            return make_plugin(kind, asked.plugin, asked.params) if kind in method.uses else None

        return cls(made(Kind.SIMILARITY, similarity), made(Kind.LEARNER, learner))

    def relate(self, data: PUData, scaling: str, seed: Seed, resources: Resources) -> Related:
        """Return what `Parts.relate` does, and remember it."""
        related = super().relate(data, scaling, seed, resources)
        self.seen.append((data, related))
        return related

    def related_to(self, data: PUData) -> Related | None:
        """Return the similarity that was fitted on all of `data`; None if none was."""
        return next((related for given, related in reversed(self.seen) if given is data), None)

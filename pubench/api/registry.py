"""The registry of plugins by kind and name.

Each source registers in isolation: one that fails becomes a `PluginFailure` and does not affect the others.
"""

import inspect
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any

import pluggy

from pubench.api import hookspecs
from pubench.api.dataset import DatasetLoader
from pubench.api.discovery import PACKAGE, Origin, find_sources, guard
from pubench.api.method import Method
from pubench.api.plugin import API_VERSION, Kind, Learner, Plugin, Similarity
from pubench.api.spaces import check_space
from pubench.errors import (
    ApiVersionError,
    DuplicateNameError,
    InputError,
    PluginError,
    PluginLoadError,
    UnknownPluginError,
    suggestion,
)

CONTRACTS: Mapping[str, type[Plugin]] = {
    "pubench_register_datasets": DatasetLoader,
    "pubench_register_similarities": Similarity,
    "pubench_register_learners": Learner,
    "pubench_register_methods": Method,
}
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class PluginEntry:
    """A plugin that can be used."""

    plugin: type[Plugin]
    origin: Origin

    @property
    def kind(self) -> Kind:
        """What the plugin is for."""
        return self.plugin.kind

    @property
    def name(self) -> str:
        """Its name on the command line and in files."""
        return self.plugin.name

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return (inspect.getdoc(self.plugin) or "").partition("\n")[0]


@dataclass(frozen=True)
class PluginFailure:
    """A source, or a name, that cannot be used, and the reason. `kind` and `name` are set where they are known."""

    origins: tuple[Origin, ...]
    error: PluginError
    kind: Kind | None = None
    name: str | None = None


@dataclass(frozen=True)
class Registry:
    """All plugins by kind and name, and all failures."""

    entries: tuple[PluginEntry, ...]
    failures: tuple[PluginFailure, ...] = ()

    def names(self, kind: Kind) -> list[str]:
        """Return the names of one kind in alphabetical order."""
        return [entry.name for entry in self.entries if entry.kind == kind]

    def find(self, name: str, kind: Kind | None = None) -> PluginEntry:
        """Return the plugin of this name, and of this kind if one is given.

        Raises:
            DuplicateNameError: two packages claim the name.
            UnknownPluginError: no plugin has the name; the message lists what there is and what failed to load.
            InputError: plugins of several kinds share the name and no kind is given.
        """
        everything: list[PluginEntry | PluginFailure] = [*self.entries, *self.failures]
        claims = [claim for claim in everything if claim.name == name and kind in (None, claim.kind)]
        if len(claims) > 1:
            kinds = " and a ".join(str(claim.kind) for claim in claims)
            raise InputError(f"'{name}' is a {kinds}; say which kind you mean.")
        if not claims:
            raise self._unknown(name, kind)
        if isinstance(claims[0], PluginFailure):
            raise claims[0].error
        return claims[0]

    def _unknown(self, name: str, kind: Kind | None) -> UnknownPluginError:
        known = [entry.name for entry in self.entries if kind in (None, entry.kind)]
        broken = ", ".join(str(origin) for failure in self.failures for origin in failure.origins)
        return UnknownPluginError(
            f"There is no {kind or 'plugin'} '{name}'; there are: {', '.join(known) or 'none'}."
            + suggestion(name, known)
            + (f" Not loaded: {broken} (see 'pubench plugins list')." if broken else "")
        )


def load_registry(
    files: Sequence[Path] = (), *, strict: bool = False, environ: Mapping[str, str] = os.environ
) -> Registry:
    """Load every source once and return the registry.

    Args:
        files: single-file plugins to load besides the rest; see `pubench.api.discovery`.
        strict: raise the first failure instead of recording it.
        environ: the environment variables; see `pubench.api.discovery`.
    """
    entries: list[PluginEntry] = []
    failures: list[PluginFailure] = []
    for source in find_sources(files, environ):
        try:
            entries += _collect(source.load(), source.origin)
        except PluginError as error:
            failures.append(PluginFailure((source.origin,), error))
    registry = _resolve_duplicates(entries, failures)
    if strict and registry.failures:
        raise registry.failures[0].error
    return registry


def _collect(source: object, origin: Origin) -> list[PluginEntry]:
    """Call the hooks of one source and return what it registers: all of it or, on any fault, nothing."""
    # One manager per source, so that a fault belongs to this source.
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    entries: list[PluginEntry] = []
    with guard(origin):
        _check_api_version(source, origin)
        _check_hook_names(manager, source, origin)
        manager.register(source)
        manager.check_pending()
        for hook, contract in CONTRACTS.items():
            getattr(manager.hook, hook)(register=partial(_register, entries, contract, origin))
    if not entries:
        raise PluginLoadError(
            f"Plugin {origin} registers nothing; it needs one of the hooks {', '.join(CONTRACTS)}."
        )
    return entries


def _check_api_version(source: object, origin: Origin) -> None:
    declared = getattr(source, "pubench_api", None)
    if type(declared) is int and declared == API_VERSION:
        return
    if declared is None:
        raise ApiVersionError(
            f"Plugin {origin} states no API version; add 'pubench_api = {API_VERSION}' to it."
        )
    newer = isinstance(declared, int) and declared > API_VERSION
    raise ApiVersionError(
        f"Plugin {origin} was written for plugin API {declared!r}, and pubench {version(PACKAGE)} has plugin API "
        f"{API_VERSION}; upgrade {'pubench' if newer else origin.package}."
    )


def _check_hook_names(manager: pluggy.PluginManager, source: object, origin: Origin) -> None:
    """Raise on a misspelled hook, with the likely name, and on an unmarked one, which pluggy would ignore."""
    for name in dir(source):
        marker = manager.parse_hookimpl_opts(source, name)
        hook = (marker and marker.get("specname")) or name
        looks_like_hook = name.startswith("pubench_register") and callable(getattr(source, name, None))
        if (marker or looks_like_hook) and hook not in CONTRACTS:
            raise PluginLoadError(
                f"Plugin {origin} has an unknown hook '{hook}'.{suggestion(hook, CONTRACTS)}"
            )
        if looks_like_hook and not marker:
            raise PluginLoadError(f"Plugin {origin}: mark '{name}' with @hookimpl, or it is never called.")


def _register(
    entries: list[PluginEntry], contract: type[Plugin], origin: Origin, plugin: type[Plugin]
) -> None:
    """Check a class against its contract and add it; this is the `register` that hooks are given."""
    fault = _fault(plugin, contract)
    if fault:
        raise PluginLoadError(f"Plugin {origin}: {fault}.")
    try:
        check_space(plugin.space)
    except InputError as error:
        raise PluginLoadError(f"Plugin {origin}: the space of '{plugin.name}' is wrong: {error}") from error
    entries.append(PluginEntry(plugin, origin))


def _fault(plugin: Any, contract: type[Plugin]) -> str | None:
    """Return why a class is no plugin of this kind, or None."""
    if not (inspect.isclass(plugin) and issubclass(plugin, contract)):
        return f"{plugin!r} is not a subclass of {contract.__name__}"
    if plugin.kind is not contract.kind:
        return f"{plugin.__name__}.kind is set by {contract.__name__}; do not change it"
    name = getattr(plugin, "name", None)
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        return f"{plugin.__name__}.name must be a text of lower-case letters, digits and hyphens"
    unset = [attribute for attribute in contract.__annotations__ if not hasattr(plugin, attribute)]
    missing = sorted({*plugin.__abstractmethods__, *unset})
    if missing:
        return f"'{name}' does not define {', '.join(missing)}"
    if not plugin.__doc__:
        return f"'{name}' has no docstring; its first line is shown in lists"
    return None


def _resolve_duplicates(entries: Iterable[PluginEntry], failures: Iterable[PluginFailure]) -> Registry:
    """Return a registry without names that several sources claim; these become failures."""
    unique: list[PluginEntry] = []
    all_failures = list(failures)
    ordered = sorted(entries, key=lambda entry: (list(Kind).index(entry.kind), entry.name))
    for (kind, name), group in groupby(ordered, key=lambda entry: (entry.kind, entry.name)):
        claims = list(group)
        if len(claims) == 1:
            unique += claims
            continue
        origins = tuple(entry.origin for entry in claims)
        claimants = " and ".join(str(origin) for origin in origins)
        error = DuplicateNameError(
            f"Two plugins are called {kind} '{name}': {claimants}; uninstall or rename one of them."
        )
        all_failures.append(PluginFailure(origins, error, kind, name))
    return Registry(tuple(unique), tuple(all_failures))

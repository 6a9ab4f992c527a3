"""What is searched, and where it is trained: names and sizes become plugins."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pubench.devices import resolve_device
from pubench.errors import DataError
from pubench.method_api import Method
from pubench.plugin_api import Kind, Learner
from pubench.registry import Registry
from pubench.saving.configuration import DEFAULTS, KINDS, Configuration, Named, configure
from pubench.tuner.orders import TuneOrder
from pubench.tuning.search_space import SearchSpace, narrowed
from pubench.types import Device, PUData

#: Above so many rows only the neighbours are searched for: each further similarity would cost minutes.
_MANY_ROWS = 400_000


def choose_space(order: TuneOrder, registry: Registry, data: PUData) -> tuple[SearchSpace, tuple[str, ...]]:
    """Return what is searched: what was named, else everything that suits the size of the data."""
    names: dict[Kind, Sequence[str]] = {}
    notices: list[str] = []
    for kind in KINDS:
        asked = order.names.get(kind) or ()
        for name in asked:
            registry.find(name, kind)
        names[kind] = asked or _suitable(registry, kind)
    if order.names.get(Kind.SIMILARITY) and not order.names.get(Kind.METHOD):
        # Who names a similarity wants to see what it does.
        names[Kind.METHOD] = [name for name in names[Kind.METHOD] if _uses_similarity(registry, name)]
    many = data.X.n_rows > _MANY_ROWS
    if many and not order.names.get(Kind.SIMILARITY):
        names[Kind.SIMILARITY] = [DEFAULTS[Kind.SIMILARITY]]
    if many:
        notices.append(
            f"At {data.X.n_rows:,} rows each similarity and each scaling would cost minutes: the search keeps to "
            f"{' and '.join(names[Kind.SIMILARITY])} on standardised features unless --similarity or --space say else."
        )
    space = SearchSpace(registry, names, thrifty=many)
    if order.space is not None:
        space = narrowed(space, read_space(order.space))
    return space, tuple(notices)


def _suitable(registry: Registry, kind: Kind) -> list[str]:
    """Return the plugins of a kind that a search tries by itself: of methods, those that train the learner."""
    plugins = {name: registry.find(name, kind).plugin for name in registry.names(kind)}
    return [
        name
        for name, plugin in plugins.items()
        if plugin.searched and not (issubclass(plugin, Method) and Kind.LEARNER not in plugin.uses)
    ]


def _uses_similarity(registry: Registry, method: str) -> bool:
    plugin = registry.find(method, Kind.METHOD).plugin
    return issubclass(plugin, Method) and Kind.SIMILARITY in plugin.uses


def read_space(path: Path) -> dict[str, Any]:
    """Return what a user's file says of the search space; see `pubench.tuning.search_space.narrowed`."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path} can not be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise DataError(f"{path} is no TOML: {error}.") from error


def choose_device(order: TuneOrder, space: SearchSpace) -> tuple[Device, str]:
    """Return where to train; with several learners the CPU, unless CUDA is asked for by name."""
    learners = [space.registry.find(name, Kind.LEARNER).plugin for name in space.names[Kind.LEARNER]]
    if order.device == "auto" and len(learners) > 1:
        return "cpu", ""
    first = learners[0]
    return resolve_device(order.device, first() if issubclass(first, Learner) else None)


def control(name: str, space: SearchSpace, registry: Registry) -> Configuration:
    """Return a method at its defaults with the learner that the search starts from."""
    learners = space.names[Kind.LEARNER]
    learner = DEFAULTS[Kind.LEARNER] if DEFAULTS[Kind.LEARNER] in learners else learners[0]
    return configure({Kind.METHOD: Named(name), Kind.LEARNER: Named(learner)}, registry)

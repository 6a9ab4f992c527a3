"""Finds the sources of plugins and loads each one guarded.

Sources, in this order: pubench's own built-ins, other installed packages (entry-point group `pubench`), then single
files (`PUBENCH_PLUGINS`, `--plugin`).
"""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from pubench.errors import PluginError, PluginLoadError

PACKAGE = "pubench"
NO_AUTOLOAD = "PUBENCH_DISABLE_PLUGIN_AUTOLOAD"
FILES = "PUBENCH_PLUGINS"


@dataclass(frozen=True)
class Origin:
    """Where plugins come from: a package and its version, or a file and the start of its SHA-256."""

    package: str
    version: str

    def __str__(self) -> str:
        return f"{self.package} {self.version}"


@dataclass(frozen=True)
class Source:
    """Something that may hold plugins; `load` imports it, or raises `PluginError`."""

    origin: Origin
    load: Callable[[], object]


def find_sources(files: Sequence[Path], environ: Mapping[str, str]) -> Iterator[Source]:
    """Yield every source once; nothing is imported yet.

    Args:
        files: single-file plugins, besides those that `PUBENCH_PLUGINS` lists.
        environ: `PUBENCH_PLUGINS` is a path list; `PUBENCH_DISABLE_PLUGIN_AUTOLOAD`, if not empty, leaves out
            installed packages other than pubench itself.
    """
    for point in sorted(entry_points(group=PACKAGE), key=_built_ins_first):
        if _package(point) == PACKAGE or not environ.get(NO_AUTOLOAD):
            origin = Origin(_package(point), point.dist.version if point.dist else "unknown")
            yield Source(origin, partial(_load_entry_point, point, origin))
    listed = [Path(path) for path in environ.get(FILES, "").split(os.pathsep) if path]
    for path in dict.fromkeys(path.expanduser().resolve() for path in [*listed, *files]):
        origin = Origin(str(path), _digest(path))
        yield Source(origin, partial(_load_file, path, origin))


@contextlib.contextmanager
def guard(origin: Origin) -> Iterator[None]:
    """Turn whatever foreign code raises into one line; what it prints goes to stderr, away from `--json`."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except PluginError:
        raise
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise PluginLoadError(f"Plugin {origin} was not loaded: {reason}") from error


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value


def _built_ins_first(point: EntryPoint) -> tuple[bool, str, str]:
    return _package(point) != PACKAGE, _package(point), point.name


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()[:12] if path.is_file() else "(missing)"


def _load_entry_point(point: EntryPoint, origin: Origin) -> object:
    with guard(origin):
        loaded: object = point.load()
    return loaded


def _load_file(path: Path, origin: Origin) -> object:
    if not path.is_file():
        raise PluginLoadError(f"Plugin file {path} does not exist.")
    # The content is part of the module's name: two files called plugin.py do not collide, and a changed file
    # is a new module.
    name = f"pubench_plugin_{path.stem}_{origin.version}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginLoadError(f"Plugin file {path} is not a Python file (.py).")
    module = module_from_spec(spec)
    sys.modules[name] = module  # before it runs: dataclasses and workers look classes up by module
    try:
        with guard(origin):
            spec.loader.exec_module(module)
    except PluginError:
        del sys.modules[name]
        raise
    return module

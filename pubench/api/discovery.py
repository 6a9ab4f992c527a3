"""Finds the sources of plugins and loads each one in isolation.

Sources, in this order: pubench's own built-ins, other installed packages (entry-point group `pubench`), then single
files (`PUBENCH_PLUGINS`, `--plugin`).
"""

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from pubench.errors import PluginError, PluginLoadError
from pubench.system.streams import stdout_on_stderr

PACKAGE = "pubench"
NO_AUTOLOAD = "PUBENCH_DISABLE_PLUGIN_AUTOLOAD"
FILES = "PUBENCH_PLUGINS"


@dataclass(frozen=True)
class Origin:
    """The origin of plugins: a package and its version, or a file and the start of its SHA-256."""

    package: str
    version: str

    def __str__(self) -> str:
        return f"{self.package} {self.version}".strip()


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
    listed = [path for path in environ.get(FILES, "").split(os.pathsep) if path]
    # os.path, not pathlib: expanding and resolving an invalid path must not raise here.
    paths = [os.path.realpath(os.path.expanduser(path)) for path in [*listed, *map(str, files)]]  # noqa: PTH111
    for path in dict.fromkeys(paths):
        yield _file_source(Path(path))


@contextmanager
def guard(origin: Origin, failing: str = "was not loaded") -> Iterator[None]:
    """Turn any error of foreign code into one line; what it prints goes to stderr, apart from `--json`."""
    try:
        with stdout_on_stderr():
            yield
    except (PluginError, KeyboardInterrupt):
        raise
    except BaseException as error:  # foreign code raises SystemExit and panics that are no Exception
        raise PluginLoadError(f"Plugin {origin} {failing}: {type(error).__name__}: {error}") from error


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value


def _built_ins_first(point: EntryPoint) -> tuple[bool, str, str]:
    return _package(point) != PACKAGE, _package(point), point.name


def _load_entry_point(point: EntryPoint, origin: Origin) -> object:
    with guard(origin):
        loaded: object = point.load()
    return loaded


def _file_source(path: Path) -> Source:
    try:
        version = sha256(path.read_bytes()).hexdigest()[:12]
    except OSError as error:
        reason = error.strerror or str(error)
        return Source(Origin(str(path), ""), partial(_unreadable, path, reason))
    origin = Origin(str(path), version)
    return Source(origin, partial(_load_file, path, origin))


def _unreadable(path: Path, reason: str) -> object:
    raise PluginLoadError(f"Plugin file {path} cannot be read: {reason}.")


def _load_file(path: Path, origin: Origin) -> object:
    # The module is named after path and content: two files called plugin.py do not collide, a changed file is a new module,
    # and an unchanged one is the same module again, so that its classes stay the same classes.
    path_hash = sha256(str(path).encode()).hexdigest()[:8]
    name = f"pubench_plugin_{re.sub(r'[^0-9A-Za-z]', '_', path.stem)}_{path_hash}_{origin.version}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginLoadError(f"Plugin file {path} is not a Python file (.py).")
    module = module_from_spec(spec)
    sys.modules[name] = module  # before it runs: dataclasses and workers look classes up by module
    try:
        with guard(origin):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module

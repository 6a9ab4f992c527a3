"""The environment of a run: versions of libraries, which decide what a model's files mean, and the hardware."""

import ast
import inspect
import platform
import sys
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distributions, version
from pathlib import Path

from pubench.api.plugin import Plugin
from pubench.system.machine import cores
from pubench.types import Json

#: Recorded for every model.
_ALWAYS = ("numpy", "pubench")


def versions_of(*plugins: Plugin | None) -> dict[str, str]:
    """Return the versions of Python, pubench, NumPy and what the plugins' modules import, by distribution."""
    names = {*_ALWAYS, *(name for plugin in plugins if plugin is not None for name in libraries_of(plugin))}
    versions = {name: _version(name) for name in sorted(names)}
    return {"python": platform.python_version(), **{name: text for name, text in versions.items() if text}}


def libraries_of(plugin: Plugin) -> set[str]:
    """Return the distributions whose modules the plugin's module imports, at the top or in functions.

    A plugin does not declare the libraries that it needs; they are read off its source.
    """
    return set(_libraries_of_class(type(plugin)))


@cache
def _libraries_of_class(plugin: type[Plugin]) -> frozenset[str]:
    try:
        source = inspect.getsource(inspect.getmodule(plugin) or plugin)
    except (OSError, TypeError):  # defined in an interactive session
        return frozenset()
    modules = {name.partition(".")[0] for node in ast.walk(ast.parse(source)) for name in _imported(node)}
    names = (_distribution_of(module) for module in modules - sys.stdlib_module_names)
    return frozenset(name for name in names if name)


@cache
def _distribution_of(module: str) -> str:
    """Return the distribution that a module comes from; empty if none lists it."""
    entries = tuple(f"\n{module}{end}" for end in ("\n", "/", "."))
    matching = (dist for dist, contents in _contents() if any(entry in contents for entry in entries))
    return next((dist.name for dist in matching), "")


@cache
def _contents() -> list[tuple[Distribution, str]]:
    """Return what each distribution installs, one per line: its modules, or else its files.

    `importlib.metadata.packages_distributions` takes ten times as long: it makes an object of every file.
    """
    return [
        (dist, f"\n{dist.read_text('top_level.txt') or dist.read_text('RECORD') or ''}\n")
        for dist in distributions()
    ]


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []


@cache
def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


@cache
def hardware() -> dict[str, Json]:
    """Return the processor, cores and memory of this machine, determined once per process."""
    import psutil  # noqa: PLC0415 - heavy imports happen when used

    return {
        "cpu": _cpu(),
        "cores": cores(),
        "memory_bytes": int(psutil.virtual_memory().total),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()

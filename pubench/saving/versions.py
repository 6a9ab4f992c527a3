"""Which versions a model was made with: a learner's own library, above all, decides what its files mean."""

import ast
import inspect
import platform
import sys
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distributions, version

from pubench.plugin_api import Plugin

#: Recorded for every model, whatever its learner.
_ALWAYS = ("numpy", "pubench")


def versions_of(*plugins: Plugin | None) -> dict[str, str]:
    """Return the versions of Python, pubench, NumPy and what the plugins' modules import, by distribution."""
    names = {*_ALWAYS, *(name for plugin in plugins if plugin is not None for name in libraries_of(plugin))}
    found = {name: _version(name) for name in sorted(names)}
    return {"python": platform.python_version(), **{name: text for name, text in found.items() if text}}


def libraries_of(plugin: Plugin) -> set[str]:
    """Return the distributions whose modules the plugin's own module imports, wherever in it.

    A plugin does not say which libraries it stands on, and imports them where they are used; its source tells.
    """
    return set(_libraries_of_class(type(plugin)))


@cache
def _libraries_of_class(plugin: type[Plugin]) -> frozenset[str]:
    try:
        source = inspect.getsource(inspect.getmodule(plugin) or plugin)
    except (OSError, TypeError):  # made in an interactive session
        return frozenset()
    modules = {name.partition(".")[0] for node in ast.walk(ast.parse(source)) for name in _imported(node)}
    found = (_distribution_of(module) for module in modules - sys.stdlib_module_names)
    return frozenset(name for name in found if name)


@cache
def _distribution_of(module: str) -> str:
    """Return the distribution that a module comes from; empty if none says so."""
    signs = tuple(f"\n{module}{end}" for end in ("\n", "/", "."))
    found = (one for one, contents in _contents() if any(sign in contents for sign in signs))
    return next((one.name for one in found), "")


@cache
def _contents() -> list[tuple[Distribution, str]]:
    """Return what each distribution says it brings: modules, or else files, at the beginning of lines.

    `importlib.metadata.packages_distributions` takes ten times as long: it makes an object of every file.
    """
    return [
        (one, f"\n{one.read_text('top_level.txt') or one.read_text('RECORD') or ''}\n")
        for one in distributions()
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

"""Checks for plugins of every kind: documented parameters, no data in instances, no truth, light imports."""

import ast
import inspect
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from pubench.api.plugin import Plugin
from pubench.api.spaces import Choice, Dimension, Value, check_space
from pubench.testing.checks import Check, Remark, expect, expect_json

#: Where true labels come from, and the public names that lead there.
_TRUTH_MODULES = {"pubench.truth", "pubench.metrics.supervised"}
_TRUTH_NAMES = {"Truth", "Dataset", "PUView", "draw_view", "auc", "aul_pn_score"}
#: Libraries that take a noticeable time to import.
_HEAVY = {
    *("catboost", "faiss", "jax", "keras", "lightgbm", "matplotlib", "numba", "optax", "optuna", "pandas"),
    *("polars", "pyarrow", "scipy", "seaborn", "sklearn", "statsmodels", "tensorflow", "torch", "xgboost"),
}


class Tested(Protocol):
    """Anything with the plugin that is checked."""

    @property
    def plugin(self) -> Plugin:
        """The plugin."""


def check_parameters(subject: Tested) -> None:
    """Every parameter has a help text, and its default lies in its range."""
    space = subject.plugin.space
    check_space(space)
    for name, dimension in space.items():
        expect(bool(dimension.help.strip()), f"The parameter '{name}' has a help text.")
        expect(dimension.contains(dimension.default), f"The default of '{name}' lies in its range.")


def check_configuration(subject: Tested) -> None:
    """Parameters go through JSON and come back as an equal plugin, so that another process can make the same."""
    plugin = subject.plugin
    expect_json(plugin.params, "Parameters are plain JSON values.")
    again = type(plugin)(**json.loads(json.dumps(dict(plugin.stated))))
    expect(again == plugin, "A plugin that is made of the same parameters is equal to the first.")
    expect(hash(again) == hash(plugin), "Equal plugins have equal hashes.")


def check_imports(subject: Tested) -> Remark | None:
    """Its module imports no heavy library at the top."""
    sources = list(_sources(type(subject.plugin)))
    for path, tree in sources:
        heavy = sorted(_HEAVY & {name.partition(".")[0] for name in _imported(tree.body)})
        expect(
            not heavy,
            f"Heavy libraries are imported inside methods, so that listing plugins is instant; {path.name} imports "
            f"{', '.join(heavy)} at the top.",
        )
    return None if sources else Remark("Its source cannot be read.")


def check_blindness(subject: Tested) -> Remark | None:
    """It sees features and PU labels: its module does not import true labels, nor metrics that need them."""
    sources = list(_sources(type(subject.plugin)))
    for path, tree in sources:
        nodes = list(ast.walk(tree))
        seen = {name for name in _imported(nodes) if _leads_to_truth(name)}
        seen |= {
            f"pubench.{node.attr}"
            for node in nodes
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "pubench"
            and node.attr in _TRUTH_NAMES
        }
        expect(not seen, f"A plugin cannot see true labels; {path.name} imports {', '.join(sorted(seen))}.")
    return None if sources else Remark("Its source cannot be read.")


#: What every kind promises.
PLUGIN_CHECKS: Mapping[str, Check[Tested]] = {
    "parameters": check_parameters,
    "configuration": check_configuration,
    "imports": check_imports,
}
#: The same, and what all promise but data sets, which carry truth.
BLIND_CHECKS: Mapping[str, Check[Tested]] = {**PLUGIN_CHECKS, "blindness": check_blindness}


def expect_no_data(plugin: Plugin) -> None:
    """Raise `PluginError` if a plugin that was used holds more than a new one."""
    new = type(plugin)(**plugin.stated)
    more = sorted(set(vars(plugin)) - set(vars(new)))
    expect(
        not more and plugin == new,
        "Instances hold parameters, never data: what was learned is in the returned object; found "
        f"{', '.join(more) or 'other parameters'}.",
    )


def extremes(space: Mapping[str, Dimension]) -> Iterator[dict[str, Value]]:
    """Yield settings with one parameter at an end of its range, or at one of its values, and what that depends on."""
    for name, dimension in space.items():
        values = dimension.values if isinstance(dimension, Choice) else (dimension.low, dimension.high)
        for value in values:
            yield {**_needed(space, name), name: value}


def _needed(space: Mapping[str, Dimension], name: str) -> dict[str, Value]:
    when = space[name].when
    return {} if when is None else {**_needed(space, when[0]), when[0]: when[1]}


def _sources(plugin: type[Plugin]) -> Iterator[tuple[Path, ast.Module]]:
    """Yield the files that define a plugin and its own base classes, without those of pubench itself."""
    for cls in plugin.__mro__:
        if cls is object or cls.__module__.partition(".")[0] in {"abc", "pubench"}:
            continue
        try:
            path = Path(inspect.getsourcefile(cls) or "")
            yield path, ast.parse(path.read_text(encoding="utf-8"))
        except (OSError, TypeError, ValueError):
            continue


def _imported(nodes: list[ast.stmt] | list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _leads_to_truth(name: str) -> bool:
    module, _, last = name.rpartition(".")
    return (
        name in _TRUTH_MODULES or module in _TRUTH_MODULES or (module == "pubench" and last in _TRUTH_NAMES)
    )

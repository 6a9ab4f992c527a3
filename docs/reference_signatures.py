"""Signatures as written in the source: `npt.ArrayLike`, and not the long union that it stands for.

Only private type aliases of pubench are expanded.
"""

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import pubench

_STUB = Path(pubench.__file__).with_suffix(".pyi")


def _exports() -> dict[str, str]:
    lines = ast.parse(_STUB.read_text(encoding="utf-8")).body
    imports = [line for line in lines if isinstance(line, ast.ImportFrom)]
    return {alias.name: f"pubench.{line.module}" for line in imports for alias in line.names}


#: The module that each public name comes from, in the order of the stub file, the one list of them.
EXPORTS = _exports()


def written(function: Callable[..., Any], *, bound: bool) -> tuple[str, str]:
    """Return the parameters of a function and what it returns; of a method, without the object itself."""
    function = inspect.unwrap(getattr(function, "__func__", function))
    definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(definition, ast.FunctionDef)  # noqa: S101 - it is the source of a function
    arguments, module = definition.args, function.__module__
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg) and argument.annotation is not None:
            argument.annotation = _expanded(argument.annotation, module)
    first = arguments.posonlyargs or arguments.args
    if bound and first and first[0].arg in {"self", "cls"}:
        del first[0]
    returns = "" if definition.returns is None else ast.unparse(_expanded(definition.returns, module))
    return f"({ast.unparse(arguments)})", returns


def constructor(cls: type) -> str:
    """Return the parameters of the constructor; nothing for classes that users do not instantiate."""
    if issubclass(cls, Enum | BaseException) or inspect.isabstract(cls):
        return ""
    if is_dataclass(cls) or hasattr(cls, "_fields"):
        return f"({', '.join(_fields(cls))})"
    function = getattr(cls, "__init__", None)
    return written(function, bound=True)[0] if inspect.isfunction(function) else ""


def _fields(cls: type) -> Iterator[str]:
    """Yield the parameters of a class whose constructor is made from its fields."""
    kinds = _annotations(cls)
    named = False
    for name, parameter in inspect.signature(cls).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY and not named:
            named = True
            yield "*"
        default = parameter.default
        plain = default is None or isinstance(default, str | int | float | tuple)
        shown = repr(default) if plain else "..."
        yield f"{name}: {kinds[name]}" + ("" if default is parameter.empty else f" = {shown}")


def _annotations(cls: type) -> dict[str, str]:
    """Return the annotations in the bodies of a class and its base classes, as written."""
    kinds: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("pubench"):
            definition = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
            for line in getattr(definition, "body", ()):
                if isinstance(line, ast.AnnAssign):
                    kinds[ast.unparse(line.target)] = ast.unparse(_expanded(line.annotation, base.__module__))
    return kinds


def assigned(name: str, module: str) -> str:
    """Return the value that a module assigns to a name, as written."""
    value = _assignments(module).get(name)
    if value is None:
        raise LookupError(f"{module} does not assign '{name}'.")
    return ast.unparse(_expanded(value, module))


class _AliasExpander(ast.NodeTransformer):
    """Unquotes annotations, and expands private type aliases."""

    def __init__(self, module: str) -> None:
        self.module = module

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Keep the texts of a Literal."""
        literal = isinstance(node.value, ast.Name) and node.value.id == "Literal"
        return node if literal else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Unquote an annotation."""
        if isinstance(node.value, str):
            return self.generic_visit(ast.parse(node.value, mode="eval").body)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Expand a name that is not public."""
        here = vars(sys.modules[self.module]).get(node.id)
        if node.id in EXPORTS and here is getattr(pubench, node.id):
            return node
        origin = _origin(node.id, self.module)
        value = _assignments(origin).get(node.id) if origin.startswith("pubench") else None
        return node if value is None else _expanded(value, origin)


def _expanded(annotation: ast.expr, module: str) -> ast.expr:
    expanded = _AliasExpander(module).visit(annotation)
    assert isinstance(expanded, ast.expr)  # noqa: S101 - an expression is replaced by expressions
    return expanded


def _origin(name: str, module: str) -> str:
    """Return the module that defines a name, following imports."""
    source = _imports(module).get(name)
    return module if source is None or not source.startswith("pubench") else _origin(name, source)


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(sys.modules[module]))


def _imports(module: str) -> dict[str, str]:
    lines = [line for line in _tree(module).body if isinstance(line, ast.ImportFrom)]
    return {alias.name: str(line.module) for line in lines for alias in line.names}


def _assignments(module: str) -> dict[str, ast.expr]:
    """Return the values that a module assigns to names at its top level."""
    values: dict[str, ast.expr] = {}
    for line in _tree(module).body:
        targets = line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
        value = getattr(line, "value", None)
        values |= {
            target.id: value
            for target in targets
            if isinstance(target, ast.Name) and isinstance(value, ast.expr)
        }
    return values

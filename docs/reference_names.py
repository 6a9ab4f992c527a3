"""The directive {exports} MODULE...: the public names of these modules or packages of pubench, from their docstrings."""

import inspect
from enum import Enum
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from reference_docstrings import as_rst, with_links
from reference_signatures import EXPORTS, assigned, constructor, written
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective

import pubench


class Exports(SphinxDirective):
    """The documentation of every public name of some modules, in the order of the stub file."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the nodes that autodoc generates."""
        requested = self.arguments[0].split()
        names = [name for name, module in EXPORTS.items() if _is_in(module, requested)]
        block = ["```{eval-rst}", *(line for name in names for line in _documented(name)), "```"]
        parsed = nodes.Element()
        self.state.nested_parse(
            StringList(block, source=self.get_source_info()[0]), self.content_offset, parsed
        )
        return list(parsed.children)


def _is_in(module: str, requested: list[str]) -> bool:
    """Whether a module is one of those requested, such as "api.method", or in a requested package, such as "api"."""
    name = module.removeprefix("pubench.")
    return any(name == parent or name.startswith(f"{parent}.") for parent in requested)


def _documented(name: str) -> list[str]:
    """Return the lines of reStructuredText that document a name."""
    value = getattr(pubench, name)
    if inspect.isclass(value) and name == value.__name__:
        kind = "exception" if issubclass(value, BaseException) else "class"
        members = [":undoc-members:"] if issubclass(value, Enum) else [":inherited-members:"]
        options = [f"   {option}" for option in (":members:", *members)]
        return [f".. auto{kind}:: pubench.{name}", *options, ""]
    if inspect.isfunction(value):
        return [f".. autofunction:: pubench.{name}", ""]
    analyzer = ModuleAnalyzer.for_module(EXPORTS[name])
    analyzer.analyze()
    comment = [f"   {line}" for line in with_links(analyzer.attr_docs.get(("", name), []))]
    return [f".. py:data:: pubench.{name}", f"   :value: {assigned(name, EXPORTS[name])}", "", *comment, ""]


def write_signature(
    app: Sphinx,  # noqa: ARG001
    what: str,
    name: str,  # noqa: ARG001
    obj: Any,
    options: object,  # noqa: ARG001
    signature: str | None,
    return_annotation: str | None,
) -> tuple[str | None, str | None]:
    """Return a signature as written in the source."""
    if what in {"function", "method"} and inspect.isroutine(obj):
        return written(obj, bound=what == "method")
    if what in {"class", "exception"}:
        return constructor(obj), ""
    return signature, return_annotation


def read_docstring(
    app: Sphinx,  # noqa: ARG001
    what: str,
    name: str,  # noqa: ARG001
    obj: object,  # noqa: ARG001
    options: object,  # noqa: ARG001
    lines: list[str],
) -> None:
    """Convert a docstring to reStructuredText."""
    lines[:] = as_rst(what, lines)


def skip_foreign(
    app: Sphinx,  # noqa: ARG001
    what: str,  # noqa: ARG001
    name: str,
    obj: Any,
    skip: bool,  # noqa: ARG001
    options: object,  # noqa: ARG001
) -> bool | None:
    """Skip members inherited from other libraries, and fields, which the docstring of their class describes."""
    function = obj.fget if isinstance(obj, property) else obj
    ours = str(getattr(function, "__module__", None)).startswith("pubench")
    of_tuple = isinstance(obj, type(pubench.LiftCurve.share))
    is_default = inspect.isfunction(obj) and obj.__name__ != name
    return True if of_tuple or is_default or (inspect.isroutine(function) and not ours) else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive and the handlers of docstrings and signatures."""
    app.add_directive("exports", Exports)
    app.connect("autodoc-process-signature", write_signature)
    app.connect("autodoc-process-docstring", read_docstring)
    app.connect("autodoc-skip-member", skip_foreign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Directives that generate the reference from the code whenever the pages are built.

{commands}            every command's --help
{plugins} KIND        the built-in plugins of a kind, with their parameters
{record}              the fields of a record, from its JSON schema
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, TypeAlias

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from pubench.api.dataset import DatasetLoader
from pubench.api.plugin import Kind, Plugin
from pubench.api.registry import PluginEntry, load_registry
from pubench.api.spaces import Dimension
from pubench.cli.main import main

_HELP_WIDTH = 88
#: Only the built-in plugins, so that pages do not depend on where they are built.
_BUILT_INS_ALONE = {"PUBENCH_DISABLE_PLUGIN_AUTOLOAD": "1"}

Cell: TypeAlias = "str | nodes.Node"


class Commands(SphinxDirective):
    """A section with the --help of each command, groups before their subcommands."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return [
            section(self, name, [nodes.literal_block(text, text, language="text")])
            for name, text in _helps(main, "pubench", None)
        ]


def _helps(command: click.Command, name: str, parent: click.Context | None) -> Iterator[tuple[str, str]]:
    last = name.rpartition(" ")[2]
    settings = {**command.context_settings, "terminal_width": _HELP_WIDTH}
    context = click.Context(command, parent, info_name=last, **settings)
    yield name, command.get_help(context)
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            member = command.get_command(context, below)
            if member is not None and not member.hidden:
                yield from _helps(member, f"{name} {below}", context)


class Plugins(SphinxDirective):
    """A section for each built-in plugin of a kind."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the sections, in alphabetical order."""
        kind = Kind(self.arguments[0])
        registry = load_registry(strict=True, environ=_BUILT_INS_ALONE)
        entries = [entry for entry in registry.entries if entry.kind == kind]
        if kind is Kind.DATASET:
            return [_datasets(entries)]
        return [section(self, entry.name, _described(entry)) for entry in entries]


def _described(entry: PluginEntry) -> list[nodes.Node]:
    plugin = entry.plugin
    described: list[nodes.Node] = [_paragraph(entry.summary)]
    if not plugin.searched:
        described.append(_paragraph("A search includes it only if it is named."))
    return [*described, _parameters(plugin) if plugin.space else _paragraph("It has no parameters.")]


def _parameters(plugin: type[Plugin]) -> nodes.table:
    rows = [
        (nodes.literal(name, name), _default(dimension), dimension.describe(), _meaning(dimension))
        for name, dimension in plugin.space.items()
    ]
    return table(("parameter", "default", "range", "meaning"), rows)


def _default(dimension: Dimension) -> Cell:
    value = f"{dimension.default:g}" if isinstance(dimension.default, float) else str(dimension.default)
    return nodes.literal(value, value)


def _meaning(dimension: Dimension) -> str:
    remarks = [dimension.help]
    if dimension.when is not None:
        remarks.append(f"only with {dimension.when[0]} = {dimension.when[1]}")
    if dimension.derived:
        remarks.append("derived from the size of the data unless it is given")
    if not dimension.tuned:
        remarks.append("not searched unless a space file says so")
    return "; ".join(remarks)


def _datasets(entries: Sequence[PluginEntry]) -> nodes.table:
    rows = []
    for entry in entries:
        if issubclass(entry.plugin, DatasetLoader):
            info = entry.plugin.info
            kind = "synthetic stand-in" if info.stand_in else "public"
            counts = (f"{count:,}" for count in (info.rows, info.features, info.positives))
            rows.append((nodes.literal(entry.name, entry.name), *counts, kind, info.title))
    return table(("name", "rows", "features", "positives", "kind", "title"), rows)


class RecordFields(SphinxDirective):
    """A table of the fields of a record."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        schema = json.loads(
            files("pubench.record").joinpath("record.schema.json").read_text(encoding="utf-8")
        )
        rows = [(nodes.literal(path, path), kind, text) for path, kind, text in _fields(schema, schema, "")]
        return [table(("field", "type", "remarks"), rows)]


def _fields(part: Mapping[str, Any], schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, str, str]]:
    """Yield a row for each field below `part`: its path, its type, and remarks from the schema."""
    for name, declared in part.get("properties", {}).items():
        field = _resolved(declared, schema)
        remarks = [field.get("description", "")]
        if name not in part.get("required", ()):
            remarks.append("may be absent")
        here = f"{path}{name}"
        yield here, _type_of(field), "; ".join(remark for remark in remarks if remark)
        for alternative in (field, *field.get("oneOf", ())):
            yield from _fields(alternative, schema, f"{here}.")


def _resolved(field: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the field merged with the definition that it refers to; its own entries take precedence."""
    target: Any = schema
    for step in field.get("$ref", "#").split("/")[1:]:
        target = target[step]
    return {**(target if "$ref" in field else {}), **field}


def _type_of(field: Mapping[str, Any]) -> str:
    if "const" in field:
        return f"the number {field['const']}"
    if "enum" in field:
        return " | ".join(field["enum"])
    if "oneOf" in field:
        return " or ".join(_type_of(alternative) for alternative in field["oneOf"])
    kinds = field.get("type", "anything")
    words = kinds if isinstance(kinds, str) else " or ".join(kinds)
    limits = [
        f"{word} {field[key]:,}"
        for key, word in (("minimum", "from"), ("exclusiveMinimum", "above"), ("maximum", "to"))
        if key in field
    ]
    return ", ".join([words, *limits])


def section(directive: SphinxDirective, title: str, content: Sequence[nodes.Node]) -> nodes.section:
    """Return a section that appears in the table of contents and can be linked to."""
    created = nodes.section(
        "", nodes.title(title, title), *content, ids=[nodes.make_id(title)], names=[title]
    )
    directive.state.document.note_implicit_target(created, created)
    return created


def table(header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> nodes.table:
    """Return a table; texts are not parsed as markup."""
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in header), cols=len(header))
    group += nodes.thead("", _row(header))
    group += nodes.tbody("", *(_row(row) for row in rows))
    return nodes.table("", group)


def _row(cells: Sequence[Cell]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", _paragraph(cell)) for cell in cells))


def _paragraph(content: Cell) -> nodes.paragraph:
    return nodes.paragraph("", "", nodes.Text(content) if isinstance(content, str) else content)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("commands", Commands)
    app.add_directive("plugins", Plugins)
    app.add_directive("record", RecordFields)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

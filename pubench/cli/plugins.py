"""`pubench plugins`: what is registered, from where, with which parameters."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from pubench.cli.options import examples, json_option, plugin_options

if TYPE_CHECKING:
    from pubench.registry import Entry, Failure, Registry

KINDS = ("similarity", "learner", "method", "dataset")
kind_option = click.option("--kind", type=click.Choice(KINDS), help="Only plugins of this kind.")


def open_registry(files: Sequence[Path], *, strict: bool) -> "Registry":
    """Load all plugins; each one that fails is a warning line on stderr, or, if strict, an error."""
    from pubench.cli.render import terminal  # noqa: PLC0415 - heavy imports happen when used
    from pubench.registry import load_registry  # noqa: PLC0415

    registry = load_registry(files, strict=strict)
    for failure in registry.failures:
        terminal.warn(str(failure.error))
    return registry


def complete_name(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Offer the names of plugins, of the kind and files given so far, that start with what was typed."""
    from pubench.registry import load_registry  # noqa: PLC0415
    from pubench.streams import silence  # noqa: PLC0415

    with silence():  # whatever is printed would end up in the prompt
        entries = load_registry(ctx.params.get("plugin_files") or ()).entries
    kind = ctx.params.get("kind")
    fitting = [entry for entry in entries if kind in (None, entry.kind) and entry.name.startswith(incomplete)]
    return [CompletionItem(entry.name, help=entry.summary) for entry in fitting]


@click.group(epilog=examples("pubench plugins list --kind learner", "pubench plugins info xgboost"))
def plugins() -> None:
    """Show what is registered: the built-in plugins and yours."""


@plugins.command(
    "list",
    epilog=examples(
        "pubench plugins list",
        "pubench plugins list --kind learner --json",
        "pubench plugins list --plugin mine.py",
    ),
)
@kind_option
@plugin_options
@json_option
def list_plugins(
    *, kind: str | None, plugin_files: Sequence[Path], strict_plugins: bool, as_json: bool
) -> None:
    """List all plugins, and those that failed to load.

    With kind, name, package, version, parameters and their ranges; with the error of each that failed.
    """
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.cli.render.plugins import plugin_table  # noqa: PLC0415

    registry = open_registry(plugin_files, strict=strict_plugins)
    rows = [_entry(entry) for entry in registry.entries if kind in (None, entry.kind)]
    failures = [
        _failure(failure) for failure in registry.failures if kind is None or failure.kind in (None, kind)
    ]
    if as_json:
        terminal.print_json({"plugins": rows, "failures": failures})
    else:
        plugin_table(rows, failures)


@plugins.command(
    epilog=examples("pubench plugins info xgboost", "pubench plugins info naive --kind method --json")
)
@click.argument("name", shell_complete=complete_name)
@kind_option
@plugin_options
@json_option
def info(
    name: str, *, kind: str | None, plugin_files: Sequence[Path], strict_plugins: bool, as_json: bool
) -> None:
    """Show one plugin and what its parameters mean."""
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.cli.render.plugins import plugin_card  # noqa: PLC0415
    from pubench.plugin_api import Kind  # noqa: PLC0415

    registry = open_registry(plugin_files, strict=strict_plugins)
    entry = registry.find(name, Kind(kind) if kind else None)
    if as_json:
        terminal.print_json(_entry(entry))
    else:
        plugin_card(_entry(entry))


def _entry(entry: "Entry") -> dict[str, Any]:
    parameters = {
        name: {"type": type(dimension).__name__.lower(), "range": dimension.describe(), **asdict(dimension)}
        for name, dimension in entry.plugin.space.items()
    }
    return {
        "kind": entry.kind,
        "name": entry.name,
        "package": entry.origin.package,
        "version": entry.origin.version,
        "summary": entry.summary,
        "parameters": parameters,
    }


def _failure(failure: "Failure") -> dict[str, Any]:
    return {
        "kind": failure.kind,
        "name": failure.name,
        "origins": [asdict(origin) for origin in failure.origins],
        "error": str(failure.error),
    }

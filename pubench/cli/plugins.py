"""`pubench plugins`: list and describe plugins, create a new one, and check that plugins follow their contract."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from pubench.cli.options import examples, json_option, plugin_options

if TYPE_CHECKING:
    from pubench.api.method import Parts
    from pubench.api.plugin import Plugin
    from pubench.api.registry import PluginEntry, PluginFailure, Registry

KINDS = ("similarity", "learner", "method", "dataset")
kind_option = click.option("--kind", type=click.Choice(KINDS), help="Only plugins of this kind.")


def open_registry(files: Sequence[Path], *, strict: bool) -> "Registry":
    """Load all plugins; each that fails gives a warning on stderr or, if strict, an error."""
    from pubench.api.registry import load_registry  # noqa: PLC0415
    from pubench.cli.render import terminal  # noqa: PLC0415 - heavy imports happen when used

    registry = load_registry(files, strict=strict)
    for failure in registry.failures:
        terminal.warn(str(failure.error))
    return registry


def complete_name(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Complete the names of plugins, of the kind and files given so far."""
    from pubench.api.registry import load_registry  # noqa: PLC0415
    from pubench.system.streams import silence  # noqa: PLC0415

    with silence():  # anything printed would appear in the prompt
        entries = load_registry(ctx.params.get("plugin_files") or ()).entries
    kind = ctx.params.get("kind")
    matching = [
        entry for entry in entries if kind in (None, entry.kind) and entry.name.startswith(incomplete)
    ]
    return [CompletionItem(entry.name, help=entry.summary) for entry in matching]


@click.group(
    epilog=examples(
        "pubench plugins list --kind learner",
        "pubench plugins new my-similarity --kind similarity",
        "pubench plugins check knn",
    )
)
def plugins() -> None:
    """List plugins, create a new one, and check it."""


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

    Shows kind, name, package, version, parameters and their ranges, and the error of each plugin that failed.
    """
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.cli.render.plugins_view import print_plugins  # noqa: PLC0415

    registry = open_registry(plugin_files, strict=strict_plugins)
    rows = [_entry(entry) for entry in registry.entries if kind in (None, entry.kind)]
    failures = [
        _failure(failure) for failure in registry.failures if kind is None or failure.kind in (None, kind)
    ]
    if as_json:
        terminal.print_json({"plugins": rows, "failures": failures})
    else:
        print_plugins(rows, failures)


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
    """Describe one plugin and its parameters."""
    from pubench.api.plugin import Kind  # noqa: PLC0415
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.cli.render.plugins_view import print_plugin  # noqa: PLC0415

    registry = open_registry(plugin_files, strict=strict_plugins)
    entry = registry.find(name, Kind(kind) if kind else None)
    if as_json:
        terminal.print_json(_entry(entry))
    else:
        print_plugin(_entry(entry))


@plugins.command(
    epilog=examples(
        "pubench plugins new my-similarity --kind similarity",
        "pubench plugins new my-learner --kind learner --single-file",
        "pubench plugins new my-data --kind dataset --out ~/projects",
    )
)
@click.argument("name")
@click.option("--kind", type=click.Choice(KINDS), required=True, help="The kind of plugin.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=".",
    metavar="DIR",
    help="The folder to write it to.  [default: the current one]",
)
@click.option("--single-file", is_flag=True, help="Write a single .py file, for --plugin.")
@plugin_options
@json_option
def new(
    name: str,
    *,
    kind: str,
    out: Path,
    single_file: bool,
    plugin_files: Sequence[Path],
    strict_plugins: bool,
    as_json: bool,
) -> None:
    """Create a new plugin: a small project that works at once.

    It has the class, a test that checks its contract, and the entry point by which pubench finds it. Existing files are
    never overwritten.
    """
    from pubench.api.plugin import Kind  # noqa: PLC0415
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.cli.render.plugins_view import print_files  # noqa: PLC0415
    from pubench.errors import ParameterError  # noqa: PLC0415
    from pubench.scaffolding.new_plugin import NewPlugin, write_file, write_project  # noqa: PLC0415

    plugin = NewPlugin(Kind(kind), name)
    if name in open_registry(plugin_files, strict=strict_plugins).names(plugin.kind):
        raise ParameterError(f"There is a {kind} '{name}' already; choose another name.")
    if single_file:
        paths = [write_file(plugin, out)]
        commands = [f"pubench plugins check {name} --plugin {paths[0]}"]
    else:
        paths = write_project(plugin, out)
        commands = [f"pip install -e {paths[0].parent}", f"pubench plugins check {name}"]
    if as_json:
        terminal.print_json({"files": [str(path) for path in paths], "next": commands})
    else:
        print_files(paths, commands)


@plugins.command(
    epilog=examples(
        "pubench plugins check knn",
        "pubench plugins check my-similarity --plugin my_similarity.py",
        "pubench plugins check naive --kind method --json",
    )
)
@click.argument("name", shell_complete=complete_name)
@kind_option
@plugin_options
@json_option
@click.pass_context
def check(
    ctx: click.Context,
    name: str,
    *,
    kind: str | None,
    plugin_files: Sequence[Path],
    strict_plugins: bool,
    as_json: bool,
) -> None:
    """Check that a plugin follows the contract of its kind.

    The plugin is run on small tables with its default parameters. Exit code 1 if a rule is broken. A plugin may decline a
    difficult table if it says why.
    """
    from pubench.api.plugin import Kind  # noqa: PLC0415
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.cli.render.plugins_view import print_verdicts, show_progress  # noqa: PLC0415
    from pubench.testing.examination import examination  # noqa: PLC0415

    registry = open_registry(plugin_files, strict=strict_plugins)
    entry = registry.find(name, Kind(kind) if kind else None)
    verdicts = list(show_progress(name, examination(_draft(entry), _parts(entry, registry))))
    holds = all(verdict.outcome != "broken" for verdict in verdicts)
    if as_json:
        shown = {key: value for key, value in _entry(entry).items() if key not in ("summary", "parameters")}
        terminal.print_json(shown | {"holds": holds, "checks": [asdict(verdict) for verdict in verdicts]})
    else:
        print_verdicts(f"{name}, {entry.kind} of {entry.origin}", verdicts)
    ctx.exit(0 if holds else 1)


def _draft(entry: "PluginEntry") -> "Plugin":
    """Return a plugin as a search would first try it, with its fast settings."""
    from pubench.api.discovery import guard  # noqa: PLC0415

    space = entry.plugin.space
    drafts = {name: dimension.draft for name, dimension in space.items() if dimension.draft is not None}
    with guard(entry.origin, "cannot be created with its defaults"):
        return entry.plugin(**drafts)


def _parts(entry: "PluginEntry", registry: "Registry") -> "Parts":
    """Return the default similarity and learner, as far as a method uses them."""
    from pubench.api.method import Method, Parts  # noqa: PLC0415
    from pubench.api.plugin import Kind, Learner, Similarity  # noqa: PLC0415
    from pubench.configuration.configuration import DEFAULTS  # noqa: PLC0415

    if not issubclass(entry.plugin, Method):
        return Parts()
    used = {kind: _draft(registry.find(DEFAULTS[kind], kind)) for kind in entry.plugin.uses}
    similarity, learner = used.get(Kind.SIMILARITY), used.get(Kind.LEARNER)
    return Parts(
        similarity if isinstance(similarity, Similarity) else None,
        learner if isinstance(learner, Learner) else None,
    )


def _entry(entry: "PluginEntry") -> dict[str, Any]:
    parameters = {
        name: {
            "type": type(dimension).__name__.lower(),
            "range": dimension.describe(),
            **asdict(dimension),
            "dear": dimension.expensive,  # the former name of "expensive", which scripts may read
        }
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


def _failure(failure: "PluginFailure") -> dict[str, Any]:
    return {
        "kind": failure.kind,
        "name": failure.name,
        "origins": [asdict(origin) for origin in failure.origins],
        "error": str(failure.error),
    }

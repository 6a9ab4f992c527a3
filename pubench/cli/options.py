"""Options that several commands share, and the form of their examples."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")


def examples(*lines: str) -> str:
    """Return a command's epilog: its examples, one a line, as they are typed."""
    return "\b\n" + "\n".join(["Examples:", *(f"  {line}" for line in lines)])


def plugin_options(command: Command) -> Command:
    """Add `--plugin` and `--strict-plugins`, passed on as `plugin_files` and `strict_plugins`."""
    command = click.option(
        "--strict-plugins", is_flag=True, help="Stop if any plugin fails to load, instead of warning."
    )(command)
    return click.option(
        "--plugin",
        "plugin_files",
        multiple=True,
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Load a single-file plugin; may be repeated. PUBENCH_PLUGINS lists more.",
    )(command)
